// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/score/interval_scores.h"

#include <cmath>

#include "kerf/core/names.h"

namespace kerf::detail {

IntervalTotals::IntervalTotals(const Model& model) : model_(model) {
  const std::vector<double> none(model.outputs(), 0.0);
  if (model.variance)
    for (const double level : kLevels)
      intervals_.push_back({IntervalKind::normal, level, none, none});
  if (!model.conformal) return;
  for (const double level : kLevels) {
    if (!model.conformal->reaches(level)) continue;
    if (model.task == Task::classification)
      sets_.push_back({.level = level});
    else
      intervals_.push_back({IntervalKind::conformal, level, none, none});
  }
}

void IntervalTotals::add_numbers(const Matrix<double>& values, const Matrix<double>& variance,
                                 const Matrix<double>& targets, std::span<const double> weights) {
  for (Interval& one : intervals_) {
    const Matrix<double> half = half_widths(model_, one.kind, one.level, values.rows(), variance);
    for (Index i = 0; i < values.rows(); ++i)
      for (Index t = 0; t < values.cols(); ++t) {
        if (std::abs(targets(i, t) - values(i, t)) <= half(i, t)) one.inside[t] += weights[i];
        one.width[t] += weights[i] * 2 * half(i, t);
      }
  }
}

void IntervalTotals::add_classes(const Matrix<double>& probabilities, std::span<const Index> best,
                                 const Matrix<double>& targets, std::span<const double> weights) {
  for (Set& one : sets_) {
    const Matrix<double> sets = class_sets(model_, one.level, probabilities, best);
    for (Index i = 0; i < sets.rows(); ++i) {
      double size = 0;
      for (const double member : sets.row(i)) size += member;
      one.size += weights[i] * size;
      if (size == 1) one.single += weights[i];
      one.inside += weights[i] * sets(i, static_cast<Index>(targets(i, 0)));
    }
  }
}

void IntervalTotals::finish(double weight, Score& score) const {
  for (const Interval& one : intervals_)
    for (std::size_t t = 0; t < score.targets.size(); ++t)
      score.targets[t].intervals.push_back(
          {name_of(one.kind), one.level, one.inside[t] / weight, one.width[t] / weight});
  for (const Set& one : sets_)
    score.sets.push_back({one.level, one.inside / weight, one.size / weight, one.single / weight});
}

}  // namespace kerf::detail
