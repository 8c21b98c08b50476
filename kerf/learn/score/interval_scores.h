// What intervals and sets of classes hold beside what they promise, at the levels people ask for.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/api/score.h"
#include "kerf/model/model.h"

namespace kerf::detail {

inline constexpr double kLevels[] = {0.5, 0.8, 0.9, 0.95};

/// Adds blocks of rows up; does nothing for a model without intervals.
class IntervalTotals {
 public:
  /// Levels for which the model was calibrated on too few rows are left out.
  explicit IntervalTotals(const Model& model);

  bool wants_sets() const { return !sets_.empty(); }
  /// Regression: `values` are the predictions, `variance` as half_widths() wants it.
  void add_numbers(const Matrix<double>& values, const Matrix<double>& variance,
                   const Matrix<double>& targets, std::span<const double> weights);
  /// Classes: the probabilities of each row and the class predicted.
  void add_classes(const Matrix<double>& probabilities, std::span<const Index> best,
                   const Matrix<double>& targets, std::span<const double> weights);
  /// `weight`: of all rows.
  void finish(double weight, Score& score) const;

 private:
  struct Interval {
    IntervalKind kind;
    double level;
    std::vector<double> inside, width;  // of each target
  };
  struct Set {
    double level, inside = 0, size = 0, single = 0;
  };
  const Model& model_;
  std::vector<Interval> intervals_;
  std::vector<Set> sets_;
};

}  // namespace kerf::detail
