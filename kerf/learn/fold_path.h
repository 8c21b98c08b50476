// Cross-validation errors of all folds at one lambda, from one Cholesky factor.
//
//   fold f held out:  (A_f + n_f lambda I) W = B_f,    A_f = G - G_f, centred on the other folds
//   pole lambda:      P = G + n lambda I = R^T R  (all rows)
//   space:            U_f = span{ P^-1 B_f, C P^-1 B_f, C^2 P^-1 B_f, ... },
//                     C = P^-1 (A_f + n_f lambda I)
//   Galerkin:         (U A_f U^T + n_f lambda I) a = U B_f,   W = U^T a
//
// The error on the fold held out is a quadratic form in a.  C has its eigenvalues below 1, in a
// bunch near (folds - 1)/folds as far as G_f resembles G/folds.
//
// Error:      that of conjugate gradients preconditioned by P: it falls by (sqrt(k) - 1)/(sqrt(k) +
//             1) or better a level, with k the condition number of C, which grows as folds have few
//             rows for the features.  Errors at other lambdas than the pole are not to be had from
//             these spaces: where C is near to a multiple of I they stand still and are percents
//             off (half a decade away on a real set: 2 %, enough to choose a lambda ten times too
//             large).
//             R is in single precision where n lambda is well above its rounding; the projections
//             are not.  Rounding, and with it the last digits of an error, depends on the threads.
// Cost:       one Cholesky a pole; a level: 2 products with G or G_f and 2 triangular solves for
//             each fold and target, 8 m^2 flops each.  Memory: G, P and R besides the folds' sums.
// Reference:  Golub & Van Loan, "Matrix computations", sections 10.1 and 11.5.
// Differs:    block spaces, and a preconditioner shared by all folds.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/learn/normal_equations.h"

namespace kerf {

class FoldPath {
 public:
  /// Folds without rows are left out.  The sums must outlive it.
  explicit FoldPath(std::span<const NormalEquations> folds);

  /// Factors P at lambda and begins anew; false if that is singular.
  bool set_pole(double lambda);
  /// One more level of every fold's space.
  void extend();
  /// Largest dimension of a space of this pole.
  Index dimension() const;

  /// Squared error of each target on the folds held out at the pole's lambda, divided by the weight
  /// of all rows.
  std::vector<double> errors() const;

  /// Whether the spaces stay small against the features, so that this pays.
  static bool pays(Index features, Index targets);
  static Index bytes(Index features, Index targets, Index folds);

 private:
  struct Fold {
    const NormalEquations* sums;
    double weight;                     // of the training rows, n_f
    std::vector<double> sum, target;   // of the training rows: s, sum of targets
    Matrix<double> rhs;                // B_f, a target in each row
    Matrix<double> basis, gram, held;  // U; U A_f; U G_f: vectors in rows
    Matrix<double> chain;              // the newest vectors, in the space
    // In the coordinates of the space:
    std::vector<double> values;  // eigenvalues of U A_f U^T
    Matrix<double> vectors, projected_rhs, projected_cross, quadratic;
    std::vector<double> projected_sum, projected_held_sum;
  };
  /// R in single precision, if that is precise enough to precondition with.
  bool factor_in_single(double ridge);
  void solve_rows(MatrixView<double> rows) const;
  void append(Fold& fold, MatrixView<const double> block, MatrixView<const double> product);
  void project(Fold& fold) const;

  NormalEquations total_;
  double pole_ = 0;
  Matrix<float> factor_;        // R; empty where it must be in double precision:
  Matrix<double> wide_factor_;  // P, or R
  std::vector<Fold> folds_;
  double weight_ = 0;
};

}  // namespace kerf
