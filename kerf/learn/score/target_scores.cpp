// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/score/target_scores.h"

#include <cmath>

namespace kerf::detail {

double weighted_median(std::vector<std::pair<double, double>> rows) {
  std::ranges::sort(rows);
  double total = 0, below = 0;
  for (const auto& [value, weight] : rows) total += weight;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    below += rows[i].second;
    if (below > total / 2 || i + 1 == rows.size()) return rows[i].first;
    if (below == total / 2) {
      std::size_t next = i + 1;
      while (next + 1 < rows.size() && rows[next].second == 0) ++next;
      return (rows[i].first + rows[next].first) / 2;
    }
  }
  return 0;
}

void TargetTotals::add(Index row, double target, double predicted, double weight) {
  if (weight == 0) return;  // not even a place to measure from
  if (is_first_) origin_ = target;
  is_first_ = false;
  sum_ += weight * (target - origin_);
  squares_ += weight * (target - origin_) * (target - origin_);
  raw_squares_ += weight * target * target;
  error_ += weight * (target - predicted) * (target - predicted);
  distance_ += weight * std::abs(target - predicted);
  kept_.add(row, {target, predicted, weight});
}

TargetScore TargetTotals::finish(double weight) const {
  TargetScore out;
  const double variance = std::max(0.0, spread(weight));
  out.mse = error_ / weight;
  out.rmse = std::sqrt(out.mse);
  out.r2 = variance > 0 ? 1 - error_ / variance : 0;
  out.mae = distance_ / weight;
  out.constant_rmse = std::sqrt(variance / weight);
  const std::vector<Pair> rows = kept_.values();
  std::vector<std::pair<double, double>> targets, errors, from_median;
  for (const Pair& row : rows) {
    targets.emplace_back(row.target, row.weight);
    errors.emplace_back(std::abs(row.target - row.predicted), row.weight);
  }
  const double median = weighted_median(std::move(targets));
  double distance = 0, kept = 0;
  for (const Pair& row : rows) {
    from_median.emplace_back(std::abs(row.target - median), row.weight);
    distance += row.weight * std::abs(row.target - median);
    kept += row.weight;
  }
  out.median_error = weighted_median(std::move(errors));
  out.constant_mae = kept > 0 ? distance / kept : 0;
  out.constant_median_error = weighted_median(std::move(from_median));
  return out;
}

}  // namespace kerf::detail
