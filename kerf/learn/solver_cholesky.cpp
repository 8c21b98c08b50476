// Sums over rows in one pass, then Cholesky: any number of rows (ridge.h).
//
// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/parallel.h"
#include "kerf/core/require.h"
#include "kerf/learn/lambda_choice.h"
#include "kerf/learn/solver.h"

namespace kerf {
namespace {

/// The pass over the rows: features of each fold's blocks go into that fold's sums.
std::vector<NormalEquations> accumulate(TrainingRows& rows, const FitOptions& options) {
  const Index folds = fold_count(options, rows.rows());
  std::vector<NormalEquations> sums;
  rows.for_each(folds, [&](const TrainingRows::Block& block) {
    const Stopwatch watch(rows.seconds().accumulate);
    if (sums.empty()) {
      const Origin origin = origin_of(block.z, block.y);
      for (Index f = 0; f < folds; ++f) sums.emplace_back(origin, options.precision);
    }
    sums[static_cast<std::size_t>(block.fold)].add(block.z, block.y, block.weights);
  });
  return sums;
}

LinearModel fit(const Problem& problem, TrainingRows& rows, FitReport& outcome) {
  const FitOptions& options = problem.options;
  const auto sums = accumulate(rows, options);
  const Stopwatch watch(rows.seconds().solve);
  if (!options.lambda) {
    auto [choice, model] = choose_lambda(
        sums, {parse_lambda_grid(options.lambda_grid), options.lambda_per_target}, rows.progress());
    outcome.take(std::move(choice));
    outcome.validation = fmt::format("{}-fold cross-validation", sums.size());
    return std::move(model);
  }
  outcome.lambda = *options.lambda;
  report(rows.progress(), "solving", 0, 0);
  std::vector<const NormalEquations*> parts;
  for (const auto& sum : sums) parts.push_back(&sum);
  return solve_ridge(parts, outcome.lambda);
}

Index bytes(const Problem& p) {
  const Index folds = fold_count(p.options, p.rows);
  const Index sums = folds * NormalEquations::bytes(p.features, p.outputs);
  const Index pass = TrainingRows::bytes(p.rows, p.inputs, p.features, p.outputs, folds) +
                     NormalEquations::scratch_bytes(p.options.precision, threads());
  const Index solve = p.options.lambda ? ridge_bytes(p.features, p.outputs)
                                       : lambda_choice_bytes(p.features, p.outputs, folds);
  return p.map_bytes + sums + std::max(pass, solve);
}

double seconds(const Problem& p) {
  const auto n = static_cast<double>(p.rows), m = static_cast<double>(p.features);
  const double gram_speed =
      p.options.precision == Precision::single_ ? speed::kSingle : speed::kDouble / 2;
  const double solves = p.options.lambda ? 1 : 3;
  return feature_pass_seconds(p) + n * m * m / (gram_speed * threads()) +
         solves * m * m * m / 3 / (speed::kDouble * threads());
}

}  // namespace

SolverEntry cholesky_solver() {
  return {Solver::cholesky,
          "sums over rows in one pass, then Cholesky: any number of rows",
          [](const Problem&) { return std::string(); },
          bytes,
          seconds,
          fit};
}

}  // namespace kerf
