// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/quality/data_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

void warn_of_outliers(const DataSummary& summary, const std::function<ColumnExtremes()>& extremes,
                      FitReport& report) {
  auto ruled = ruled_columns(summary);
  if (ruled.empty()) return;
  const ColumnExtremes all = extremes();
  if (ruled.size() > kMostNamed) ruled.resize(kMostNamed);
  for (const Ruled& column : ruled) {
    const auto [value, row] = all.farthest_from(column.centre, static_cast<Index>(column.column));
    report.warnings.push_back(fmt::format(
        "{}: a few values such as {:.6g} in row {} make its standard deviation {:.3g}, where four "
        "fifths of its values lie within {:.3g} of each other and become nearly equal; leave such "
        "rows out, cut the values off, or {} the column",
        name_of(summary, column.column), value, row, column.deviation, kNormalRange * column.robust,
        spell("drop")));
  }
}

}  // namespace

void ColumnExtremes::add(const RowBlock& block) {
  for (Index i = 0; i < block.rows(); ++i) {
    const auto row = block.dense.row(i);
    const bool first = least_.empty();
    if (first) least_.resize(row.size()), greatest_.resize(row.size());
    for (std::size_t j = 0; j < row.size(); ++j) {
      const Value here{row[j], block.number_of(i)};
      if (first || here.value < least_[j].value) least_[j] = here;
      if (first || here.value > greatest_[j].value) greatest_[j] = here;
    }
  }
}

ColumnExtremes::Value ColumnExtremes::farthest_from(double centre, Index column) const {
  const Value low = least_[column], high = greatest_[column];
  const double below = centre - low.value, above = high.value - centre;
  return below > above || (below == above && low.row < high.row) ? low : high;
}

ColumnExtremes extremes_of(RowSource& source) {
  ColumnExtremes extremes;
  RowBlock block;
  source.rewind();
  while (source.next(block)) extremes.add(block);
  source.rewind();
  return extremes;
}

void warn_about_data(const DataSummary& summary, const std::function<ColumnExtremes()>& extremes,
                     FitReport& report) {
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
    warn_of_outliers(summary, extremes, report);
}

}  // namespace kerf::detail
