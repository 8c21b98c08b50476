// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/evaluate.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "kerf/core/require.h"

namespace kerf {
namespace {

constexpr double kInterval90 = 1.6448536269514722;  // quantile 0.95 of N(0, 1)

/// Running sums of one regression target, around its first value.
struct TargetSums {
  double origin = 0, sum = 0, squares = 0, raw_squares = 0, error = 0;

  void add(double target, double predicted, bool first) {
    if (first) origin = target;
    sum += target - origin;
    squares += (target - origin) * (target - origin);
    raw_squares += target * target;
    error += (target - predicted) * (target - predicted);
  }
};

void finish_regression(Score& score, const std::vector<TargetSums>& targets) {
  double error = 0, spread = 0, size = 0;
  const auto n = static_cast<double>(score.rows);
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
  explicit WorstRows(Index count) : count_(static_cast<std::size_t>(count)) {}

  void offer(Index row, double error, std::span<const double> target,
             std::span<const double> predicted) {
    if (!(error > 0) || count_ == 0) return;
    if (rows_.size() == count_ && error <= rows_.back().error) return;
    if (rows_.size() == count_) rows_.pop_back();
    const auto place = std::ranges::upper_bound(rows_, error, std::greater{}, &WorstRow::error);
    rows_.insert(
        place, {row, error, {target.begin(), target.end()}, {predicted.begin(), predicted.end()}});
  }
  std::vector<WorstRow> take() { return std::move(rows_); }

 private:
  std::size_t count_;
  std::vector<WorstRow> rows_;  // largest error first
};

/// Sum over rows of -log p(right class); p is taken to be at least 1e-15, as elsewhere.
double log_losses(const Model& model, const RowBlock& block, const Matrix<double>& scores) {
  Matrix<double> p(scores.rows(), scores.cols());
  std::copy_n(scores.data(), scores.rows() * scores.cols(), p.data());
  to_probabilities(model, p);
  double sum = 0;
  for (Index i = 0; i < p.rows(); ++i)
    sum -= std::log(std::max(p(i, static_cast<Index>(block.targets(i, 0))), 1e-15));
  return sum;
}

double distance(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t t = 0; t < a.size(); ++t) sum += (a[t] - b[t]) * (a[t] - b[t]);
  return std::sqrt(sum);
}

}  // namespace

Score evaluate(const Model& model, RowSource& source, Index memory_limit, const Progress& progress,
               Index worst_count) {
  WorstRows worst(worst_count);
  const Predictor predictor(model, memory_limit);
  Score score;
  score.task = model.task;
  const bool classification = model.task == Task::classification;
  std::vector<TargetSums> sums(classification ? 0 : static_cast<std::size_t>(model.outputs()));
  if (classification) {
    score.confusion.resize(model.outputs(), model.outputs());
    score.confusion.fill(0);
  }
  RowBlock block;
  Matrix<double> scores, variance;
  Index inside = 0;
  double log_loss = 0;
  source.rewind();
  while (source.next(block)) {
    KERF_REQUIRE(block.targets.cols() == (classification ? 1 : model.outputs()), data,
                 "scoring needs the target, but the rows come without it");
    if (model.variance)
      predictor.scores(block, scores, variance);
    else
      predictor.scores(block, scores);
    const auto best = best_class(scores);
    if (model.temperature) log_loss += log_losses(model, block, scores);
    for (Index i = 0; i < block.rows(); ++i) {
      const Index row = score.rows + i;
      if (classification) {
        const auto truth = static_cast<Index>(block.targets(i, 0));
        const Index guess = best[static_cast<std::size_t>(i)];
        const double label = static_cast<double>(guess);
        score.confusion(truth, guess) += 1;
        worst.offer(row, scores(i, guess) - scores(i, truth), block.targets.row(i), {&label, 1});
        continue;
      }
      for (Index t = 0; model.variance && t < model.outputs(); ++t)
        inside +=
            std::abs(block.targets(i, t) - scores(i, t)) <= kInterval90 * std::sqrt(variance(i, t));
      worst.offer(row, distance(block.targets.row(i), scores.row(i)), block.targets.row(i),
                  scores.row(i));
      for (std::size_t t = 0; t < sums.size(); ++t)
        sums[t].add(block.targets(i, static_cast<Index>(t)), scores(i, static_cast<Index>(t)),
                    score.rows + i == 0);
    }
    score.rows += block.rows();
    report(progress, "scoring", score.rows, 0);
  }
  KERF_REQUIRE(score.rows > 0, data, "there are no rows to score");
  if (!classification) finish_regression(score, sums);
  double right = 0;
  for (Index c = 0; classification && c < model.outputs(); ++c) right += score.confusion(c, c);
  if (model.temperature) score.log_loss = log_loss / static_cast<double>(score.rows);
  score.accuracy = right / static_cast<double>(score.rows);
  if (model.variance)
    score.coverage =
        static_cast<double>(inside) / static_cast<double>(score.rows * model.outputs());
  score.worst = worst.take();
  return score;
}

}  // namespace kerf
