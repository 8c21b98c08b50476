// Fewer rows than features: all features at once, solved among the rows (dual_ridge.h).
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"
#include "kerf/learn/lambda/lambda_choice.h"
#include "kerf/learn/quality/fit_quality.h"
#include "kerf/learn/quality/temperature.h"
#include "kerf/learn/ridge/dual_ridge.h"
#include "kerf/learn/solvers/solver.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

LinearModel fit(const Problem& problem, TrainingRows& rows, FitReport& outcome) {
  const FitOptions& options = problem.options;
  Matrix<float> z(rows.rows(), rows.features());
  Matrix<double> y(rows.rows(), rows.outputs());
  std::vector<double> weights;
  rows.for_each([&](const TrainingRows::Block& block) {
    const Stopwatch watch(rows.seconds().accumulate);
    copy_rows(block.z, z.view().slice(block.first, block.first + block.z.rows));
    copy_rows(block.y, y.view().slice(block.first, block.first + block.z.rows));
    const auto more = block.weights.values();
    weights.insert(weights.end(), more.begin(), more.end());
  });
  const Stopwatch watch(rows.seconds().solve);
  DualFit solved =
      fit_dual_ridge(z.view(), y.view(), weights, lambdas_asked(options), rows.progress());
  outcome.lambda = solved.choice.lambda;
  if (problem.classification) {
    LeftOutScores scores;
    scores.add(solved.left_out.view(), solved.left_out_rows, y.view(), weights);
    outcome.temperature = scores.temperature();
    outcome.quality = accuracy(scores, "leave-one-out");
  } else {
    outcome.quality = explained_left_out(solved.left_out.view(), solved.left_out_rows, y.view(),
                                         weights, "leave-one-out");
  }
  if (!options.lambda) {
    outcome.take(std::move(solved.choice));
    outcome.validation = "leave-one-out";
  }
  return std::move(solved.model);
}

Index bytes(const Problem& p) {
  const Index solve =
      dual_ridge_bytes(p.rows, p.features, p.outputs, lambdas_asked(p.options).size());
  const Index pass = TrainingRows::bytes(p.rows, p.inputs, p.features, p.outputs, 1);
  return p.map_bytes + 4 * p.rows * p.features + std::max(pass, solve) +
         blas::factor_scratch(p.rows);
}

double seconds(const Problem& p) {
  const auto n = static_cast<double>(p.rows), m = static_cast<double>(p.features);
  const double solve = p.options.lambda ? n / 3 : 9 * n;  // one lambda needs no eigenvalues
  return feature_pass_seconds(p) + n * n * (2 * m + solve) / (speed::kDouble * threads());
}

}  // namespace

SolverEntry dual_solver() {
  return {"dual",
          "among the rows, lambda by leave-one-out: fewer rows than features",
          [](const Problem& p) {
            if (p.copies > 1 && !p.options.lambda)
              return std::string("leaves single rows out, but an image's copies would remain");
            if (p.options.loss != Loss::squared) return std::string("is for the squared loss");
            if (p.options.validation == Validation::gcv)
              return std::string("chooses lambda by leave-one-out");
            if (p.options.lambda_per_target)
              return std::string("chooses one lambda for all targets");
            const auto asked = lambdas_asked(p.options);
            if (!asked.empty() && asked.back() == 0) return std::string("needs a positive lambda");
            if (!p.options.lambda && p.rows > blas::kMostEigen)
              return fmt::format("chooses lambda by eigenvalues, of at most {} rows",
                                 blas::kMostEigen);
            return p.rows <= p.features ? std::string()
                                        : std::string("is for fewer rows than features");
          },
          bytes,
          seconds,
          fit,
          {.identity = "2", .among_rows = true, .block_by_block = true}};
}

}  // namespace kerf::detail
