// Linear ridge regression on sparse rows in memory, by conjugate gradients on their entries.
//
//   (Xc^T W Xc + n lambda I) w = Xc^T W (y - mean),   Xc = X - 1 mean_x^T, never formed:
//   Xc^T W Xc v = X^T W (X v - mean_x^T v)            n = sum of the weights, b = mean - mean_x^T w
//
// preconditioned by the diagonal.  Cross-validation solves for each fold and target by itself, on
// threads; lambda is walked to downhill on the half decades of lambda_table.h.
//
// Error:      a residual of kTolerance times the right-hand side; 30 times that while lambda is chosen.
// Cost:       4 nnz + 12 d flops a step and target, some ten to a hundred steps; 8 nnz bytes, and four
//             vectors of d doubles a thread.
// Reference:  Hestenes & Stiefel, "Methods of conjugate gradients for solving linear systems", 1952.
// Differs:    the unpenalised intercept by centring in the product.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/core/progress.h"
#include "kerf/learn/ridge/ridge.h"

namespace kerf::detail {

struct SparseRidgeProblem {
  CsrView x;
  MatrixView<const double> y;  ///< a column for each target
  WeightsView weights;
  std::vector<Index> fold;  ///< of each row
  Index folds = 1;          ///< 1: nothing is left out
  bool mirrored = false;    ///< two targets, the second the negative of the first
};

struct SparseRidgeFit {
  LinearModel model;
  LambdaChoice choice;
  Matrix<double> left_out;  ///< what the other folds predict for each row; empty: no such folds
  double residual = 0;      ///< of the worst target, relative
};

/// `lambdas`: to choose from, or the one to take; empty: the automatic grid.
SparseRidgeFit fit_sparse_ridge(const SparseRidgeProblem& problem,
                                const std::vector<double>& lambdas, const Progress& progress);

/// Memory besides the rows themselves.
Index sparse_ridge_bytes(Index rows, Index columns, Index targets);

}  // namespace kerf::detail
