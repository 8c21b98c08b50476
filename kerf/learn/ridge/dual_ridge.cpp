// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/ridge/dual_ridge.h"

#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/parallel.h"
#include "kerf/learn/ridge/exact_at_lambda.h"
#include "kerf/linalg/blas.h"
#include "kerf/linalg/feature_gram.h"

namespace kerf::detail {
namespace {

constexpr Index kColumns = 512;  // features made double at a time
constexpr int kLeastStep =
    -12;  // features are single precision: 1e-6 of the spectrum is their noise

}  // namespace

DualSolution fit_dual_ridge(MatrixView<const float> z, MatrixView<const double> targets,
                            WeightsView weights, std::vector<double> lambdas, Index copies,
                            const Progress& progress) {
  const bool given = !lambdas.empty();
  std::erase(lambdas, 0.0);
  KERF_REQUIRE(!given || !lambdas.empty(), usage,
               "lambda must be positive where there are no more rows than features ({})",
               spell("solver", "dual"));
  Matrix<double> gram(z.rows, z.rows);
  feature_gram(z, gram.view());
  ExactRidgeOptions options;
  options.first_step = kLeastStep;
  options.lambdas = std::move(lambdas);
  options.copies = copies;
  DualSolution solution = solve_exact_ridge(gram.view(), targets, weights, options, progress);
  Matrix<double> of_features(z.cols, targets.cols);
  for (Index first = 0; first < z.cols; first += kColumns) {
    const Index last = std::min(first + kColumns, z.cols);
    const Matrix<double> part = copy_of<double>(z.columns(first, last));
    blas::product(true, false, 1.0, part.view(), solution.model.weights.view(), 0.0,
                  of_features.view().slice(first, last));
  }
  solution.model.weights = std::move(of_features);
  return solution;
}

Index dual_ridge_bytes(Index rows, Index features, Index targets, std::size_t lambdas) {
  // A part of z in double stands beside the Gram matrix before it is solved, and after.
  const Index part = 8 * rows * (rows + kColumns);
  return std::max(solve_exact_bytes(rows, targets, lambdas), part) +
         8 * targets * (rows + features);
}

}  // namespace kerf::detail
