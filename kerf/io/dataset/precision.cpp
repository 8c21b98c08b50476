// What is left of columns when their values become floats of 24 bits.
//
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/io/dataset/dataset.h"

namespace kerf::detail {
namespace {

constexpr double kConstant = 1e-14;  // of the mean: a deviation that is rounding in double
constexpr double kLost = 1 << 14;    // deviations: beyond, rounding is 1e-3 of one and more
constexpr double kSmallest = std::numeric_limits<float>::min();

/// "3 columns (the first: 'a') ...".
void add_words(std::vector<std::string>& notes, const std::vector<Index>& which,
               const std::vector<std::string>& names, const char* words) {
  if (which.empty()) return;
  const std::string first =
      names.empty() ? column_label("", which[0]) : names[static_cast<std::size_t>(which[0])];
  notes.push_back(fmt::format("{} column{} (the first: {}) {}", which.size(),
                              which.size() == 1 ? "" : "s", first, words));
}

}  // namespace

std::vector<std::string> warn_of_precision(std::span<const double> mean,
                                           std::span<const double> variance,
                                           const std::vector<std::string>& names) {
  std::vector<Index> tiny, far;
  for (std::size_t j = 0; j < mean.size(); ++j) {
    const double deviation = std::sqrt(variance[j]);
    if (!(deviation > kConstant * std::abs(mean[j]))) continue;
    if (deviation < kSmallest) tiny.push_back(static_cast<Index>(j));
    if (std::abs(mean[j]) > kLost * deviation) far.push_back(static_cast<Index>(j));
  }
  std::vector<std::string> notes;
  add_words(notes, tiny, names,
            "vary by less than float32 can hold: multiply them by a large number before");
  add_words(
      notes, far, names,
      ((far.size() == 1 ? "lies " : "lie ") +
       std::string("so far from zero that little of what varies is left in float32: subtract the "
                   "mean before, or take ") +
       spell("scale", "standard"))
          .c_str());
  return notes;
}

std::vector<std::string> Dataset::check_precision() const {
  for (std::size_t j = 0; j < summary.least.size(); ++j) {
    const double most = std::max(std::abs(summary.least[j]), std::abs(summary.greatest[j]));
    KERF_REQUIRE(most == 0 || static_cast<float>(most) > 0, data,
                 "the values of {} are at most {:.2g}, below the range of single precision, in "
                 "which features are computed: multiply the column by a constant, or leave it out",
                 summary.names.empty() ? column_label("", static_cast<Index>(j)) : summary.names[j],
                 most);
  }
  return warn_of_precision(summary.mean, variance, summary.names);
}

}  // namespace kerf::detail
