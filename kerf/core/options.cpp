// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"

namespace kerf::detail {
namespace {

std::vector<const char*> c_names(const std::vector<std::string>& names) {
  std::vector<const char*> all;
  for (const std::string& name : names) all.push_back(name.c_str());
  return all;
}

/// Sets fields from params and checks them.
class Reader final : public OptionVisitor {
 public:
  Reader(const Params& params, std::string_view owner) : params_(params), owner_(owner) {}

  void integer(const char* name, Index& value, Range range, std::string_view) override {
    const std::string* text = find(name);
    if (text == nullptr) return;
    const double number = number_in(name, *text, range);
    KERF_REQUIRE(number == std::floor(number), usage, "{}: {} wants a whole number, not '{}'",
                 owner_, spell(name), *text);
    value = static_cast<Index>(number);
  }
  void real(const char* name, double& value, Range range, std::string_view) override {
    if (const std::string* text = find(name)) value = number_in(name, *text, range);
  }
  void automatic(const char* name, std::optional<double>& value, Range range,
                 std::string_view) override {
    const std::string* text = find(name);
    if (text == nullptr) return;
    value = *text == "auto" ? std::nullopt : std::optional(number_in(name, *text, range));
  }
  void flag(const char* name, bool& value, std::string_view) override {
    const std::string* text = find(name);
    if (text == nullptr) return;
    const bool yes = *text == "true" || *text == "1" || *text == "True";
    const bool no = *text == "false" || *text == "0" || *text == "False";
    KERF_REQUIRE(yes || no, usage, "{}: {} is true or false, not '{}'", owner_, spell(name), *text);
    value = yes;
  }
  void text(const char* name, std::string& value, std::string_view) override {
    if (const std::string* given = find(name)) value = *given;
  }

  /// After all fields: whatever is left in params belongs to nobody.
  void reject_unknown() const {
    for (const auto& [name, value] : params_) {
      if (std::ranges::find(known_, name) != known_.end()) continue;
      const std::string meant = nearest_name(name, known_);
      fail(ErrorKind::usage, "{} has no option {}{}; it has {}", owner_, spell(name),
           meant.empty() ? "" : fmt::format(" (did you mean '{}'?)", spell_bare(meant)),
           known_.empty() ? "none" : joined());
    }
  }

 private:
  void choice_index(const char* name, int& index, std::span<const char* const> names,
                    std::string_view) override {
    const std::string* text = find(name);
    if (text == nullptr) return;
    const auto found = std::ranges::find(names, *text);
    const std::vector<std::string> all(names.begin(), names.end());
    KERF_REQUIRE(found != names.end(), usage, "{}: {} '{}' is none of {}{}", owner_, spell(name),
                 *text, fmt::join(all, ", "), did_you_mean(*text, all));
    index = static_cast<int>(found - names.begin());
  }

  const std::string* find(const char* name) {
    known_.emplace_back(name);
    const auto found = params_.find(name);
    return found == params_.end() ? nullptr : &found->second;
  }
  double number_in(const char* name, const std::string& text, Range range) const {
    const auto number = parse_number(text);
    KERF_REQUIRE(number.has_value(), usage, "{}: {} wants a number, not '{}'", owner_, spell(name),
                 text);
    KERF_REQUIRE(*number >= range.min && *number <= range.max, usage,
                 "{}: {} must be between {} and {}, not {}", owner_, spell(name),
                 format_number(range.min), format_number(range.max), text);
    return *number;
  }
  std::string joined() const {
    std::vector<std::string> spelled;
    for (const std::string& name : known_) spelled.push_back(spell(name));
    return fmt::format("{}", fmt::join(spelled, ", "));
  }

  const Params& params_;
  std::string_view owner_;
  std::vector<std::string> known_;
};

/// Lists fields with their present values.
class Lister final : public OptionVisitor {
 public:
  void integer(const char* name, Index& value, Range range, std::string_view help) override {
    fields.push_back(
        {name, OptionType::integer, std::to_string(value), std::string(help), range, {}});
  }
  void real(const char* name, double& value, Range range, std::string_view help) override {
    fields.push_back({name, OptionType::real, format_number(value), std::string(help), range, {}});
  }
  void automatic(const char* name, std::optional<double>& value, Range range,
                 std::string_view help) override {
    fields.push_back({name,
                      OptionType::automatic,
                      value ? format_number(*value) : "auto",
                      std::string(help),
                      range,
                      {}});
  }
  void flag(const char* name, bool& value, std::string_view help) override {
    fields.push_back(
        {name, OptionType::flag, value ? "true" : "false", std::string(help), {0, 0}, {}});
  }
  void text(const char* name, std::string& value, std::string_view help) override {
    fields.push_back({name, OptionType::text, value, std::string(help), {0, 0}, {}});
  }

  void only_with(const char* option, const std::vector<std::string>& values) override {
    fields.back().needs = option;
    fields.back().needed_values = values;
  }

  void as_is(const char* value) override { fields.back().as_is = value; }
  void may_be_file(std::string (*load)(const std::string&)) override { fields.back().load = load; }

  std::vector<OptionInfo> fields;

 private:
  void choice_index(const char* name, int& index, std::span<const char* const> names,
                    std::string_view help) override {
    fields.push_back({name,
                      OptionType::choice,
                      names[index],
                      std::string(help),
                      {0, 0},
                      {names.begin(), names.end()}});
  }
};

}  // namespace

void OptionVisitor::choice(const char* name, std::string& value, std::span<const char* const> names,
                           const char* help) {
  const auto found = std::ranges::find(names, value);
  const std::vector<std::string> all(names.begin(), names.end());
  KERF_REQUIRE(found != names.end(), usage, "{} '{}' is none of {}{}", name, value,
               fmt::join(all, ", "), did_you_mean(value, all));
  auto index = static_cast<int>(found - names.begin());
  choice_index(name, index, names, help);
  value = names[static_cast<std::size_t>(index)];
}

void OptionVisitor::described(const OptionInfo& info, std::string& value) {
  const char *name = info.name.c_str(), *help = info.help.c_str();
  const double number = parse_number(value).value_or(0);
  switch (info.type) {
    case OptionType::integer: {
      auto whole = static_cast<Index>(number);
      integer(name, whole, info.range, help);
      value = std::to_string(whole);
      break;
    }
    case OptionType::real: {
      double real_number = number;
      real(name, real_number, info.range, help);
      value = format_number(real_number);
      break;
    }
    case OptionType::automatic: {
      std::optional<double> some = parse_number(value);
      automatic(name, some, info.range, help);
      value = some ? format_number(*some) : "auto";
      break;
    }
    case OptionType::flag: {
      bool on = value == "true";
      flag(name, on, help);
      value = on ? "true" : "false";
      break;
    }
    case OptionType::text:
      text(name, value, help);
      break;
    case OptionType::choice:
      choice(name, value, c_names(info.choices), help);
      break;
  }
  if (!info.needs.empty()) only_with(info.needs.c_str(), info.needed_values);
  if (!info.as_is.empty()) as_is(info.as_is.c_str());
  if (info.load != nullptr) may_be_file(info.load);
}

namespace erased {

void read(const Params& params, std::string_view owner, void* options, Describe describe) {
  Reader reader(params, owner);
  describe(options, reader);
  reader.reject_unknown();
}

std::vector<OptionInfo> list(void* options, Describe describe) {
  Lister lister;
  describe(options, lister);
  return std::move(lister.fields);
}

Params write(void* options, Describe describe) {
  Params params;
  for (const auto& field : list(options, describe)) params[field.name] = field.default_value;
  return params;
}

}  // namespace erased

Params load_files(std::span<const OptionInfo> options, Params params) {
  for (const OptionInfo& option : options)
    if (const auto found = params.find(option.name);
        option.load != nullptr && found != params.end())
      found->second = option.load(found->second);
  return params;
}

Params rows_as_they_are(std::span<const OptionInfo> options, Params params) {
  for (const OptionInfo& option : options)
    if (!option.as_is.empty()) params.try_emplace(option.name, option.as_is);
  return params;
}

std::string format_number(double value) { return fmt::format("{}", value); }

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool all = error == std::errc() && end == text.data() + text.size() && !text.empty();
  return all && !std::isnan(value) ? std::optional(value) : std::nullopt;
}

std::string nearest_name(std::string_view word, std::span<const std::string> candidates) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  std::string best;
  // Of a short word at least one letter stays as it is.
  const std::size_t letters = std::max<std::size_t>(word.size(), 1);
  std::size_t best_distance = std::max(std::min<std::size_t>(2, letters - 1), letters / 3) + 1;
  for (const std::string& name : candidates) {
    // Edit distance (Levenshtein), one row at a time.
    std::vector<std::size_t> row(name.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (std::size_t i = 0; i < word.size(); ++i) {
      std::size_t diagonal = row[0]++;
      for (std::size_t j = 0; j < name.size(); ++j) {
        const std::size_t substituted = diagonal + (lower(word[i]) == lower(name[j]) ? 0 : 1);
        diagonal = row[j + 1];
        row[j + 1] = std::min({substituted, row[j] + 1, diagonal + 1});
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = name;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates) {
  const std::string name = nearest_name(word, candidates);
  return name.empty() ? "" : fmt::format(" (did you mean '{}'?)", name);
}

}  // namespace kerf::detail
