// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/table/target_tally.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/io/class_names.h"
#include "kerf/io/table/column_tally.h"

namespace kerf::detail::io {
namespace {
/// More distinct values than this are no classes, unless classification is asked for.
constexpr Index kMostAutomaticClasses = 100;
constexpr std::size_t kMostClasses = 65536;
constexpr const char* kCommaHint = "; kerf reads a decimal point, not a comma";
}  // namespace

void TargetTally::add(double value, double weight, const std::string& spelling) {
  if (value != std::floor(value)) whole_ = false;
  const bool automatic = choice_ == DataOptions::TaskChoice::automatic;
  if (too_many_ || (automatic && !whole_ && words_.empty()) ||
      choice_ == DataOptions::TaskChoice::regression)
    return;
  Number*& entry = spelled_[spelling];
  if (entry == nullptr) {
    entry = &numbers_[class_key(spelling)];
    if (entry->name.empty())
      entry->name = spelling;
    else if (entry->other.empty())
      entry->other = spelling;
  }
  entry->weight += weight;
  const std::size_t most = automatic ? kMostAutomaticClasses : kMostClasses;
  constexpr std::size_t kMostSpellings = 4;  // of each, on average
  if (numbers_.size() > most || spelled_.size() > kMostSpellings * most) too_many_ = true;
}

std::string TargetTally::spelling_note(const std::string& target) const {
  std::unordered_map<std::string, const std::string*> values;
  for (const auto& [key, number] : numbers_) {
    if (!number.other.empty())
      return fmt::format("the target {} has {} and {}, which are one number: taken for one class",
                         target, quoted(number.name), quoted(number.other));
    const auto [same, is_new] = values.emplace(exact_number(number.name), &number.name);
    if (!is_new)
      return fmt::format(
          "the target {} has {} and {}, equal numbers written differently: taken "
          "for two classes",
          target, quoted(std::min(*same->second, number.name)),
          quoted(std::max(*same->second, number.name)));
  }
  return "";
}

void TargetTally::add(std::string_view word, double weight, const std::string& where) {
  KERF_REQUIRE(choice_ != DataOptions::TaskChoice::regression, data,
               "{}: the target of a regression should be a finite number, not {}{}", where,
               quoted(word), has_decimal_comma(word) ? kCommaHint : "");
  if (first_word_.empty()) first_word_ = fmt::format("{} ({})", quoted(word), where);
  words_[std::string(word)] += weight;
  KERF_REQUIRE(words_.size() <= kMostClasses, data, "{}: the target has more than {} classes",
               where, kMostClasses);
}

bool TargetTally::is_classification(Index rows, bool images, const std::string& target,
                                    std::string& reason) const {
  if (choice_ != DataOptions::TaskChoice::automatic) {
    reason = "as asked for";
    return choice_ == DataOptions::TaskChoice::classification;
  }
  if (!words_.empty()) {
    // A few words among real numbers are mistakes, not classes.
    KERF_REQUIRE(!too_many_ && whole_, data,
                 "the target {} has numbers, but also {}; a number is wanted, or {}{}", target,
                 first_word_, spell("task", "classification"), decimal_commas() ? kCommaHint : "");
    reason = fmt::format("the target {} holds words", target);
    return true;
  }
  if (!whole_) {
    reason = fmt::format("the target {} has values that are not whole numbers", target);
    return false;
  }
  const Index most = std::min(kMostAutomaticClasses, rows / 5);
  const auto distinct = static_cast<Index>(numbers_.size());
  if (images && !too_many_) {
    reason = "the labels of images are classes";
    return true;
  }
  if (too_many_ || distinct > most) {
    reason = fmt::format("the target {} has more than {} distinct values", target, most);
    return false;
  }
  reason =
      fmt::format("the target {} has whole numbers of only {} distinct values", target, distinct);
  return true;
}

bool TargetTally::decimal_commas() const {
  return !words_.empty() && std::ranges::all_of(words_, [](const auto& entry) {
    return has_decimal_comma(entry.first);
  });
}

void TargetTally::decide(Index rows, bool images, const std::string& target,
                         DataSummary& summary) const {
  const bool classes = is_classification(rows, images, target, summary.task_reason);
  summary.task = classes ? Task::classification : Task::regression;
  if (!classes) return;
  KERF_REQUIRE(!too_many_, data, "the target {} has more than {} distinct values: too many classes",
               target, kMostClasses);
  std::vector<std::pair<std::string, double>> found(words_.begin(), words_.end());
  for (const auto& [key, number] : numbers_) found.emplace_back(number.name, number.weight);
  KERF_REQUIRE(found.size() >= 2, data,
               "the target {} has one value only ('{}'); there is nothing to learn", target,
               found.empty() ? "" : found[0].first);
  std::ranges::sort(found, name_before, [](const auto& entry) { return entry.first; });
  for (auto& [name, weight] : found) {
    summary.classes.push_back(name);
    summary.class_rows.push_back(weight);
  }
}

}  // namespace kerf::detail::io
