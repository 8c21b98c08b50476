// Probabilities from scores: softmax(t f), with the factor t that suits rows the scores did not
// see.
//
//   minimise  sum_i w_i ((1 - e) loss(y_i, t f_i) + e mean of loss(k, t f_i) over classes k != y_i)
//   e = 1/(N + 2),   N = (sum w)^2 / sum w^2:  rows, where all weigh the same
//
// e is Laplace's rule of succession: the chance that the next row is wrong after N that were right.
// Without it the loss of rows that are all right falls for ever in t, and probabilities end at 0
// and 1.  The loss is convex in t; golden sections of log t find its least point.
//
// Reference:  Guo, Pleiss, Sun & Weinberger, "On calibration of modern neural networks", 2017;
//             Platt, "Probabilistic outputs for support vector machines", 1999, section 2.2 (e).
// Differs:    Platt has an e for each of his two classes; t is one number, and has one e.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "kerf/core/rows/matrix.h"

namespace kerf::detail {

/// Scores of rows that were left out, with the truth.
class LeftOutScores {
 public:
  /// More than this are not looked at: t is one number.
  static constexpr Index kEnough = 20000;

  /// One row: a score for each class, or a single one for two (that of class 1).
  void add(std::span<const double> scores, Index label, double weight);
  /// `y`: the encoded targets, largest in the column of the row's class.  No weights: all 1.
  void add(MatrixView<const double> scores, MatrixView<const double> y, WeightsView weights);
  /// Scores of these rows of y and weights; no rows: of all.
  void add(MatrixView<const double> scores, std::span<const Index> rows, MatrixView<const double> y,
           WeightsView weights);
  bool enough() const { return static_cast<Index>(labels_.size()) >= kEnough; }
  /// How often the largest score is that of the row's class; sums of weights.
  struct Tally {
    double weight = 0, right = 0;
    double commonest = 0;      ///< rows of the commonest class
    double disagreements = 0;  ///< of squared weights: rows that are predicted to be of another
                               ///< class and where either prediction is right
  };
  Tally tally() const;
  /// Between 1e-3 and 1e3; nothing without rows that weigh something.
  std::optional<double> temperature() const;

 private:
  std::vector<double> scores_, weights_;
  std::vector<Index> labels_;
};

}  // namespace kerf::detail
