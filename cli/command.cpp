// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>

namespace kerf::cli {
namespace {

/// "NUMBER", "auto|NUMBER", "a|b|c": what stands for the value in --help.
std::string value_name(const OptionInfo& option) {
  switch (option.type) {
    case OptionType::integer:
      return "N";
    case OptionType::real:
      return "NUMBER";
    case OptionType::automatic:
      return "auto|NUMBER";
    case OptionType::flag:
      return "true|false";
    case OptionType::text:
      return "TEXT";
    case OptionType::choice:
      return fmt::format("{}", fmt::join(option.choices, "|"));
  }
  return "";
}

/// JSON escapes the control characters of ASCII but one, and not those of 8 bits.
std::string without_controls(std::string_view json) {
  std::string out;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const bool two = json[i] == '\xC2' && static_cast<unsigned char>(json[i + 1]) < 0xA0;
    if (two) ++i;
    if (two || json[i] == '\x7F')
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(json[i]));
    else
      out += json[i];
  }
  return out;
}

template <class Entries>
std::vector<OptionInfo> union_of(const Entries& entries) {
  std::vector<OptionInfo> all;
  for (const auto& entry : entries)
    for (auto& option : entry.options()) {
      const auto same = std::ranges::find(all, option.name, &OptionInfo::name);
      if (same == all.end()) {
        all.push_back(std::move(option));
        continue;
      }
      for (auto& choice : option.choices)  // another map may allow more
        if (std::ranges::find(same->choices, choice) == same->choices.end())
          same->choices.push_back(std::move(choice));
    }
  return all;
}

}  // namespace

CLI::App* add_command(CLI::App& app, Common& common, const std::string& name,
                      const std::string& summary, const std::string& examples) {
  CLI::App* command = app.add_subcommand(name, summary);
  command->footer(examples.empty() ? "" : "Examples:\n" + examples);
  command->option_defaults()->group("General");
  command->add_flag("--json", common.json, "print one JSON object on standard output");
  command->add_flag("-q,--quiet", common.quiet, "print nothing but results, warnings and errors");
  command->add_flag("-v,--verbose", common.verbose,
                    "say how far it is, in a line every ten seconds, where no bar can be drawn; "
                    "more about a fit");
  command
      ->add_option("--threads", common.threads,
                   "threads to use (default: KERF_NUM_THREADS, OMP_NUM_THREADS, or all cores)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  command
      ->add_option(
          "--memory", common.memory,
          "most memory to use besides the program's own 15 MB, as in 8G (default: what is free, of "
          "which a fit takes a quarter unless its first line says more)")
      ->type_name("SIZE");
  command->option_defaults()->group("Options");
  return command;
}

Option& Option::required() {
  option_->required();
  return *this;
}
Option& Option::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}
Option& Option::expected(int least, int most) {
  option_->expected(least, most);
  return *this;
}
Option& Option::range(int least, int most) {
  option_->check(CLI::Range(least, most));
  return *this;
}
Option& Option::one_of(const std::vector<std::string>& words) {
  option_->check(CLI::IsMember(words));
  return *this;
}

Option& Option::output_file() {
  option_->type_name("FILE");
  option_->check([](const std::string& name) {
    return name == "-" ? std::string("only kerf predict writes to standard output; name a file")
                       : std::string();
  });
  return *this;
}

Option add_option(CLI::App& command, const std::string& name, std::string& value,
                  const std::string& help) {
  return Option(command.add_option(name, value, help));
}
Option add_option(CLI::App& command, const std::string& name, std::vector<std::string>& value,
                  const std::string& help) {
  return Option(command.add_option(name, value, help));
}
Option add_option(CLI::App& command, const std::string& name, Index& value,
                  const std::string& help) {
  return Option(command.add_option(name, value, help));
}
Option add_option(CLI::App& command, const std::string& name, double& value,
                  const std::string& help) {
  return Option(command.add_option(name, value, help));
}
Option add_flag(CLI::App& command, const std::string& name, bool& value, const std::string& help) {
  return Option(command.add_flag(name, value, help));
}

void when_asked(CLI::App& command, std::function<void()> then) {
  command.callback(std::move(then));
}

void add_described(CLI::App& command, const std::string& group,
                   const std::vector<OptionInfo>& options, Params& params) {
  for (const OptionInfo& option : options) {
    // --image is an option of the data: maps and kernels are told the shape that comes of it.
    if (command.get_option_no_throw("--" + option.name) != nullptr) continue;
    const std::string shown =
        option.default_value.empty() ? "" : fmt::format(" [{}]", option.default_value);
    if (option.type == OptionType::flag) {
      command
          .add_flag_function(
              "--" + option.name,
              [&params, name = option.name](std::int64_t count) {
                params[name] = count > 0 ? "true" : "false";
              },
              option.help + shown)
          ->group(group);
      continue;
    }
    command
        .add_option_function<std::string>(
            "--" + option.name,
            [&params, name = option.name](const std::string& value) { params[name] = value; },
            option.help + shown)
        ->type_name(value_name(option))
        ->group(group);
  }
}

std::vector<OptionInfo> only(std::vector<OptionInfo> options,
                             const std::vector<std::string>& names) {
  std::vector<OptionInfo> some;
  for (const auto& name : names)
    some.push_back(std::move(*std::ranges::find(options, name, &OptionInfo::name)));
  return some;
}

std::vector<OptionInfo> with_default(std::vector<OptionInfo> options, const std::string& name,
                                     const std::string& value) {
  std::ranges::find(options, name, &OptionInfo::name)->default_value = value;
  return options;
}

std::vector<OptionInfo> as_rows_are(std::vector<OptionInfo> options) {
  for (OptionInfo& option : options)
    if (!option.as_is.empty()) option.default_value = option.as_is;
  return options;
}

std::vector<OptionInfo> with_sizes(std::vector<OptionInfo> options, const std::string& sizes) {
  OptionInfo& features = *std::ranges::find(options, "features", &OptionInfo::name);
  features.type = OptionType::text;
  features.default_value = sizes;
  features.help = "numbers of features, as in 256,1024";
  return options;
}

DataOptions read_data_options(const Params& given, const std::string& command,
                              const Common& common) {
  auto options = read_options<DataOptions>(given, command);
  options.memory_limit = common.memory_limit();
  return options;
}

void warn_of_far_rows(Index far_rows, Index rows) {
  if (far_rows > 0) print_warning(far_rows_warning(far_rows, rows));
}

std::string input_note(const Params& given, const Encoding& encoding) {
  if (given.contains("target") || encoding.targets.empty()) return "";
  const Index column = encoding.targets[0];
  return fmt::format(
      "{} is taken for the target, as in kerf fit, and left out (--target none: every column is an "
      "input)",
      column_label(encoding.columns[column].name, column));
}

void tell_unknown(const EncodedSource& source, const Common& common, Json* json) {
  const auto notes = io::notes_of(source.counts());
  for (const std::string& note : notes)
    if (!common.quiet) fmt::print(stderr, "kerf: note: {}\n", note);
  if (json == nullptr || notes.empty()) return;
  Json& list = (*json)["notes"];
  for (const std::string& note : notes) list.push_back(note);
  for (const auto& [column, cells, first] : source.counts().unknown) {
    const bool named = column.starts_with('\'');  // messages have names in quotes
    (*json)["unknown_cells"][named ? column.substr(1, column.size() - 2) : column] = cells;
  }
}

std::vector<OptionInfo> all_map_options() { return union_of(feature_maps()); }
std::vector<OptionInfo> all_kernel_options() { return union_of(kernels()); }

Json quality_json(const std::optional<FitQuality>& quality) {
  if (!quality) return {};
  return {{"metric", quality->metric},
          {"value", quality->value},
          {"constant", quality->constant},
          {"how", quality->how},
          {"left_out", quality->left_out()}};
}

Json options_json(const Params& options) { return options_as<Json>(options); }

Dataset open_settled(const std::vector<std::string>& paths, const DataOptions& options, Index seed,
                     ScaleKind scale, bool differences, const Progress& progress) {
  Dataset data = open_dataset(paths, options, rng::Key{static_cast<std::uint64_t>(seed)}, progress);
  settle_columns(data, scale, differences);
  return data;
}

std::string take_option(Params& params, const std::string& name, const std::string& otherwise) {
  const auto found = params.extract(name);
  return found.empty() ? otherwise : found.mapped();
}

std::string quoted(const std::string& argument) {
  const bool plain = !argument.empty() &&
                     argument.find_first_of(" \t\"'\\$*?[]{}()<>|&;#~!\n") == std::string::npos;
  if (plain) return argument;
  std::string out = "'";
  for (const char c : argument) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string fit_command(const Common& common, const std::vector<std::string>& data,
                        const std::string& map, const std::vector<Params>& options) {
  std::string line = "kerf fit";
  for (const auto& file : data) line += " " + quoted(file);
  line += " --map " + map;
  for (const Params& group : options)
    for (const auto& [name, value] : group) line += fmt::format(" --{} {}", name, quoted(value));
  if (!common.memory.empty()) line += " --memory " + quoted(common.memory);
  return line;
}

Files& Files::reads(const std::string& path) {
  std::error_code error;
  // What is wrong with a name that leads nowhere comes later.
  if (path == "-" || std::filesystem::exists(path, error)) read_.push_back(path);
  return *this;
}
Files& Files::reads(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) reads(path);
  return *this;
}
Files& Files::reads(const Params& options) {
  for (const char* name : {"labels", "skeleton"})
    if (const auto given = options.find(name); given != options.end()) reads(given->second);
  return *this;
}
Files& Files::writes(const std::string& path) {
  if (!path.empty()) written_.push_back(path);
  return *this;
}

Files& Files::keeps(const std::string& folder) {
  checkpoint_ = folder;
  return *this;
}

void Files::check() const {
  for (std::size_t i = 0; i < written_.size(); ++i) {
    const std::string& path = written_[i];
    for (const std::string& file : files_read(read_))
      if (AtomicFile::same(file == "-" ? "/dev/stdin" : file, path))
        throw Error(
            ErrorKind::usage,
            fmt::format("this would overwrite {}, which it reads: name another output", path));
    for (std::size_t j = 0; j < i; ++j)
      if (AtomicFile::same(written_[j], path))
        throw Error(ErrorKind::usage, fmt::format("two outputs would be one file, {}", path));
    const std::filesystem::path file(path);
    if (!checkpoint_.empty() && file.extension() == ".ckpt" &&
        AtomicFile::same(checkpoint_, file.has_parent_path() ? file.parent_path().string() : "."))
      throw Error(ErrorKind::usage,
                  fmt::format("{} is a name of a file of --checkpoint {}", path, checkpoint_));
    AtomicFile::check_writable(path);
  }
}

void write_text(const std::string& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

void print_json(const Json& object) {
  // Names of files are any bytes; JSON is UTF-8.
  const std::string text = object.dump(2, ' ', false, Json::error_handler_t::replace);
  fmt::print("{}\n", without_controls(text));
}

}  // namespace kerf::cli
