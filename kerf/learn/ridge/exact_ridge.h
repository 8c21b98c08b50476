// Kernel ridge regression on the exact Gram matrix, with closed-form leave-one-out errors.
//
//   f(x) = b + sum_j a_j k(x, x_j),   minimises (1/n) sum_i w_i (y_i - f(x_i))^2 + lambda |f - b|^2
// n = sum_i w_i, b unpenalised.  With S = diag(sqrt w), u = S 1 / sqrt n, P = I - u u^T:
//   A = P S K S P = V D V^T,  c = n lambda,  a = S V (D + c)^-1 V^T S (y - mean)
//   left out:  y_i - f_-i(x_i) = (y_i - f(x_i)) / (1 - h_i),   1 - h_i = sum_k V_ik^2 c / (D_k + c)
// (V without the column u; without an intercept P = I).  Rows g left out together, the copies of an
// example, have the gaps M_gg^-1 x_g / sqrt(w) of x = M S (y - mean), M = V (D + c)^-1 V^T.  One eigendecomposition serves all lambdas,
// and no number of the last formula is a difference.
//
// Exact:      the leave-one-out error is that of n fits on n - 1 rows with c kept, not lambda.
// Error:      eigenvalues below about 1e-15 times the largest are rounding: c should not be.
// Cost:       about 9 n^3 flops and 24 n^2 bytes; n^2 (1 + targets) flops a lambda.  One lambda: exact_at_lambda.h.
//             More than kEigenRows rows: a factor for each of a few lambdas, about n^3 flops (kernel_walk.h).
// Reference:  Saunders, Gammerman & Vovk, "Ridge regression learning algorithm in dual variables",
//             ICML 1998; Rifkin & Lippert, "Notes on regularized least squares", 2007, section 3.
// Differs:    weights and intercept; u is moved to the far end of the spectrum before the
//             decomposition, where it cannot mix with other small eigenvalues.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "kerf/core/options.h"
#include "kerf/core/progress.h"
#include "kerf/core/rows/matrix.h"
#include "kerf/kernels/kernel.h"
#include "kerf/learn/ridge/normal_equations.h"
#include "kerf/learn/ridge/ridge.h"

namespace kerf::detail {

/// Lambdas of the automatic grid are steps of half a decade: unit 10^(step/2), unit = mean(D) / n.
inline constexpr int kFirstLambdaStep = -16, kLastLambdaStep = 10;
inline constexpr Index kMostLambdas = kLastLambdaStep - kFirstLambdaStep + 1;

/// Lambda is chosen by eigenvalues up to that.
inline constexpr Index kEigenRows = 2048;

struct ExactRidgeOptions {
  std::vector<double> lambdas = {};   ///< to choose from; empty: the automatic grid
  int first_step = kFirstLambdaStep;  ///< of that grid
  bool intercept = true;
  Index copies = 1;               ///< rows in turn that are left out together; more take one lambda
  Index memory_limit = 0;         ///< bytes; 0: what is available
  Index eigen_rows = kEigenRows;  ///< more of them: by kernel_walk.h
  Precision precision = Precision::single_;  ///< of the matrix there, if that is enough,
  bool may_double = true;                    ///< and whether it may be double if it is not
};

/// A solution among the rows, and how lambda was chosen.
struct DualSolution {
  LinearModel model;        ///< the coefficients a (rows x targets) and b; of dual_ridge.h: W and b
  LambdaChoice choice;      ///< cv_error: mean squared leave-one-out error
  Matrix<double> left_out;  ///< what the other rows (not its copies) predict for each row
  std::vector<Index> left_out_rows = {};  ///< the rows of left_out, where it is not all of them
  // Of kernel_walk.h:
  Index factors = 0;                         ///< Cholesky factors made
  Precision precision = Precision::double_;  ///< of the last one
  bool bounded = false;  ///< a smaller lambda would have needed double, which was not to be had
};

/// Error (usage, data) if they do not go together.
void check_exact_ridge(Index rows, MatrixView<const double> targets, WeightsView weights,
                       const ExactRidgeOptions& options);

/// From a Gram matrix (rows x rows, symmetric), which is destroyed.  No weights: all 1.
/// One lambda needs no eigenvalues: exact_at_lambda.h.  Several and many rows: kernel_walk.h, in double.
DualSolution solve_exact_ridge(MatrixView<double> gram, MatrixView<const double> targets,
                               WeightsView weights, const ExactRidgeOptions& options,
                               const Progress& progress = {});

/// Checks the memory, forms the Gram matrix of the rows and solves.  Whoever predicts keeps the rows
/// (kernel_expansion.h).
DualSolution fit_exact_ridge(const std::string& kernel, const Params& params, const RowsView& rows,
                             MatrixView<const double> targets, WeightsView weights,
                             const ExactRidgeOptions& options, const Progress& progress = {});

/// Memory of solve_exact_ridge() with the matrix handed to it; `lambdas`: to choose from, 0 for the
/// automatic grid.
Index solve_exact_bytes(Index rows, Index targets, std::size_t lambdas);

/// Rows of this kernel are cheap enough to be computed again: a solution in single precision is
/// refined with them.  Others have their matrix in double.
bool is_quick(const Kernel& kernel);

/// Memory of fit_exact_ridge(), besides the rows handed to it.
Index exact_ridge_bytes(Index rows, Index targets, bool quick, const ExactRidgeOptions& options);

}  // namespace kerf::detail
