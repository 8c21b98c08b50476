// Fewer rows than features: all features at once, solved among the rows (dual_ridge.h).
//
// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/solvers/solver_dual.h"

#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"
#include "kerf/learn/lambda/lambda_choice.h"
#include "kerf/learn/quality/left_out.h"
#include "kerf/learn/ridge/dual_ridge.h"
#include "kerf/learn/solvers/solver.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

LinearModel fit(const Problem& problem, TrainingRows& rows, FitReport& outcome) {
  FeatureRows all{Matrix<float>(rows.rows(), rows.features()),
                  Matrix<double>(rows.rows(), rows.outputs()),
                  {},
                  problem.copies};
  rows.for_each([&](const TrainingRows::Block& block) {
    const PhaseClock watch(rows.seconds().accumulate);
    copy_rows(block.z, all.z.view().slice(block.first, block.first + block.z.rows));
    copy_rows(block.y, all.y.view().slice(block.first, block.first + block.z.rows));
    const auto more = block.weights.values();
    all.weights.insert(all.weights.end(), more.begin(), more.end());
  });
  const PhaseClock watch(rows.seconds().solve);
  return solve_dual(all, problem.classification, problem.options, rows.progress(), outcome);
}

Index bytes(const Problem& p) {
  const Index solve =
      dual_ridge_bytes(p.rows, p.features, p.outputs, lambdas_asked(p.options).size());
  const Index pass = TrainingRows::bytes(p.rows, p.inputs, p.features, p.outputs, 1);
  return p.map_bytes + 4 * p.rows * p.features + std::max(pass, solve) +
         blas::factor_scratch(p.rows);
}

ExpectedSeconds seconds(const Problem& p, const Speeds& s) {
  const auto n = static_cast<double>(p.rows), m = static_cast<double>(p.features);
  // One lambda needs no eigenvalues, and many rows take a few factors (kernel_walk.h).
  const double solve = p.options.lambda ? n / 3 : p.rows <= kEigenRows ? 9 * n : n;
  return {feature_pass_seconds(p, s), n * n * (2 * m + solve) / s.factor};
}

}  // namespace

LinearModel solve_dual(const FeatureRows& rows, bool classification, const FitOptions& options,
                       const Progress& progress, FitReport& outcome) {
  return take_left_out(fit_dual_ridge(rows.z.view(), rows.y.view(), rows.weights,
                                      lambdas_asked(options), rows.copies, progress),
                       rows.y.view(), rows.weights, rows.copies, classification, options, outcome);
}

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
            return p.rows <= p.features ? std::string()
                                        : std::string("is for fewer rows than features");
          },
          bytes,
          seconds,
          fit,
          {.identity = "2", .among_rows = true, .block_by_block = true}};
}

}  // namespace kerf::detail
