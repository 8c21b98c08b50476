// Figures of one target of a regression: sums of all rows, medians of kept ones.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/api/score.h"
#include "kerf/learn/score/kept_rows.h"

namespace kerf::detail {

/// The value below which half of the weight lies; between two rows their mean.  0 without weight.
double weighted_median(std::vector<std::pair<double, double>> values_and_weights);

class TargetTotals {
 public:
  void add(Index row, double target, double predicted, double weight);
  /// `weight`: of all rows.
  TargetScore finish(double weight) const;

  double squared_error() const { return error_; }
  /// Squared distance of the targets from their mean.
  double spread(double weight) const { return squares_ - sum_ * sum_ / weight; }
  double squared_size() const { return raw_squares_; }

 private:
  struct Pair {
    double target, predicted, weight;
  };
  bool is_first_ = true;
  // Around the first target, so that large offsets lose no digits.
  double origin_ = 0, sum_ = 0, squares_ = 0, raw_squares_ = 0, error_ = 0, distance_ = 0;
  KeptRows<Pair> kept_;
};

}  // namespace kerf::detail
