// Probabilities from scores: softmax(t f), with the factor t that suits rows the scores did not
// see.
//
// Log loss is convex in t; golden sections of log t find its least point.
//
// Reference:  Guo, Pleiss, Sun & Weinberger, "On calibration of modern neural networks", 2017.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <vector>

#include "kerf/core/matrix.h"

namespace kerf {

/// The t between 1e-3 and 1e3 where `log_loss` is least.
double least_temperature(const std::function<double(double)>& log_loss);

/// Scores of rows that were left out, with the truth.
class LeftOutScores {
 public:
  /// More than this are not looked at: t is one number.
  static constexpr Index kEnough = 20000;

  /// `y`: the encoded targets, largest in the column of the row's class.  No weights: all 1.
  void add(MatrixView<const double> scores, MatrixView<const double> y,
           std::span<const double> weights);
  /// Scores of these rows of y and weights; no rows: of all.
  void add(MatrixView<const double> scores, std::span<const Index> rows, MatrixView<const double> y,
           std::span<const double> weights);
  bool enough() const { return static_cast<Index>(labels_.size()) >= kEnough; }
  double temperature() const;

 private:
  std::vector<double> scores_, weights_;
  std::vector<Index> labels_;
};

}  // namespace kerf
