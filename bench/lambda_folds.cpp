// The choice of lambda by fold_path.h against one Cholesky for each fold, on one table.
//
//   lambda_folds FILE regression|classification MAP FEATURES ROWS     (ROWS 0: all)
//
// Prints JSON: rows, lambdas chosen, the largest relative difference of errors, seconds of each
// way.  bench/lambda_folds.py runs it on many tables.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <limits>

#include "kerf/io/dataset/dataset.h"
#include "kerf/learn/fit/trainer.h"
#include "kerf/learn/lambda/lambda_choice.h"
#include "kerf/learn/rows/training_rows.h"

namespace kerf::detail {
namespace {

std::vector<NormalEquations> fold_sums(Dataset& data, const Model& model) {
  const FitOptions options;
  FitReport::Seconds seconds;
  const Progress silent;
  const auto map = model.recipe.make();
  TrainingRows rows(*data.source, data.summary, *map, model.scaling, options, seconds, silent);
  std::vector<NormalEquations> sums;
  rows.for_each(options.folds, [&](const TrainingRows::Block& block) {
    if (sums.empty()) {
      const Origin origin = origin_of(block.z, block.y);
      for (Index f = 0; f < options.folds; ++f) sums.emplace_back(origin, options.precision);
    }
    sums[block.fold].add(block.z, block.y, block.weights);
  });
  return sums;
}

void compare(const std::string& file, const std::string& task, const std::string& map,
             const std::string& features, Index most_rows) {
  DataOptions read{.task = task == "regression" ? DataOptions::TaskChoice::regression
                                                : DataOptions::TaskChoice::classification};
  read.rows = most_rows;
  Dataset data = open_dataset({file}, read, rng::Key{1});
  FitOptions fixed;
  fixed.lambda = 1e-2;  // only for the map and the scaling
  fixed.solver = "cholesky";
  const FitResult fitted = fit(*data.source, data.summary, map, {{"features", features}}, fixed);
  const auto sums = fold_sums(data, fitted.model);

  double by_path = 0, by_folds = 0, worst = 0;
  LambdaChoice choice;
  {
    const Stopwatch watch(by_path);
    choice = choose_lambda(sums, {}, {}).choice;
  }
  double best = 0, least = std::numeric_limits<double>::infinity();
  for (const auto& point : choice.path) {
    const Stopwatch watch(by_folds);
    double error = 0;
    for (const double of_target : cross_validation_errors(sums, point.lambda))
      error += of_target / static_cast<double>(sums.front().targets());
    if (error < least) least = error, best = point.lambda;
    worst = std::max(worst, std::abs(point.cv_error / error - 1));
  }
  fmt::print(
      "{{\"rows\": {}, \"features\": {}, \"lambda\": {:.4g}, \"of_folds\": {:.4g}, "
      "\"difference\": {:.1e}, \"lambdas\": {}, \"seconds\": {:.2f}, \"seconds_of_folds\": "
      "{:.2f}}}\n",
      data.summary.rows, sums.front().features(), choice.lambda, best, worst, choice.path.size(),
      by_path, by_folds);
}

}  // namespace
}  // namespace kerf::detail

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: lambda_folds FILE regression|classification MAP FEATURES ROWS\n");
    return 2;
  }
  try {
    kerf::detail::compare(argv[1], argv[2], argv[3], argv[4], std::stoll(argv[5]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lambda_folds: %s\n", error.what());
    return 1;
  }
}
