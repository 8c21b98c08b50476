// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/table/target_tally.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/io/class_names.h"

namespace kerf::detail::io {
namespace {
/// More distinct values than this are no classes, unless classification is asked for.
constexpr Index kMostAutomaticClasses = 100;
constexpr std::size_t kMostClasses = 65536;
/// Up to so many whole numbers are classes, however they lie.
constexpr std::size_t kFewClasses = 10;

/// Whether counts differ more than those of equally frequent values do: their variance is beyond four
/// times their mean, which it would be.
bool differ_by_more_than_chance(const std::vector<double>& counts) {
  constexpr double kChance = 4;
  const auto k = static_cast<double>(counts.size());
  double sum = 0, square = 0;
  for (const double count : counts) {
    sum += count;
    square += count * count;
  }
  return square - sum * sum / k > kChance * sum;
}

/// The place of each value in order of size; equal ones share the mean of theirs.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<double> ranks;
  for (const double value : values) {
    const auto below = std::ranges::count_if(values, [&](double v) { return v < value; });
    const auto equal = std::ranges::count(values, value);
    ranks.push_back(static_cast<double>(below) + static_cast<double>(equal + 1) / 2);
  }
  return ranks;
}

double neumann_ratio(const std::vector<double>& ranks) {
  const double mean = static_cast<double>(ranks.size() + 1) / 2;
  double steps = 0, spread = 0;
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    spread += (ranks[k] - mean) * (ranks[k] - mean);
    if (k > 0) steps += (ranks[k] - ranks[k - 1]) * (ranks[k] - ranks[k - 1]);
  }
  return spread > 0 ? steps / (2 * spread) : 1;
}

double gcd_of(double a, double b) {
  while (b > 0) {
    a = std::fmod(a, b);
    std::swap(a, b);
  }
  return a;
}

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
  if (first_word_.empty()) {
    first_word_ = quoted(word);
    first_where_ = where;
  }
  if (choice_ == DataOptions::TaskChoice::regression) return;  // decide() refuses it
  words_[std::string(word)] += weight;
  KERF_REQUIRE(words_.size() <= kMostClasses, data, "{}: the target has more than {} classes",
               where, kMostClasses);
}

bool TargetTally::is_classification(Index rows, bool images, const std::string& target,
                                    std::string& reason) const {
  if (choice_ != DataOptions::TaskChoice::automatic) {
    KERF_REQUIRE(choice_ == DataOptions::TaskChoice::classification || first_word_.empty(), data,
                 "{}: the target of a regression should be a finite number, not {}; {} if it means "
                 "a missing value",
                 first_where_, first_word_, spell("na"));
    reason = "as asked for";
    return choice_ == DataOptions::TaskChoice::classification;
  }
  if (!words_.empty()) {
    // A few words among real numbers are mistakes, not classes.
    KERF_REQUIRE(
        !too_many_ && whole_, data,
        "the target {} has numbers, but also {} ({}); {} if it means a missing value, or {}",
        target, first_word_, first_where_, spell("na"), spell("task", "classification"));
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
  const std::string classes = spell("task", "classification") + " takes them for classes";
  if (too_many_ || distinct > most) {
    reason =
        fmt::format("the target {} has more than {} distinct values; {}", target, most, classes);
    return false;
  }
  if (const std::string quantity = like_quantity(); !quantity.empty()) {
    reason = fmt::format("the target {} has {} whole numbers {}; {}", target, distinct, quantity,
                         classes);
    return false;
  }
  reason = fmt::format(
      "the target {} has whole numbers of only {} distinct values; {} predicts "
      "numbers",
      target, distinct, spell("task", "regression"));
  return true;
}

/// Why some tens of whole numbers are rather a quantity than codes of classes; "": they are not.
///
/// Order: of codes neighbours have nothing to do with each other, of ages or counts they are about as
/// frequent.  von Neumann's ratio of the ranks r of the frequencies of the k numbers, in their order,
///   sum (r_(i+1) - r_i)^2 / (2 sum (r_i - mean)^2),
/// is about 1 where order does not matter (its deviation is about sqrt(1/k)) and near 0 where
/// frequencies rise and fall slowly; it counts where they differ by more than chance.
/// Gaps: codes begin with 0 or 1, or lie far apart; numbers that begin elsewhere and fill most of their
/// range are measured, and so are those in steps of more than 1.
/// Reference: Bartels, "The rank version of von Neumann's ratio test for randomness", JASA 1982.
std::string TargetTally::like_quantity() const {
  constexpr double kOrdered = 0.5, kMostlyFull = 0.5;
  if (numbers_.size() <= kFewClasses) return "";
  std::map<double, double> frequency;
  for (const auto& [key, number] : numbers_)
    frequency[parse_number(number.name).value_or(0)] += number.weight;
  std::vector<double> values, frequencies;
  for (const auto& [value, f] : frequency) {
    values.push_back(value);
    frequencies.push_back(f);
  }
  if (differ_by_more_than_chance(frequencies) && neumann_ratio(ranks_of(frequencies)) < kOrdered)
    return "whose frequencies rise and fall in order";
  double step = 0;
  for (std::size_t k = 1; k < values.size(); ++k) step = gcd_of(step, values[k] - values[k - 1]);
  const double least = values.front(), most = values.back();
  const double full = static_cast<double>(values.size()) / ((most - least) / step + 1);
  const bool codes = (step == 1 && (least == 0 || least == 1)) || full < kMostlyFull;
  return codes ? "" : fmt::format("that fill the range {} .. {}", least, most);
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
