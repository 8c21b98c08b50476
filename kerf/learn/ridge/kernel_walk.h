// Lambda of kernel ridge regression by a walk downhill: a Cholesky factor for each of a few lambdas.
//
//   B = A + c I + g u u^T at c = n lambda (kernel_factor.h),  x = B^-1 S (y - mean)
//   left out:  e_i = x_i / G_i,  G_i = (B^-1)_ii - u_i^2 / (c + g)             (exact_ridge.h)
//   error      (1 / n) sum_i e_i^2  ~  (1 / n) sum_i x_i^2 (sum_s e_i^2) / (sum_s x_i^2)
// The sum over s: 512 rows by key, the only ones whose G_i is computed; all rows' x_i are known, and
// leave little to chance.  A factor also tells the errors of the lambdas beside its own
// (lambda_beside.h).  The walk starts at the best lambda of a sample (all of them by eigenvalues),
// moves to where the neighbour is better, by several steps where a parabola says so, and ends where
// neither neighbour is.
//
// Error:      of the neighbours' errors about 0.1 %, at most 0.5 % on the sets of kernel_walk_test; lambdas closer
//             than kWorth are equal.  In single precision x is refined with rows of K in double; a lambda
//             that is too small for that is tried again in double, if there is memory, or given up.
// Cost:       a factor is 1.3 to 1.5 times n^3 / 3 flops with its diagonals; two of them are usual.
// Reference:  Rifkin & Lippert, "Notes on regularized least squares", 2007, section 3.
// Differs:    weights and intercept; ratio estimate over rows; the walk.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/learn/ridge/exact_ridge.h"
#include "kerf/learn/ridge/kernel_factor.h"

namespace kerf::detail {

/// The matrix in one precision or the other.
struct KernelMatrices {
  std::unique_ptr<KernelFactor> first;
  /// The same in double, where `first` is not and there is memory; else null.
  std::function<std::unique_ptr<KernelFactor>()> in_double = {};
  KernelRows kernel = {};  ///< what a solution in single precision is refined with
};

/// Lambdas, first_step of `options`; one lambda is solved for, several are chosen from.
DualSolution solve_by_factors(KernelMatrices matrices, const WeightedRows& rows,
                              MatrixView<const double> targets, const ExactRidgeOptions& options,
                              const Progress& progress);

/// Memory: a number of the matrix has `cell` bytes.
Index kernel_walk_bytes(Index rows, Index targets, Index cell);

}  // namespace kerf::detail
