// Probabilities of models made from sums: rows of one fold, scored by a model of the others.
//
// Lambda may be given or chosen: probabilities need scores of rows that the weights have not seen in
// either case (temperature.h).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "kerf/learn/options/fit_outcome.h"
#include "kerf/learn/quality/temperature.h"
#include "kerf/learn/ridge/ridge.h"
#include "kerf/model/model_arrays.h"

namespace kerf::detail {

/// At the lambda of the fit, trained on all sums but that of `fold`.  Nothing where either side
/// weighs nothing, or where the other rows alone have no solution.
std::optional<LinearModel> model_without(std::span<const NormalEquations> sums, Index fold,
                                         const FitReport& outcome,
                                         const Matrix<float>* penalty = nullptr);

/// The first rows of a fold as features, kept beside sums for who has the rows no more.
class LeftOutRows {
 public:
  static constexpr Index kMost = 2048;  ///< t is one number

  void add(MatrixView<const float> z, MatrixView<const double> y, WeightsView weights);
  Index rows() const { return std::ssize(weights_); }
  /// By the model of the other folds.
  LeftOutScores scores(const LinearModel& model) const;

  void save(ArrayWriter& arrays) const;
  static LeftOutRows load(ArrayReader& arrays);
  Index features() const { return z_.empty() ? 0 : features_; }
  Index outputs() const { return outputs_; }

 private:
  MatrixView<const float> z() const { return {z_.data(), std::ssize(weights_), features_}; }
  MatrixView<const double> y() const { return {y_.data(), std::ssize(weights_), outputs_}; }

  Index features_ = 0, outputs_ = 0;
  std::vector<float> z_;
  std::vector<double> y_, weights_;
};

}  // namespace kerf::detail
