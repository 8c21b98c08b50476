// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/evaluate.h"

#include <cmath>

#include "kerf/core/require.h"

namespace kerf {
namespace {

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

}  // namespace

Score evaluate(const Model& model, RowSource& source, Index memory_limit,
               const Progress& progress) {
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
  Matrix<double> scores;
  source.rewind();
  while (source.next(block)) {
    KERF_REQUIRE(block.targets.cols() == (classification ? 1 : model.outputs()), data,
                 "scoring needs the target, but the rows come without it");
    predictor.scores(block, scores);
    const auto best = best_class(scores);
    for (Index i = 0; i < block.rows(); ++i) {
      if (classification) {
        score.confusion(static_cast<Index>(block.targets(i, 0)),
                        best[static_cast<std::size_t>(i)]) += 1;
        continue;
      }
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
  score.accuracy = right / static_cast<double>(score.rows);
  return score;
}

}  // namespace kerf
