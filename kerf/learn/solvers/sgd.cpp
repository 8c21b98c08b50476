// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/solvers/sgd.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"
#include "kerf/learn/quality/classification_loss.h"
#include "kerf/linalg/blas.h"
#include "kerf/linalg/row_products.h"

namespace kerf::detail {
namespace {

constexpr Index kProductRows = 64;    // a piece of the scores of a batch
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

Index score_count(const Problem& p) {
  return p.options.loss != Loss::squared && p.outputs == 2 ? 1 : p.outputs;
}

void HeldOutRows::add(std::span<const double> y, std::span<const double> scaled,
                      const SgdProgress& scale, double row_weight) {
  std::vector<double> own(scaled.size());
  sums.resize(scaled.size());
  squares.resize(scaled.size());
  errors.resize(scaled.size());
  origin.resize(scaled.size());
  weight += row_weight;
  for (std::size_t k = 0; k < scaled.size(); ++k) {
    const double target = (y[k] - scale.origin.targets[k]) / scale.target_scale[k];
    own[k] = scaled[k] * scale.target_scale[k] + scale.origin.targets[k];
    sums[k] += row_weight * target;
    squares[k] += row_weight * target * target;
    errors[k] += row_weight * std::pow(scaled[k] - target, 2);
    origin[k] = scale.origin.targets[k] / scale.target_scale[k];
  }
  if (classification) scores.add(own, std::ranges::max_element(y) - y.begin(), row_weight);
}

std::optional<FitQuality> HeldOutRows::quality(const std::string& how) const {
  if (classification) return accuracy(scores, how);
  TargetErrors found{errors, squares, origin};
  for (std::size_t k = 0; k < sums.size(); ++k) {
    found.fit[k] /= weight;
    found.constant[k] = squares[k] / weight - std::pow(sums[k] / weight, 2);
  }
  return explained(found, weight, how);
}

SgdBatches::SgdBatches(const Problem& problem, TrainingRows& rows, const SgdProgress& progress)
    : options_(problem.options.sgd),
      loss_(problem.options.loss),
      lambda_(problem.options.lambda.value_or(0)),
      count_(score_count(problem)),
      rows_(rows),
      progress_(progress),
      scores_(count_),
      intercept_gradient_(count_) {}

/// Scores to derivatives, in place; returns the row's loss (of several targets: their mean).
double SgdBatches::row_gradient(const Block& block, Index row, std::span<double> scores) {
  const auto y = block.y.row(row);
  double value = 0;
  if (loss_ == Loss::squared) {
    if (held_out) held_out->add(y, scores, progress_, block.weights[row]);
    for (std::size_t k = 0; k < scores.size(); ++k) {
      const double rest =
          scores[k] - (y[k] - progress_.origin.targets[k]) / progress_.target_scale[k];
      value += rest * rest / static_cast<double>(scores.size());
      scores[k] = 2 * rest;
    }
    return value;
  }
  const Index label = std::ranges::max_element(y) - y.begin();
  const Index guess = scores.size() == 1 ? (scores[0] > 0 ? 1 : 0)
                                         : std::ranges::max_element(scores) - scores.begin();
  if (guess == label) right += block.weights[row];
  if (held_out) held_out->scores.add(scores, label, block.weights[row]);
  value = loss_value(loss_, label, scores);
  std::vector<double> out(scores.size());
  loss_gradient(loss_, label, scores, out);
  std::ranges::copy(out, scores.begin());
  return value;
}

void SgdBatches::make_features(const Block& block, std::span<const Index> which) {
  const auto size = static_cast<Index>(which.size());
  batch_.resize(size, rows_.features());
  const RowsView x = block.rows.is_sparse ? block.rows.x() : RowsView(block.rows.dense.view());
  inputs_.make_room(x, size);
  for (Index i = 0; i < size; ++i) inputs_.put(i, x, which[i]);
  rows_.features(inputs_.x(), batch_.view());
}

std::vector<double> SgdBatches::multiply(const Block& block, std::span<const Index> which,
                                         const SgdState& state) {
  make_features(block, which);
  const auto size = static_cast<Index>(which.size());
  products_.resize(size, count_);
  parallel_for(size, kProductRows, [&](Index begin, Index end) {
    rows_times(batch_.view().slice(begin, end), state.weights.view(),
               products_.view().slice(begin, end));
  });
  std::vector<double> offset(count_);  // b - W c
  parallel_for(count_, 1, [&](Index k, Index) {
    const auto w = state.weights.row(k);
    double sum = 0;
    for (std::size_t j = 0; j < w.size(); ++j) sum += double{w[j]} * progress_.origin.features[j];
    offset[k] = state.intercept[k] - sum;
  });
  return offset;
}

std::span<double> SgdBatches::scores(Index i, std::span<const double> offset) {
  for (Index k = 0; k < count_; ++k) scores_[k] = products_(i, k) + offset[k];
  return scores_;
}

double SgdBatches::evaluate(const Block& block, std::span<const Index> which,
                            const SgdState& state) {
  const std::vector<double> offset = multiply(block, which, state);
  const auto size = static_cast<Index>(which.size());
  std::ranges::fill(intercept_gradient_, 0.0);
  double loss = 0;
  for (Index i = 0; i < size; ++i) {
    const Index row = which[i];
    const double w = block.weights[row];
    loss += w * row_gradient(block, row, scores(i, offset));
    for (Index k = 0; k < count_; ++k) {
      const double g = w * scores_[k];
      intercept_gradient_[k] += g;
      products_(i, k) = static_cast<float>(g);
    }
  }
  return loss;
}

double SgdBatches::learn(const Block& block, Index rows, SgdState& state, double rate) {
  const Index batches = (rows + options_.batch - 1) / options_.batch;
  double loss = 0, weight = 0;
  for (Index b = 0; b < batches; ++b) {
    std::vector<Index> which;
    double batch_weight = 0;
    for (Index i = b; i < rows; i += batches) {
      which.push_back(i);
      batch_weight += block.weights[i];
    }
    if (!(batch_weight > 0)) continue;
    loss += evaluate(block, which, state);
    weight += batch_weight;
    state.step({batch_.view(), products_.view(), intercept_gradient_, progress_.origin.features,
                batch_weight},
               {options_.schedule == Schedule::adagrad, rate, lambda_});
  }
  return weight > 0 ? loss / weight : 0;
}

void SgdBatches::in_order(const Block& block,
                          const std::function<void(std::span<const Index>)>& receive) const {
  std::vector<Index> which;
  for (Index i = 0; i < block.rows.rows(); ++i) {
    which.push_back(i);
    if (static_cast<Index>(which.size()) < options_.batch && i + 1 < block.rows.rows()) continue;
    receive(which);
    which.clear();
  }
}

}  // namespace kerf::detail
