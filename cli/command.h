// What every command of the program has in common.
//
// A command is one cmd_*.cpp: it adds its options to a CLI11 sub-command and says what to run.
// parse -> one library call -> print.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/terminal.h"
#include "kerf/inside.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace kerf::cli {

using namespace detail;

using Json = nlohmann::ordered_json;

/// Options of every command.
struct Common {
  bool json = false, quiet = false, verbose = false;
  int threads = 0;
  std::string memory;
  std::string command_line;  ///< as typed, for model files

  Index memory_limit() const { return memory.empty() ? 0 : parse_bytes(memory); }
};

/// Adds the sub-command to `app`; `run` is set when the user asks for this command.
using AddCommand = void (*)(CLI::App& app, Common& common, std::function<void()>& run);

void add_fit(CLI::App& app, Common& common, std::function<void()>& run);
void add_refit(CLI::App& app, Common& common, std::function<void()>& run);
void add_predict(CLI::App& app, Common& common, std::function<void()>& run);
void add_score(CLI::App& app, Common& common, std::function<void()>& run);
void add_transform(CLI::App& app, Common& common, std::function<void()>& run);
void add_kernel(CLI::App& app, Common& common, std::function<void()>& run);
void add_select(CLI::App& app, Common& common, std::function<void()>& run);
void add_diagnose(CLI::App& app, Common& common, std::function<void()>& run);
void add_plan(CLI::App& app, Common& common, std::function<void()>& run);
void add_compare(CLI::App& app, Common& common, std::function<void()>& run);
void add_skeleton(CLI::App& app, Common& common, std::function<void()>& run);
void add_info(CLI::App& app, Common& common, std::function<void()>& run);
void add_lists(CLI::App& app, Common& common, std::function<void()>& run);       // maps, kernels
void add_completion(CLI::App& app, Common& common, std::function<void()>& run);  // manual

/// A sub-command with the common options and, under its options, `examples`.
CLI::App* add_command(CLI::App& app, Common& common, const std::string& name,
                      const std::string& summary, const std::string& examples);

/// An option of a command.  CLI11 stands behind it and its headers, which take a compiler ten seconds,
/// are seen only where commands are read and written.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option& required();
  Option& type_name(const std::string& name);
  Option& expected(int least, int most);  ///< how many values
  Option& range(int least, int most);
  Option& one_of(const std::vector<std::string>& words);
  Option& output_file();  ///< FILE, where - does not stand for standard output

 private:
  CLI::Option* option_;
};

/// An option (or an argument, by a name without dashes) that puts its value there.
Option add_option(CLI::App& command, const std::string& name, std::string& value,
                  const std::string& help);
Option add_option(CLI::App& command, const std::string& name, std::vector<std::string>& value,
                  const std::string& help);
Option add_option(CLI::App& command, const std::string& name, Index& value,
                  const std::string& help);
Option add_option(CLI::App& command, const std::string& name, double& value,
                  const std::string& help);
Option add_flag(CLI::App& command, const std::string& name, bool& value, const std::string& help);

/// What happens when the user asks for this command.
void when_asked(CLI::App& command, std::function<void()> then);

/// The group of options that some maps have.
inline const std::string kMapOptions = "Options of maps";
/// Before help is printed: of that group what the map of --map has, or a line for each map.
void show_options_of_maps(CLI::App& command, const std::vector<std::string>& arguments);

/// One flag for each option; what the user gives goes to `params`, unset ones stay out of it.
void add_described(CLI::App& command, const std::string& group,
                   const std::vector<OptionInfo>& options, Params& params);

/// Some of these options, in this order.
std::vector<OptionInfo> only(std::vector<OptionInfo> options,
                             const std::vector<std::string>& names);
/// The same options with another default of one shown.
std::vector<OptionInfo> with_default(std::vector<OptionInfo> options, const std::string& name,
                                     const std::string& value);

/// The same options with the defaults of rows as they are.
std::vector<OptionInfo> as_rows_are(std::vector<OptionInfo> options);

/// The same options where --features takes several numbers.
std::vector<OptionInfo> with_sizes(std::vector<OptionInfo> options, const std::string& sizes);

/// What is left to say about files that come to a model, which knows its columns.
inline const std::vector<std::string> kReadingOptions = {"delimiter", "decimal", "header", "rows"};

/// What is said about files of rows.
DataOptions read_data_options(const Params& given, const std::string& command,
                              const Common& common);
/// Which column is left out as the target, for commands that look at inputs only; "" if --target was
/// given, or rows have none.
std::string input_note(const Params& given, const Encoding& encoding);
/// A line on standard error if rows have numbers far outside the range of training.
void warn_of_far_rows(Index far_rows, Index rows);

/// What was not as in training in the rows that `source` gave: notes on standard error, and in `json`
/// unless it is null.
void tell_unknown(const EncodedSource& source, const Common& common, Json* json);

/// The options of all feature maps (or kernels) together, each name once.
std::vector<OptionInfo> all_map_options();
std::vector<OptionInfo> all_kernel_options();

/// What a score says, for `kerf score` and for the end of a fit.  `by_class`: rates of each class too.
Json score_json(const Model& model, const Score& score);
void print_score(const Model& model, const Score& score, bool by_class);

/// Rows that a report shows of the worst.
inline constexpr Index kWorstInReport = 10;

/// How good a fit is beside a constant; null where nothing is known.
Json quality_json(const std::optional<FitQuality>& quality);

/// Options as JSON with numbers as numbers.
Json options_json(const Params& options);

/// The option's value taken out of `params`, or `otherwise`.
std::string take_option(Params& params, const std::string& name, const std::string& otherwise);

/// `kerf fit DATA --map MAP ...` with these options, quoted for a shell.
std::string fit_command(const Common& common, const std::vector<std::string>& data,
                        const std::string& map, const std::vector<Params>& options);

/// An argument as a shell takes it.
std::string quoted(const std::string& argument);

/// What a command reads and writes, told before any work.  Names may be "" and repeat.
class Files {
 public:
  /// Files and folders, or text that may be the name of a file.
  Files& reads(const std::string& path);
  Files& reads(const std::vector<std::string>& paths);
  /// The files that options of data and of maps name.
  Files& reads(const Params& options);
  Files& writes(const std::string& path);
  /// A folder of checkpoints, whose names are not for other files.
  Files& keeps(const std::string& folder);
  /// Error (usage) where a file that is written would take the place of one that is read, or of
  /// another that is written; Error (data) where one cannot be written.
  void check() const;

 private:
  std::vector<std::string> read_, written_;
  std::string checkpoint_;
};

/// The files of a command that looks at rows through a map.
template <class Arguments>
Files files_of(const Arguments& arguments, const std::string& output) {
  return Files()
      .reads(arguments.data)
      .reads(arguments.data_options)
      .reads(arguments.map_options)
      .writes(output);
}

/// The rows of these files, their columns as a fit of this scale would have them.  `differences`: all
/// that is looked at are differences of rows (sees_differences).
Dataset open_settled(const std::vector<std::string>& paths, const DataOptions& options, Index seed,
                     ScaleKind scale, bool differences, const Progress& progress);

/// A file that appears whole or not at all.
void write_text(const std::string& path, const std::string& text);

/// Prints one JSON object and a newline on standard output.
void print_json(const Json& object);

}  // namespace kerf::cli
