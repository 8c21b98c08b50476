// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/memory.h"
#include "kerf/kernels/gram/gram.h"
#include "kerf/learn/fit/fit_kinds.h"
#include "kerf/learn/fit/model_plan.h"
#include "kerf/learn/lambda/lambda_choice.h"
#include "kerf/learn/quality/left_out.h"
#include "kerf/learn/ridge/exact_at_lambda.h"
#include "kerf/learn/ridge/exact_ridge.h"
#include "kerf/learn/rows/training_rows.h"
#include "kerf/learn/solvers/fit_memory.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

/// What --map exact has not.
void check_exact_fit(const FitJob& job) {
  KERF_REQUIRE(job.options.validation != Validation::gcv, usage,
               "{} is for feature maps: {} leaves one row out", spell("validation", "gcv"),
               spell("map", "exact"));
  KERF_REQUIRE(!job.options.lambda_per_target, usage, "{} chooses one lambda for all targets",
               spell("map", "exact"));
  KERF_REQUIRE(job.options.solver == kAutoSolver || solver_traits(job.options.solver).among_rows,
               usage, "{} is for feature maps: {} solves among the rows",
               spell("solver", job.options.solver), spell("map", "exact"));
  KERF_REQUIRE(job.summary.copies == 1 || job.options.lambda, usage,
               "{} leaves single rows out, but an image's copies would remain: give {}, or take a "
               "feature map",
               spell("map", "exact"), spell("lambda"));
}

/// The kernel matrix: as long as that of some of the rows, measured.
double matrix_seconds(const Model& model, const RowsView& rows) {
  constexpr Index kSome = 128;
  const Index count = std::min(kSome, rows.rows());
  const auto kernel = find_kernel(exact_kernel_name(model.recipe.options))
                          .make(exact_kernel_params(model.recipe.options));
  Matrix<double> matrix(count, count);
  double seconds = 0;
  {
    const Stopwatch watch(seconds);
    gram<double>(*kernel, rows.slice(0, count), rows.slice(0, count), matrix.view());
  }
  const double times = static_cast<double>(rows.rows()) / static_cast<double>(count);
  return seconds * times * times;
}

void solve(const FitJob& job, const RowBlock& rows, const Targets& encoder, FitResult& result) {
  auto& [model, outcome] = result;
  const PhaseClock watch(outcome.seconds.solve);
  Matrix<double> targets;
  std::vector<double> weights;
  encoder.encode(rows, targets, weights);
  ExactRidgeOptions ridge;
  ridge.memory_limit = job.memory_limit;
  ridge.lambdas = lambdas_asked(job.options);
  ridge.copies = job.summary.copies;
  outcome.expected_seconds = matrix_seconds(model, rows.x()) + exact_solve_seconds(job);
  DualSolution solved = fit_exact_ridge(
      exact_kernel_name(model.recipe.options), exact_kernel_params(model.recipe.options), rows.x(),
      targets.view(), weights, ridge, expecting(job.progress, {{"", outcome.expected_seconds}}));
  model.linear = take_left_out(std::move(solved), targets.view(), weights, job.summary.copies,
                               encoder.classification(), job.options, outcome);
  model.rows = copy_of(rows.x());
}

}  // namespace

double exact_solve_seconds(const FitJob& job) {
  const auto n = static_cast<double>(job.summary.rows);
  // A factor, or all eigenvalues and vectors, as solver_dual.cpp counts them.
  return n * n * n * (job.options.lambda ? 1.0 / 3 : 9) / measured_speeds().factor;
}

void check_exact_options(const Params& options) {
  const KernelEntry& entry = find_kernel(exact_kernel_name(options));
  KERF_REQUIRE(!options.contains("features"), usage, "{} has no {}: its kernel is exact",
               spell("map", "exact"), spell("features"));
  Params params = exact_kernel_params(options);
  for (const OptionInfo& info : entry.options())  // any number will do for a check
    if (info.type == OptionType::automatic)
      if (const auto [own, is_new] = params.try_emplace(info.name, "1"); own->second == "auto")
        own->second = "1";
  entry.make(params);
}

Index exact_fit_bytes(const FitJob& job) {
  const Index n = job.summary.rows, outputs = Targets(job.summary, job.options).outputs();
  // The rows as read and as kept; the Gram matrix and what its solution takes.
  return 2 * bytes_of_rows(job.summary, n, job.options.precision) +
         bytes_per_element(job.options.lambda ? 1 : 2) * n * n + blas::factor_scratch(n) +
         8 * n * (5 * outputs + 64 + kLeftOutRows);
}

Index require_exact_memory(const FitJob& job) {
  const Index n = job.summary.rows, bytes = exact_fit_bytes(job);
  KERF_REQUIRE(job.options.lambda || n <= blas::kMostEigen, memory,
               "the exact kernel of {} rows chooses lambda by eigenvalues, of at most {} rows: "
               "give {}, or take a feature map",
               n, blas::kMostEigen, spell("lambda"));
  require_memory(bytes, job.memory_limit, fmt::format("the exact kernel of {} rows", n),
                 "take fewer " + spell("rows") + ", a feature map, or raise " + spell("memory"));
  return bytes;
}

FitResult fit_exact(const FitJob& job, const Params& options) {
  check_exact_options(options);
  check_exact_fit(job);
  FitResult result;
  FitReport& outcome = result.report;
  {
    const Stopwatch watch(outcome.seconds.total);
    const Targets encoder(job.summary, job.options);
    outcome.estimated_memory = require_exact_memory(job);
    outcome.memory_note = memory_note(outcome.estimated_memory, job.memory_limit,
                                      fmt::format("the exact kernel of {} rows", job.summary.rows));
    adopt(plan_model(job.summary, kExactMap, options, job.options), result);
    RowBlock rows;
    {
      const PhaseClock read_watch(outcome.seconds.read);
      rows = read_all(job.source);
      result.model.scaling.apply(rows);
    }
    solve(job, rows, encoder, result);
  }
  outcome.solver = solver_that(&SolverTraits::among_rows).name;
  outcome.solver_reason =
      fmt::format("{}, {} expected",
                  job.options.lambda ? "Cholesky of the kernel matrix"
                                     : "eigenvalues of the kernel matrix: every lambda at once",
                  about_seconds(outcome.expected_seconds));
  describe_model(job.summary, result);
  return result;
}

}  // namespace kerf::detail
