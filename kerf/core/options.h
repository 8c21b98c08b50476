// Options described once: name, default, range and help.  Command-line flags, Python keywords,
// JSON, validation and documentation all come from an option struct's describe().
//
//   enum class Direction { gaussian, sphere };
//   constexpr auto names_of(Direction) { return std::array{"gaussian", "sphere"}; }
//   struct FooOptions {
//     Index features = 4096;
//     Direction directions = Direction::gaussian;
//     void describe(OptionVisitor& v) {
//       v.integer("features", features, {1, 1 << 24}, "number of features");
//       v.choice("directions", directions, "how directions are drawn");
//     }
//   };
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kerf/api/params.h"
#include "kerf/core/names.h"
#include "kerf/core/view.h"

namespace kerf::detail {

/// A closed interval of allowed values.
struct Range {
  double min, max;
};

inline constexpr Range kAnyPositive = {1e-300, 1e300};

enum class OptionType { integer, real, automatic, flag, text, choice };
constexpr auto names_of(OptionType) {
  return std::array{"integer", "real", "automatic", "flag", "text", "choice"};
}

/// One option, for --help, documentation and bindings.
struct OptionInfo {
  std::string name;
  OptionType type;
  std::string default_value;
  std::string help;
  Range range = {0, 0};
  std::vector<std::string> choices = {};
  /// It matters only where the option `needs` has one of these values; "": always.
  std::string needs = {};
  std::vector<std::string> needed_values = {};
  /// Its value where rows are to be taken as they are, not as a fit would like them; "": the default.
  std::string as_is = {};
  /// What stands for a value that is the name of a file; null: it names no file.
  std::string (*load)(const std::string& value) = nullptr;
};

class OptionVisitor {
 public:
  virtual ~OptionVisitor() = default;

  virtual void integer(const char* name, Index& value, Range range, std::string_view help) = 0;
  virtual void real(const char* name, double& value, Range range, std::string_view help) = 0;
  /// A number, or "auto" (nullopt): worked out from the data before a map or kernel is built.
  virtual void automatic(const char* name, std::optional<double>& value, Range range,
                         std::string_view help) = 0;
  virtual void flag(const char* name, bool& value, std::string_view help) = 0;
  virtual void text(const char* name, std::string& value, std::string_view help) = 0;
  /// The option described last matters only where `option` has one of these values.
  virtual void only_with(const char* option, const std::vector<std::string>& values) {
    static_cast<void>(option), static_cast<void>(values);
  }

  /// Of the option described last: OptionInfo::as_is and load.
  virtual void as_is(const char* value) { static_cast<void>(value); }
  virtual void may_be_file(std::string (*load)(const std::string&)) { static_cast<void>(load); }

  /// One of the enumerators of E, by their names (name_of).
  template <class E>
  void choice(const char* name, E& value, std::string_view help) {
    int index = static_cast<int>(value);
    choice_index(name, index, names_of(value), help);
    value = static_cast<E>(index);
  }

  /// The same where the value is the name itself; Error (usage) if it is none of them.
  void choice(const char* name, std::string& value, std::span<const char* const> names,
              const char* help);

  /// An option of which no more is known than a description: its value as text.
  void described(const OptionInfo& info, std::string& value);

 protected:
  virtual void choice_index(const char* name, int& index, std::span<const char* const> names,
                            std::string_view help) = 0;
};

/// Something with a describe(); type erasure for the functions below.
using Describe = void (*)(void* options, OptionVisitor& visitor);

namespace erased {
void read(const Params& params, std::string_view owner, void* options, Describe describe);
Params write(void* options, Describe describe);
std::vector<OptionInfo> list(void* options, Describe describe);

template <class Options>
void describe(void* options, OptionVisitor& visitor) {
  static_cast<Options*>(options)->describe(visitor);
}
}  // namespace erased

/// Params to a struct; unset options keep their defaults.  `owner` ("map rff") is named in errors:
/// an unknown name (with the nearest right one), a value out of range, text that is no number.
template <class Options>
Options read_options(const Params& params, std::string_view owner) {
  Options options;
  erased::read(params, owner, &options, erased::describe<Options>);
  return options;
}

/// All options with their values; read_options() of the result gives the same struct.
template <class Options>
Params write_options(Options options) {
  return erased::write(&options, erased::describe<Options>);
}

template <class Options>
std::vector<OptionInfo> list_options() {
  Options options;
  return erased::list(&options, erased::describe<Options>);
}

/// `params` with what stands in the files that some of them name.
Params load_files(std::span<const OptionInfo> options, Params params);

/// `params` and, where nothing is given, the values for rows as they are.
Params rows_as_they_are(std::span<const OptionInfo> options, Params params);

/// Shortest text that reads back as the same number.
std::string format_number(double value);

/// The number that all of `text` spells, or nothing.
std::optional<double> parse_number(std::string_view text);

/// The candidate nearest to `word` in edit distance, or "" if none is near.
std::string nearest_name(std::string_view word, std::span<const std::string> candidates);

/// " (did you mean 'x'?)" or "".
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace kerf::detail
