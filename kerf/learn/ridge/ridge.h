// Ridge regression from sums, and cross-validation errors from the sums of folds.
//
//   minimise (1/n) sum_i w_i |y_i - b - W^T z_i|^2 + lambda |W|^2,    n = sum_i w_i, b unpenalised
//   =>  (G - s s^T/n + n lambda I) W = C - s (sum w y)^T/n
//
// Cross-validation keeps one NormalEquations per fold: training on all folds but one, and the test
// error on that one, need no further pass over the rows, for any lambda.
//
// Cost:       m^3/3 flops a Cholesky; 8 m^2 bytes.  lambda_choice.h has quicker ways to a choice.
// Differs:    nothing.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "kerf/learn/options/fit_outcome.h"
#include "kerf/learn/ridge/normal_equations.h"
#include "kerf/model/model.h"

namespace kerf::detail {

/// Throws Error (numeric) when the matrix is singular, with the lambda that failed.
/// `penalty`: P of lambda w^T P w; none: the identity.  `factor` (if wanted) becomes the upper R of
/// G - s s^T/n + n lambda P = R^T R.
LinearModel solve_ridge(std::span<const NormalEquations* const> parts, double lambda,
                        const Matrix<float>* penalty = nullptr, Matrix<double>* factor = nullptr);

/// mean(diag(G - s s^T/n))/n over the parts: the unit of the automatic grid of lambda.
double lambda_unit(std::span<const NormalEquations* const> parts);

/// With the lambda chosen for each target, or the one for all; the factor is that of the least.
LinearModel solve_ridge(std::span<const NormalEquations* const> parts, const LambdaChoice& choice,
                        Matrix<double>* factor = nullptr);

/// Mean squared error of each target on each fold of a model trained on the others.
/// Infinite if a training matrix is singular.  `only`: on this fold alone.
std::vector<double> cross_validation_errors(std::span<const NormalEquations> folds, double lambda,
                                            std::optional<Index> only = {});

/// The fold that is held out where one must do: the first that weighs something while the others
/// do too; none: there is no such fold.
std::optional<Index> fold_to_hold_out(std::span<const NormalEquations> folds);
/// The same for who cannot choose lambda without: Error (data) if there is none.
Index fold_that_judges(std::span<const NormalEquations> folds);

/// From the coordinates of the sums, y - d = b + W^T (z - c), to those of features and targets.
void undo_origin(const Origin& origin, LinearModel& model);

/// Memory of one solve.
Index ridge_bytes(Index features, Index targets);

}  // namespace kerf::detail
