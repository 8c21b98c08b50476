// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/solvers/sgd_state.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"
#include "kerf/linalg/blas.h"
#include "kerf/linalg/row_products.h"

namespace kerf::detail {
namespace {

constexpr Index kStepColumns = 4096;  // whose gradient is used while it is in the cache
constexpr double kMostRidge = 1e30;   // in single precision: weights are 0 long before

// The penalty's part of a step is implicit, w := (w - r g) / (1 + 2 lambda r), g that of the loss
// alone: it draws towards 0 for any lambda, where a step along 2 lambda w would overshoot.

/// Columns that have had no gradient yet have no weight either.
void adagrad_step(const float* gradient, Index count, float rate, float ridge, float* weights,
                  float* squares) {
  for (Index j = 0; j < count; ++j) {
    squares[j] += gradient[j] * gradient[j];
    const float root = squares[j] > 0 ? std::sqrt(squares[j]) : 1.0f;
    weights[j] = (weights[j] - rate * gradient[j] / root) / (1 + ridge * rate / root);
  }
}

}  // namespace

SgdState::SgdState(Index scores, Index features)
    : weights(scores, features),
      squares(scores, features),
      intercept(scores, 0.0),
      intercept_squares(scores, 0.0) {
  weights.fill(0);
  squares.fill(0);
}

void SgdState::step(const SgdBatch& batch, const SgdStep& how) {
  const auto scale = static_cast<float>(1 / batch.weight),
             ridge = static_cast<float>(std::min(2 * how.lambda, kMostRidge)),
             rate = static_cast<float>(how.rate);
  // Our threads, not those of BLAS, whose waiting takes time from the making of features.
  parallel_for(weights.cols(), kStepColumns, [&](Index begin, Index end) {
    const Index count = end - begin;
    const MatrixView<const float>& z = batch.features;
    Matrix<float> gradient(weights.rows(), count);
    times_rows(batch.derivatives, z.columns(begin, begin + count), gradient.view());
    const float* const centre = batch.centre.data() + begin;
    for (Index k = 0; k < weights.rows(); ++k) {
      const auto sum = static_cast<float>(batch.derivative_sums[k]);
      float* const w = weights.row(k).data() + begin;
      float* const g = gradient.row(k).data();
      for (Index j = 0; j < count; ++j) g[j] = (g[j] - sum * centre[j]) * scale;
      if (how.adaptive)
        adagrad_step(g, count, rate, ridge, w, squares.row(k).data() + begin);
      else
        for (Index j = 0; j < count; ++j) w[j] = (w[j] - rate * g[j]) / (1 + ridge * rate);
    }
  });
  for (std::size_t k = 0; k < intercept.size(); ++k) {
    const double g = batch.derivative_sums[k] / batch.weight;
    intercept_squares[k] += g * g;
    // A constant feature of 1 for the intercept.
    if (intercept_squares[k] > 0) intercept[k] -= 0.1 * g / std::sqrt(intercept_squares[k]);
  }
}

void SgdState::save(ArrayWriter& arrays, const std::string& prefix) const {
  arrays.add(prefix + "weights", weights.view());
  arrays.add(prefix + "squares", squares.view());
  arrays.add(prefix + "intercept", std::span<const double>(intercept));
  arrays.add(prefix + "intercept-squares", std::span<const double>(intercept_squares));
}

void SgdState::load(ArrayReader& arrays, const std::string& prefix) {
  const Index scores = weights.rows(), features = weights.cols();
  weights = arrays.matrix<float>(prefix + "weights");
  squares = arrays.matrix<float>(prefix + "squares");
  intercept = arrays.vector<double>(prefix + "intercept");
  intercept_squares = arrays.vector<double>(prefix + "intercept-squares");
  KERF_REQUIRE(weights.rows() == scores && weights.cols() == features && squares.rows() == scores &&
                   squares.cols() == features && std::ssize(intercept) == scores &&
                   std::ssize(intercept_squares) == scores,
               data, "the checkpoint is of {} x {} weights, the fit has {} x {}", weights.rows(),
               weights.cols(), scores, features);
}

void SgdProgress::save(ArrayWriter& arrays) const {
  arrays.add_numbers("numbers",
                     {static_cast<double>(next), best, static_cast<double>(waited), rate});
  arrays.add("origin", std::span<const float>(origin.features));
  arrays.add("targets", std::span<const double>(origin.targets));
  arrays.add("scales", std::span<const double>(target_scale));
}

void SgdProgress::load(ArrayReader& arrays, Index features, Index outputs) {
  const auto numbers = arrays.vector<double>("numbers");
  KERF_REQUIRE(numbers.size() == 4 && numbers[0] >= 0 && numbers[2] >= 0, data,
               "the checkpoint's numbers make no sense");
  next = static_cast<Index>(numbers.at(0));
  best = numbers.at(1);
  waited = static_cast<Index>(numbers.at(2));
  rate = numbers.at(3);
  origin.features = arrays.vector<float>("origin");
  origin.targets = arrays.vector<double>("targets");
  target_scale = arrays.vector<double>("scales");
  KERF_REQUIRE(std::ssize(origin.features) == features &&
                   origin.targets.size() == target_scale.size() &&
                   std::ssize(target_scale) == outputs,
               data, "the checkpoint is of {} features and {} outputs, the fit has {} and {}",
               origin.features.size(), target_scale.size(), features, outputs);
}

}  // namespace kerf::detail
