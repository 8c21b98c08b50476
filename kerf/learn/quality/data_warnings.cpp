// What a fit says about its data: columns and targets that do not vary, columns that a few values rule.
//
// A column's standard deviation is set beside a robust one, (q90 - q10) / 2.563 of the sample, which is
// the same for normal values and does not see a tenth of them at either end.  Where it is kRuled times
// as large, four fifths of the values lie within 2.563 / kRuled of a standard deviation: standardised,
// they are nearly equal.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kerf/core/spelling.h"
#include "kerf/learn/quality/fit_quality.h"

namespace kerf::detail {
namespace {

constexpr double kRuled = 20;
constexpr Index kFewestRows = 20;       // of which quantiles say something
constexpr std::size_t kMostNamed = 5;   // columns in one sentence
constexpr double kNormalRange = 2.563;  // q90 - q10 of a normal variable in standard deviations

std::string name_of(const DataSummary& summary, std::size_t column) {
  return std::ssize(summary.names) == summary.cols ? summary.names[column]
                                                   : fmt::format("column {}", column);
}

std::vector<float> sampled(const DataSummary& summary, std::size_t column) {
  std::vector<float> values;
  for (Index i = 0; i < summary.sample.dense.rows(); ++i)
    values.push_back(summary.sample.dense(i, static_cast<Index>(column)));
  return values;
}

double variance_of(const DataSummary& summary, std::size_t column) {
  return std::max(0.0, summary.mean_square[column] - summary.mean[column] * summary.mean[column]);
}

/// Of all rows, as far as sums and the sample tell.
bool is_constant(const DataSummary& summary, std::size_t column) {
  const auto values = sampled(summary, column);
  const bool alike = std::ranges::all_of(values, [&](float v) { return v == values.front(); });
  return alike && variance_of(summary, column) <= 1e-12 * summary.mean_square[column];
}

void warn_of_constants(const DataSummary& summary, FitReport& report) {
  std::vector<std::string> names;
  std::size_t constant = 0;
  for (std::size_t j = 0; j < summary.mean.size(); ++j) {
    if (!is_constant(summary, j)) continue;
    if (constant++ < kMostNamed) names.push_back(name_of(summary, j));
  }
  if (constant == 0) return;
  if (constant == summary.mean.size()) {
    report.warnings.emplace_back(
        "no input column varies: there is nothing to learn from, every prediction is the same");
    return;
  }
  if (summary.image.present() || summary.is_bytes) return;  // margins of images
  report.notes.push_back(
      fmt::format("{} of {} columns never vary{}: {}", constant, summary.mean.size(),
                  constant > kMostNamed ? ", the first" : "", fmt::join(names, ", ")));
}

struct Ruled {
  std::size_t column;
  double centre, deviation, robust;
  double value = 0;
  Index row = 0;
};

std::vector<Ruled> ruled_columns(const DataSummary& summary) {
  std::vector<Ruled> ruled;
  for (std::size_t j = 0; j < summary.mean.size(); ++j) {
    auto values = sampled(summary, j);
    std::ranges::sort(values);
    const std::size_t tenth = values.size() / 10;
    const double low = values[tenth], high = values[values.size() - 1 - tenth];
    const double robust = (high - low) / kNormalRange,
                 deviation = std::sqrt(variance_of(summary, j));
    if (robust > 0 && deviation > kRuled * robust)
      ruled.push_back({j, values[values.size() / 2], deviation, robust});
  }
  return ruled;
}

void warn_of_outliers(RowSource& source, const DataSummary& summary, FitReport& report) {
  auto ruled = ruled_columns(summary);
  if (ruled.empty()) return;
  RowBlock block;
  source.rewind();
  while (source.next(block))
    for (Index i = 0; i < block.rows(); ++i)
      for (Ruled& column : ruled) {
        const double value = block.dense(i, static_cast<Index>(column.column));
        if (std::abs(value - column.centre) <= std::abs(column.value - column.centre)) continue;
        column.value = value;
        column.row = block.number_of(i);
      }
  source.rewind();
  if (ruled.size() > kMostNamed) ruled.resize(kMostNamed);
  for (const Ruled& column : ruled)
    report.warnings.push_back(
        fmt::format("{}: a few values such as {:.6g} in row {} make its standard deviation {:.3g}, "
                    "where four fifths of its values lie within {:.3g} of each other and become "
                    "nearly equal; leave such rows out, cut the values off, or {} the column",
                    name_of(summary, column.column), column.value, column.row, column.deviation,
                    kNormalRange * column.robust, spell("drop")));
}

}  // namespace

void warn_about_data(RowSource& source, const DataSummary& summary, FitReport& report) {
  const auto& targets = summary.sample.targets;
  bool alike = summary.task == Task::regression && targets.rows() > 0 && !report.quality;
  for (Index i = 0; i < targets.rows(); ++i)
    for (Index t = 0; t < targets.cols(); ++t) alike = alike && targets(i, t) == targets(0, t);
  if (alike)
    report.warnings.emplace_back(
        "the target is the same in every row: there is nothing to learn, and every prediction is "
        "it");
  if (summary.is_sparse || summary.sample.dense.cols() != summary.cols ||
      summary.sample.dense.rows() < 2)
    return;
  warn_of_constants(summary, report);
  const bool by_column = report.scale == ScaleKind::standard || report.scale == ScaleKind::rms;
  if (by_column && summary.sample.dense.rows() >= kFewestRows)
    warn_of_outliers(source, summary, report);
}

}  // namespace kerf::detail
