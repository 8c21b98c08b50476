// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/quality/fit_variance.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/parallel.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

bool is_positive(double weight) { return weight > 0; }

/// `count`: rows whose weight is not 0.
NormalEquations sum_rows(TrainingRows& rows, double& count) {
  std::optional<NormalEquations> sums;
  count = 0;
  rows.for_each([&](const TrainingRows::Block& block) {
    const PhaseClock watch(rows.seconds().accumulate);
    if (!sums) sums.emplace(origin_of(block.z, block.y), Precision::double_);
    sums->add(block.z, block.y, block.weights);
    for (Index i = 0; i < block.z.rows; ++i) count += is_positive(block.weights[i]) ? 1 : 0;
  });
  return std::move(*sums);
}

/// Noise under which the squared errors of rows left out, over their variances, are 1 on average.
/// `weights` of centred features; rows of weight `unit` have that noise.
void set_noise_by_rows(TrainingRows& rows, const Matrix<double>& weights,
                       const std::vector<double>& target_mean, double unit,
                       PredictiveVariance& variance) {
  const Index targets = weights.cols();
  std::ranges::fill(variance.noise, 1.0);
  std::vector<double> sums(targets, 0.0);
  Matrix<double> spread;
  rows.for_each([&](const TrainingRows::Block& block) {
    const PhaseClock watch(rows.seconds().solve);
    spread.resize(block.z.rows, targets);
    variance.variances(block.z, spread.view());
    for (Index i = 0; i < block.z.rows; ++i) {
      const double w = block.weights[i] / unit;
      if (!is_positive(w)) continue;
      const double share = w * (spread(i, 0) - 1);  // h_i
      KERF_REQUIRE(share < 1 + 1e-6, numeric,
                   "the rows are others in every pass, so that none can be left out: take {}",
                   spell("noise", "likelihood"));
      const double rest = std::max(1 - share, 1e-12);
      for (Index t = 0; t < targets; ++t) {
        double error = block.y(i, t) - target_mean[t];
        for (Index j = 0; j < block.z.cols; ++j)
          error -= weights(j, t) * (block.z(i, j) - variance.mean[j]);
        sums[t] += w * error * error / rest;
      }
    }
  });
  for (std::size_t t = 0; t < sums.size(); ++t) variance.noise[t] = sums[t] / variance.weight;
}

}  // namespace

PredictiveVariance fit_variance(TrainingRows& rows, double lambda, Noise noise) {
  double count = 0;
  const NormalEquations sums = sum_rows(rows, count);
  std::optional<PhaseClock> watch(rows.seconds().solve);
  report(rows.progress(), "variance", 0, 0, "");
  const Index m = sums.features(), targets = sums.targets();
  const double n = sums.weight();
  PredictiveVariance result;
  result.weight = count;
  result.factor.resize(m, m);
  result.factor.fill(0);
  sums.add_gram_to(result.factor.view());
  for (Index i = 0; i < m; ++i) {
    const double mean = sums.feature_sum(i) / n;
    result.mean.push_back(sums.origin().features[i] + mean);
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
  // Noise is that of a row of mean weight, so that the size of all weights does not matter.
  const double unit = n / count;
  for (Index i = 0; i < m; ++i)
    for (double& value : result.factor.row(i)) value /= std::sqrt(unit);
  std::vector<double> target_mean;
  for (Index t = 0; t < targets; ++t) {
    target_mean.push_back(sums.origin().targets[t] + sums.target_sum(t) / n);
    double square = sums.target_square(t) - sums.target_sum(t) * sums.target_sum(t) / n;
    for (Index j = 0; j < m; ++j) square -= cross(j, t) * weights(j, t);
    result.noise.push_back(std::max(square, 0.0) / unit / std::max(count - 1, 1.0));
  }
  watch.reset();
  if (noise == Noise::leave_one_out) set_noise_by_rows(rows, weights, target_mean, unit, result);
  return result;
}

Index variance_bytes(Index features, Index outputs) {
  return NormalEquations::bytes(features, outputs) + 8 * features * (features + 2 * outputs) +
         NormalEquations::scratch_bytes(Precision::double_, threads());
}

}  // namespace kerf::detail
