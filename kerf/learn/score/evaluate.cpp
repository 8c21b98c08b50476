// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/score/evaluate.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "kerf/core/require.h"
#include "kerf/learn/score/class_scores.h"
#include "kerf/learn/score/interval_scores.h"
#include "kerf/learn/score/rank_scores.h"
#include "kerf/learn/score/target_scores.h"

namespace kerf::detail {
namespace {

void finish_regression(Score& score, const std::vector<TargetTotals>& totals) {
  double error = 0, size = 0, varying = 0;
  for (const TargetTotals& target : totals) {
    score.targets.push_back(target.finish(score.weight));
    error += target.squared_error();
    if (target.spread(score.weight) > 0) score.r2 += score.targets.back().r2, varying += 1;
    size += target.squared_size();
  }
  score.mse = error / (score.weight * static_cast<double>(totals.size()));
  score.rmse = std::sqrt(score.mse);
  if (varying > 0) score.r2 /= varying;  // the mean of those that vary
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

double distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t t = 0; t < a.size(); ++t) sum += (a[t] - b[t]) * (a[t] - b[t]);
  return std::sqrt(sum);
}

/// Share of all targets inside their normal 90 % interval.
std::optional<double> coverage90(const Score& score) {
  double inside = 0;
  bool has_some = false;
  for (const TargetScore& target : score.targets)
    for (const IntervalScore& one : target.intervals)
      if (one.kind == name_of(IntervalKind::normal) && one.promised == 0.9)
        inside += one.coverage, has_some = true;
  if (!has_some) return std::nullopt;
  return inside / static_cast<double>(score.targets.size());
}

/// Puts blocks of rows together to a score.
class Scorer {
 public:
  Scorer(const Model& model, const EvaluateOptions& options)
      : model_(model),
        options_(options),
        predictor_(model, options.memory_limit),
        worst_(options.worst),
        intervals_(model) {
    score_.task = model.task;
    if (is_classification()) {
      score_.confusion.resize(model.outputs(), model.outputs());
      score_.confusion.fill(0);
    } else {
      totals_.resize(model.outputs());
    }
  }

  Index rows() const { return score_.rows; }
  void add(RowBlock& block);
  Score finish();

 private:
  bool is_classification() const { return model_.task == Task::classification; }
  void add_class(const RowBlock& block, Index i, Index guess, double weight);
  void add_probabilities(const RowBlock& block, std::span<const Index> best);
  void add_numbers(const RowBlock& block, Index i, double weight);

  const Model& model_;
  const EvaluateOptions& options_;
  const Predictor predictor_;
  WorstRows worst_;
  IntervalTotals intervals_;
  Score score_;
  std::vector<TargetTotals> totals_;
  KeptRows<RankedRow> ranked_;
  CalibrationBins calibration_;
  std::vector<double> weights_;  // of the rows of a block
  Matrix<double> scores_, variance_, probabilities_;
  double log_loss_ = 0;
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
  if (is_classification())
    add_probabilities(block, best);
  else
    intervals_.add_numbers(scores_, variance_, block.targets, weights_);
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

/// Log loss, where p is taken to be at least 1e-15, as elsewhere, calibration and sets.
void Scorer::add_probabilities(const RowBlock& block, std::span<const Index> best) {
  Matrix<double>& p = probabilities_ = scores_.copy();
  to_probabilities(model_, p);
  intervals_.add_classes(p, best, block.targets, weights_);
  if (!model_.temperature) return;
  for (Index i = 0; i < p.rows(); ++i) {
    const auto truth = static_cast<Index>(block.targets(i, 0));
    log_loss_ -= weights_[i] * std::log(std::max(p(i, truth), 1e-15));
    calibration_.add(p(i, best[i]), best[i] == truth, weights_[i]);
  }
}

void Scorer::add_class(const RowBlock& block, Index i, Index guess, double weight) {
  const auto truth = static_cast<Index>(block.targets(i, 0));
  const double label = static_cast<double>(guess);
  score_.confusion(truth, guess) += weight;
  if (model_.outputs() == 2)
    ranked_.add(score_.rows + i, {scores_(i, 1) - scores_(i, 0), weight, truth == 1});
  if (guess != truth)
    worst_.offer(block, i, score_.rows + i, 1 - probabilities_(i, truth), {&label, 1});
}

void Scorer::add_numbers(const RowBlock& block, Index i, double weight) {
  worst_.offer(block, i, score_.rows + i, distance(block.targets.row(i), scores_.row(i)),
               scores_.row(i));
  for (Index t = 0; t < model_.outputs(); ++t)
    totals_[t].add(score_.rows + i, block.targets(i, t), scores_(i, t), weight);
}

Score Scorer::finish() {
  KERF_REQUIRE(score_.rows > 0, data, "there are no rows to score");
  KERF_REQUIRE(score_.weight > 0 && std::isfinite(score_.weight), data,
               "the weights of the rows to score sum to {}; some must be above 0", score_.weight);
  if (is_classification())
    finish_classes(score_);
  else
    finish_regression(score_, totals_);
  const auto has_rows = [](const ClassScore& one) { return one.weight > 0; };
  if (score_.classes.size() == 2 && std::ranges::all_of(score_.classes, has_rows))
    score_.ranking = rank_score(ranked_.values());
  if (model_.temperature) {
    score_.log_loss = log_loss_ / score_.weight;
    score_.calibration = calibration_.finish();
  }
  intervals_.finish(score_.weight, score_);
  score_.coverage = coverage90(score_);
  score_.worst = worst_.take();
  return std::move(score_);
}

}  // namespace

Score evaluate(const Model& model, RowSource& source, const EvaluateOptions& options,
               const Progress& progress) {
  Scorer scorer(model, options);
  const Progress step = expecting(progress, {{"scoring"}});
  RowBlock block;
  source.rewind();
  while (source.next(block)) {
    scorer.add(block);
    report(step, "scoring", scorer.rows(), rows_expected(source, scorer.rows()));
  }
  return scorer.finish();
}

Score evaluate(const Model& model, RowSource& source, Index memory_limit, const Progress& progress,
               Index worst) {
  return evaluate(model, source, {.memory_limit = memory_limit, .worst = worst}, progress);
}

}  // namespace kerf::detail
