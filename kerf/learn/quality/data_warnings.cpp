// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/quality/data_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

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
        "no input column varies in double precision: there is nothing to learn from, every "
        "prediction is the same");
    return;
  }
  if (summary.image.present() || summary.is_bytes) return;  // margins of images
  report.notes.push_back(fmt::format(
      "{} of {} columns never vary in double precision{}: {}", constant, summary.mean.size(),
      constant > kMostNamed ? ", the first" : "", fmt::join(names, ", ")));
}

struct Ruled {
  std::size_t column;
  double centre, deviation, robust;
};

/// Nothing where the deviation is that of most values.
std::optional<Ruled> ruled(std::size_t column, std::vector<double> values, double deviation) {
  std::ranges::sort(values);
  const std::size_t tenth = values.size() / 10;
  const double low = values[tenth], high = values[values.size() - 1 - tenth];
  const double robust = (high - low) / kNormalRange;
  if (!(robust > 0 && deviation > kRuled * robust)) return std::nullopt;
  return Ruled{column, values[values.size() / 2], deviation, robust};
}

std::vector<Ruled> ruled_columns(const DataSummary& summary) {
  std::vector<Ruled> found;
  for (std::size_t j = 0; j < summary.mean.size() && found.size() < kMostNamed; ++j) {
    const auto values = sampled(summary, j);
    if (const auto column =
            ruled(j, {values.begin(), values.end()}, std::sqrt(variance_of(summary, j))))
      found.push_back(*column);
  }
  return found;
}

std::vector<Ruled> ruled_targets(const DataSummary& summary) {
  std::vector<Ruled> found;
  const auto& targets = summary.sample.targets;
  if (targets.rows() < kFewestRows) return found;
  for (std::size_t t = 0; t < summary.target_deviation.size() && found.size() < kMostNamed; ++t) {
    std::vector<double> values;
    for (Index i = 0; i < targets.rows(); ++i) values.push_back(targets(i, static_cast<Index>(t)));
    if (const auto target = ruled(t, std::move(values), summary.target_deviation[t]))
      found.push_back(*target);
  }
  return found;
}

/// "a few values such as 7 in row 3 make its standard deviation 5, where ..."
std::string describe(const Ruled& ruled, const ColumnExtremes::Value& farthest) {
  return fmt::format(
      "a few values such as {:.6g} in row {} make its standard deviation {:.3g}, where four fifths "
      "of its values lie within {:.3g} of each other",
      farthest.value, farthest.row, ruled.deviation, kNormalRange * ruled.robust);
}

void warn_of_outliers(const DataSummary& summary, bool in_columns,
                      const std::function<ColumnExtremes()>& extremes, FitReport& report) {
  const auto columns = in_columns ? ruled_columns(summary) : std::vector<Ruled>();
  const auto targets =
      summary.task == Task::regression ? ruled_targets(summary) : std::vector<Ruled>();
  if (columns.empty() && targets.empty()) return;
  const ColumnExtremes all = extremes();
  for (const Ruled& column : columns)
    report.warnings.push_back(fmt::format(
        "{}: {} and become nearly equal; leave such rows out, cut the values off, or {} the column",
        name_of(summary, column.column),
        describe(column, all.farthest_from(column.centre, static_cast<Index>(column.column))),
        spell("drop")));
  for (const Ruled& target : targets)
    report.warnings.push_back(fmt::format(
        "{}: {}: squared errors are those of such rows, which may hide what is wrong in all "
        "others; "
        "leave them out, or cut the values off",
        summary.targets > 1 ? fmt::format("target {}", target.column) : "the target",
        describe(target,
                 all.farthest_target_from(target.centre, static_cast<Index>(target.column)))));
}

}  // namespace

template <class T>
void ColumnExtremes::Ends::add(std::span<const T> row, Index number) {
  const bool first = least.empty();
  if (first) least.resize(row.size()), greatest.resize(row.size());
  for (std::size_t j = 0; j < row.size(); ++j) {
    const Value here{static_cast<double>(row[j]), number};
    if (first || here.value < least[j].value) least[j] = here;
    if (first || here.value > greatest[j].value) greatest[j] = here;
  }
}

ColumnExtremes::Value ColumnExtremes::Ends::farthest_from(double centre, Index column) const {
  const Value low = least[column], high = greatest[column];
  const double below = centre - low.value, above = high.value - centre;
  return below > above || (below == above && low.row < high.row) ? low : high;
}

void ColumnExtremes::add(const RowBlock& block) {
  for (Index i = 0; i < block.rows(); ++i) {
    if (!block.is_sparse) columns_.add<float>(block.dense.row(i), block.number_of(i));
    if (block.targets.rows() > 0) targets_.add<double>(block.targets.row(i), block.number_of(i));
  }
}

ColumnExtremes::Value ColumnExtremes::farthest_from(double centre, Index column) const {
  return columns_.farthest_from(centre, column);
}

ColumnExtremes::Value ColumnExtremes::farthest_target_from(double centre, Index target) const {
  return targets_.farthest_from(centre, target);
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
  const bool dense = !summary.is_sparse && summary.sample.dense.cols() == summary.cols &&
                     summary.sample.dense.rows() >= 2;
  if (dense) warn_of_constants(summary, report);
  const bool by_column = report.scale == ScaleKind::standard || report.scale == ScaleKind::rms;
  warn_of_outliers(summary, dense && by_column && summary.sample.dense.rows() >= kFewestRows,
                   extremes, report);
}

}  // namespace kerf::detail
