// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/fit_variance.h"

#include <algorithm>
#include <optional>

#include "kerf/core/blas.h"
#include "kerf/core/parallel.h"
#include "kerf/core/require.h"

namespace kerf {
namespace {

NormalEquations sum_rows(TrainingRows& rows) {
  std::optional<NormalEquations> sums;
  rows.for_each([&](const TrainingRows::Block& block) {
    const Stopwatch watch(rows.seconds().accumulate);
    if (!sums) sums.emplace(origin_of(block.z, block.y), Precision::double_);
    sums->add(block.z, block.y, block.weights);
  });
  return std::move(*sums);
}

}  // namespace

PredictiveVariance fit_variance(TrainingRows& rows, double lambda) {
  const NormalEquations sums = sum_rows(rows);
  const Stopwatch watch(rows.seconds().solve);
  report(rows.progress(), "variance", 0, 0);
  const Index m = sums.features(), targets = sums.targets();
  const double n = sums.weight();
  PredictiveVariance result;
  result.weight = n;
  result.factor.resize(m, m);
  result.factor.fill(0);
  sums.add_gram_to(result.factor.view());
  for (Index i = 0; i < m; ++i) {
    const double mean = sums.feature_sum(i) / n;
    result.mean.push_back(sums.origin().features[static_cast<std::size_t>(i)] + mean);
    for (Index j = i; j < m; ++j) result.factor(i, j) -= mean * sums.feature_sum(j);
    result.factor(i, i) += n * lambda;
  }
  const Index failed = blas::cholesky(result.factor.view());
  KERF_REQUIRE(failed == 0, numeric,
               "the variance needs a larger lambda than {:.3g}: the matrix is singular", lambda);

  Matrix<double> cross(m, targets), weights(m, targets);
  for (Index j = 0; j < m; ++j)
    for (Index t = 0; t < targets; ++t)
      cross(j, t) = weights(j, t) = sums.cross(j, t) - sums.feature_sum(j) * sums.target_sum(t) / n;
  blas::cholesky_solve(result.factor.view(), weights.view());
  for (Index t = 0; t < targets; ++t) {
    double square = sums.target_square(t) - sums.target_sum(t) * sums.target_sum(t) / n;
    for (Index j = 0; j < m; ++j) square -= cross(j, t) * weights(j, t);
    result.noise.push_back(std::max(square, 0.0) / std::max(n - 1, 1.0));
  }
  return result;
}

Index variance_bytes(Index features, Index outputs) {
  return NormalEquations::bytes(features, outputs) + 8 * features * (features + 2 * outputs) +
         NormalEquations::scratch_bytes(Precision::double_, threads());
}

}  // namespace kerf
