// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/fit/evaluate.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "kerf/core/require.h"

namespace kerf::detail {
namespace {

constexpr double kInterval90 = 1.6448536269514722;  // quantile 0.95 of N(0, 1)

/// Running sums of one regression target, around its first value.
struct TargetSums {
  double origin = 0, sum = 0, squares = 0, raw_squares = 0, error = 0;

  void add(double target, double predicted, double weight, bool first) {
    if (first) origin = target;
    sum += weight * (target - origin);
    squares += weight * (target - origin) * (target - origin);
    raw_squares += weight * target * target;
    error += weight * (target - predicted) * (target - predicted);
  }
};

void finish_regression(Score& score, const std::vector<TargetSums>& targets) {
  double error = 0, spread = 0, size = 0;
  const double n = score.weight;
  for (const TargetSums& t : targets) {
    error += t.error;
    spread += t.squares - t.sum * t.sum / n;
    size += t.raw_squares;
  }
  score.mse = error / (n * static_cast<double>(targets.size()));
  score.rmse = std::sqrt(score.mse);
  score.r2 = spread > 0 ? 1 - error / spread : 0;
  score.relative_rmse = size > 0 ? std::sqrt(error / size) : 0;
}

/// Keeps the rows of largest error; of equal ones the first.
class WorstRows {
 public:
  explicit WorstRows(Index count) : count_(count) {}

  void offer(const RowBlock& block, Index i, Index position, double error,
             std::span<const double> predicted) {
    if (!(error > 0) || count_ == 0) return;
    if (rows_.size() == count_ && error <= rows_.back().error) return;
    if (rows_.size() == count_) rows_.pop_back();
    const auto place = std::ranges::upper_bound(rows_, error, std::greater{}, &WorstRow::error);
    const auto target = block.targets.row(i);
    rows_.insert(place, {block.number_of(i),
                         position,
                         error,
                         {target.begin(), target.end()},
                         {predicted.begin(), predicted.end()}});
  }
  std::vector<WorstRow> take() { return std::move(rows_); }

 private:
  std::size_t count_;
  std::vector<WorstRow> rows_;  // largest error first
};

/// Weighted sum over rows of -log p(right class); p is taken to be at least 1e-15, as elsewhere.
double log_losses(const Model& model, const RowBlock& block, const Matrix<double>& scores,
                  std::span<const double> weights) {
  Matrix<double> p = scores.copy();
  to_probabilities(model, p);
  double sum = 0;
  for (Index i = 0; i < p.rows(); ++i)
    sum -= weights[i] * std::log(std::max(p(i, static_cast<Index>(block.targets(i, 0))), 1e-15));
  return sum;
}

double distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t t = 0; t < a.size(); ++t) sum += (a[t] - b[t]) * (a[t] - b[t]);
  return std::sqrt(sum);
}

/// Puts blocks of rows together to a score.
class Scorer {
 public:
  Scorer(const Model& model, const EvaluateOptions& options)
      : model_(model),
        options_(options),
        predictor_(model, options.memory_limit),
        worst_(options.worst) {
    score_.task = model.task;
    if (is_classification()) {
      score_.confusion.resize(model.outputs(), model.outputs());
      score_.confusion.fill(0);
    } else {
      sums_.resize(model.outputs());
    }
  }

  Index rows() const { return score_.rows; }
  void add(RowBlock& block);
  Score finish();

 private:
  bool is_classification() const { return model_.task == Task::classification; }
  void add_class(const RowBlock& block, Index i, Index guess, double weight);
  void add_numbers(const RowBlock& block, Index i, double weight);

  const Model& model_;
  const EvaluateOptions& options_;
  const Predictor predictor_;
  WorstRows worst_;
  Score score_;
  std::vector<TargetSums> sums_;
  std::vector<double> weights_;  // of the rows of a block
  Matrix<double> scores_, variance_;
  double inside_ = 0, log_loss_ = 0;
};

void Scorer::add(RowBlock& block) {
  KERF_REQUIRE(block.targets.cols() == (is_classification() ? 1 : model_.outputs()), data,
               "scoring needs the target, but the rows come without it");
  const bool weighted = options_.weighted && !block.weights.empty();
  weights_.assign(block.rows(), 1.0);
  if (weighted) weights_ = block.weights;
  score_.far_rows += model_.variance ? predictor_.scores(block, scores_, variance_)
                                     : predictor_.scores(block, scores_);
  const auto best = best_class(scores_);
  if (model_.temperature) log_loss_ += log_losses(model_, block, scores_, weights_);
  for (Index i = 0; i < block.rows(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (is_classification())
      add_class(block, i, best[at], weights_[at]);
    else
      add_numbers(block, i, weights_[at]);
    score_.weight += weights_[at];
  }
  score_.rows += block.rows();
}

void Scorer::add_class(const RowBlock& block, Index i, Index guess, double weight) {
  const auto truth = static_cast<Index>(block.targets(i, 0));
  const double label = static_cast<double>(guess);
  score_.confusion(truth, guess) += weight;
  worst_.offer(block, i, score_.rows + i, scores_(i, guess) - scores_(i, truth), {&label, 1});
}

void Scorer::add_numbers(const RowBlock& block, Index i, double weight) {
  for (Index t = 0; model_.variance && t < model_.outputs(); ++t)
    if (std::abs(block.targets(i, t) - scores_(i, t)) <= kInterval90 * std::sqrt(variance_(i, t)))
      inside_ += weight;
  worst_.offer(block, i, score_.rows + i, distance(block.targets.row(i), scores_.row(i)),
               scores_.row(i));
  for (std::size_t t = 0; t < sums_.size(); ++t)
    sums_[t].add(block.targets(i, static_cast<Index>(t)), scores_(i, static_cast<Index>(t)), weight,
                 score_.rows + i == 0);
}

Score Scorer::finish() {
  KERF_REQUIRE(score_.rows > 0, data, "there are no rows to score");
  KERF_REQUIRE(score_.weight > 0 && std::isfinite(score_.weight), data,
               "the weights of the rows to score sum to {}; some must be above 0", score_.weight);
  if (!is_classification()) finish_regression(score_, sums_);
  double right = 0;
  for (Index c = 0; is_classification() && c < model_.outputs(); ++c)
    right += score_.confusion(c, c);
  if (model_.temperature) score_.log_loss = log_loss_ / score_.weight;
  score_.accuracy = right / score_.weight;
  if (model_.variance)
    score_.coverage = inside_ / (score_.weight * static_cast<double>(model_.outputs()));
  score_.worst = worst_.take();
  return std::move(score_);
}

}  // namespace

Score evaluate(const Model& model, RowSource& source, const EvaluateOptions& options,
               const Progress& progress) {
  Scorer scorer(model, options);
  RowBlock block;
  source.rewind();
  while (source.next(block)) {
    scorer.add(block);
    report(progress, "scoring", scorer.rows(), 0);
  }
  return scorer.finish();
}

Score evaluate(const Model& model, RowSource& source, Index memory_limit, const Progress& progress,
               Index worst) {
  return evaluate(model, source, {.memory_limit = memory_limit, .worst = worst}, progress);
}

}  // namespace kerf::detail
