// Conjugate gradients for several right-hand sides at once, preconditioned by a triangular factor.
//
//   (G + c I) X = B,  G positive semi-definite, given by its products only;  R^T R close to G + c I
//
// The residuals of all right-hand sides are kept as Q C with orthonormal Q, so that right-hand
// sides that depend on each other (one-hot targets add up to a constant) do no harm.
//
// Error:      the residual falls by (sqrt(k) - 1)/(sqrt(k) + 1) or better a step, k the condition
//             of R^-T (G + c I) R^-1; all right-hand sides share one Krylov space.
// Cost:       a step: one product with G, two triangular solves (2 m^2 flops) for each of t
//             right-hand sides, and O(m t^2).
// Reference:  O'Leary, "The block conjugate gradient algorithm and related methods", 1980;
// Dubrulle,
//             "Retooling the method of block conjugate gradients", ETNA 12, 2001 (BCGrQ).
// Differs:    split preconditioning, with X kept in the original coordinates.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/core/rows/matrix.h"

namespace kerf::detail {

/// Vectors are rows: B, X and directions are right-hand sides x m.  The factor must outlive it.
class BlockCg {
 public:
  BlockCg(MatrixView<const double> factor, double shift, MatrixView<const double> rhs);

  /// What G must be multiplied with next.
  const Matrix<double>& direction() const { return direction_; }
  /// One step, given G times the direction.
  void advance(MatrixView<const double> gram_times_direction);

  const Matrix<double>& solution() const { return x_; }
  Matrix<double> take_solution() { return std::move(x_); }
  /// Largest |R^-T residual| / |R^-T b| over the right-hand sides, by the recurrence.
  double residual() const;
  /// Starts again from x (and the true residual b - G x - c x, given G x): drift is forgotten.
  void restart(Matrix<double> x, MatrixView<const double> gram_times_x);
  /// Rounding has used up the directions: only a restart helps.
  bool broken() const { return broken_; }

 private:
  void start(Matrix<double> residual);
  void aim();

  MatrixView<const double> factor_;
  double shift_;
  Matrix<double> rhs_, x_;
  std::vector<double> rhs_norm_;
  Matrix<double> q_, c_, s_, direction_;
  bool broken_ = false;
};

}  // namespace kerf::detail
