// Cross-validation errors of all folds at one lambda, from one Cholesky factor.
//
//   fold f held out:  (A_f + n_f lambda I) W = B_f,    A_f = G - G_f, centred on the other folds
//   pole lambda:      P = G + n lambda I = R^T R  (all rows)
//   space:            U_f = span{ P^-1 B_f, C P^-1 B_f, C^2 P^-1 B_f, ... },
//                     C = P^-1 (A_f + n_f lambda I);   by Arnoldi: C is applied to the newest
//                     orthonormal vectors
//   Galerkin:         (U A_f U^T + n_f lambda I) a = U B_f,   W = U^T a
//
// The error on the fold held out is a quadratic form in a.  C has its eigenvalues below 1, in a
// bunch near (folds - 1)/folds as far as G_f resembles G/folds.
//
// Error:      that of conjugate gradients preconditioned by P: it falls by (sqrt(k) - 1)/(sqrt(k) +
//             1) or better a level, with k the condition number of C.  Features of independent
//             rows, m of them for n rows in 5 folds: k = 2 for n = 10 m, 9 for n = 2 m, and without
//             bound (but for lambda) at n = 1.25 m, where a fold's training rows are as many as the
//             features.  Rows far from all others make it larger.
//             Errors at other lambdas than the pole are not to be had from these spaces: where C is
//             near to a multiple of I they stand still and are percents off (half a decade away on
//             a real set: 2 %, enough to choose a lambda ten times too large).
//             R is in single precision where n lambda is well above its rounding; the projections
//             are not.  Rounding, and with it the last digits of an error, depends on the threads.
// Cost:       one Cholesky a pole; a level: 2 products with G or G_f and 2 triangular solves for
//             each fold and target, 8 m^2 flops each.  Memory: G, P and R besides the folds' sums.
// Reference:  Golub & Van Loan, "Matrix computations", sections 10.1, 10.5 and 11.5; the k above:
//             the edges of the Jacobi ensemble (Wachter, 1980).
// Differs:    block spaces, and a preconditioner shared by all folds.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/learn/ridge/normal_equations.h"

namespace kerf::detail {

class FoldPath {
 public:
  /// Folds without rows are left out.  The sums must outlive it.
  explicit FoldPath(std::span<const NormalEquations> folds);

  /// Factors P at lambda and begins anew; false if that is singular.
  bool set_pole(double lambda);
  /// Frees the factor and the spaces.
  void clear();
  /// One more level of every fold's space.
  void extend();
  /// Whether the spaces have grown so large that one Cholesky for each fold is the better way.
  bool is_full() const;

  /// At the pole's lambda, of each target: squared error on the folds held out, divided by the
  /// weight of all rows; and the objective on the other folds, divided by theirs, which falls from
  /// level to level, and goes on falling where the error stands still for a while.
  /// Infinite if a fold's system is singular.
  struct Level {
    std::vector<double> errors, objectives;
  };
  Level level() const;

  /// Whether the spaces stay small against the features, so that this pays.
  static bool pays(Index features, Index targets);
  static Index bytes(Index features, Index targets, Index folds);

 private:
  struct Fold {
    const NormalEquations* sums;
    double weight;                          // of the training rows, n_f
    std::vector<double> sum, target;        // of the training rows: s, sum of targets
    std::vector<double> square;             // of their targets, from the mean
    std::vector<double> held_sum;           // of the rows held out
    Matrix<double> rhs, cross;              // B_f, and C of the rows held out: a target in each row
    Matrix<double> basis;                   // U, vectors in rows
    Matrix<double> newest;                  // A_f and the newest vectors
    Matrix<double> inside, held;            // U A_f U^T, U G_f U^T
    Matrix<double> inner_rhs, inner_cross;  // U B_f^T, U C^T
    Matrix<double> inner_sum;               // U s, U s of the rows held out
  };
  /// R in single precision, if that is precise enough to precondition with.
  bool factor_in_single(double ridge);
  void solve_rows(MatrixView<double> rows) const;
  void append(Fold& fold, MatrixView<const double> block, MatrixView<const double> product);
  void add_errors(const Fold& fold, Level& sums) const;

  NormalEquations total_;
  double pole_ = 0;
  Matrix<float> factor_;        // R; empty where it must be in double precision:
  Matrix<double> wide_factor_;  // P, or R
  std::vector<Fold> folds_;
  double weight_ = 0;
};

}  // namespace kerf::detail
