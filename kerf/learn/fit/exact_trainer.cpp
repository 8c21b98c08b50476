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

/// A kernel of these options; any number will do for what is "auto".
std::unique_ptr<Kernel> kernel_like(const Params& options) {
  const KernelEntry& entry = find_kernel(exact_kernel_name(options));
  Params params = exact_kernel_params(options);
  for (const OptionInfo& info : entry.options())
    if (info.type == OptionType::automatic)
      if (const auto [own, is_new] = params.try_emplace(info.name, "1"); own->second == "auto")
        own->second = "1";
  return entry.make(params);
}

/// How the matrix is to be solved, and what that takes.
struct ExactPlan {
  ExactRidgeOptions ridge;
  Index bytes = 0;
};

ExactPlan plan_exact(const FitJob& job, const Params& options) {
  const Index n = job.summary.rows, outputs = Targets(job.summary, job.options).outputs();
  const bool quick = is_quick(*kernel_like(options));
  ExactPlan plan;
  ExactRidgeOptions& ridge = plan.ridge;
  ridge.memory_limit = job.memory_limit;
  ridge.lambdas = lambdas_asked(job.options);
  ridge.copies = job.summary.copies;
  ridge.precision = job.options.precision;
  const auto bytes = [&] {
    // The rows as read and as kept; the Gram matrix and what its solution takes.
    return 2 * bytes_of_rows(job.summary, n, job.options.precision) +
           exact_ridge_bytes(n, outputs, quick, ridge) + blas::factor_scratch(n) +
           8 * n * (2 * outputs + 64);
  };
  // Where single precision is not enough the matrix is made again in double, if that keeps to the
  // memory; where it is said to be enough, it must be.
  ridge.may_double = bytes() <= memory_budget(job.memory_limit);
  plan.bytes = bytes();
  return plan;
}

/// The same; Error (memory) if that is more than there is.
ExactPlan required_plan(const FitJob& job, const Params& options) {
  ExactPlan plan = plan_exact(job, options);
  require_memory(plan.bytes, job.memory_limit,
                 fmt::format("the exact kernel of {} rows", job.summary.rows),
                 "take fewer " + spell("rows") + ", a feature map, or raise " + spell("memory"));
  return plan;
}

/// What the user should know about a lambda that was to be chosen.
std::string lambda_warning(const DualSolution& solved) {
  return fmt::format(
      "lambda is the least that single precision allows, {:.2g}: a smaller one may be better, and "
      "takes more {} or fewer {}",
      solved.choice.lambda, spell("memory"), spell("rows"));
}

std::string how_solved(const DualSolution& solved, bool given) {
  if (solved.factors == 0)
    return given ? "Cholesky of the kernel matrix"
                 : "eigenvalues of the kernel matrix: every lambda at once";
  if (given)
    return fmt::format("Cholesky of the kernel matrix in {} precision", name_of(solved.precision));
  return fmt::format(
      "Cholesky of the kernel matrix in {} precision at {} lambda{}, downhill from the best of a "
      "sample",
      name_of(solved.precision), solved.factors, solved.factors == 1 ? "" : "s");
}

void solve(const FitJob& job, const ExactRidgeOptions& ridge, const RowBlock& rows,
           const Targets& encoder, FitResult& result) {
  auto& [model, outcome] = result;
  const PhaseClock watch(outcome.seconds.solve);
  Matrix<double> targets;
  std::vector<double> weights;
  encoder.encode(rows, targets, weights);
  outcome.expected_seconds = matrix_seconds(model, rows.x()) + exact_solve_seconds(job);
  DualSolution solved = fit_exact_ridge(
      exact_kernel_name(model.recipe.options), exact_kernel_params(model.recipe.options), rows.x(),
      targets.view(), weights, ridge, expecting(job.progress, {{"", outcome.expected_seconds}}));
  outcome.solver_reason =
      fmt::format("{}, {} expected", how_solved(solved, job.options.lambda.has_value()),
                  about_seconds(outcome.expected_seconds));
  if (solved.bounded) outcome.warnings.push_back(lambda_warning(solved));
  model.linear = take_left_out(std::move(solved), targets.view(), weights, job.summary.copies,
                               encoder.classification(), job.options, outcome);
  model.rows = copy_of(rows.x());
}

}  // namespace

double exact_solve_seconds(const FitJob& job) {
  const auto n = static_cast<double>(job.summary.rows);
  // A factor, all eigenvalues and vectors, or a few factors, as solver_dual.cpp counts them.
  const double cubes = job.options.lambda ? 1.0 / 3 : job.summary.rows <= kEigenRows ? 9 : 1;
  return cubes * n * n * n / measured_speeds().factor;
}

void check_exact_options(const Params& options) {
  find_kernel(exact_kernel_name(options));
  KERF_REQUIRE(!options.contains("features"), usage, "{} has no {}: its kernel is exact",
               spell("map", "exact"), spell("features"));
  kernel_like(options);
}

Index exact_fit_bytes(const FitJob& job, const Params& options) {
  return plan_exact(job, options).bytes;
}

Index require_exact_memory(const FitJob& job, const Params& options) {
  return required_plan(job, options).bytes;
}

FitResult fit_exact(const FitJob& job, const Params& options) {
  check_exact_options(options);
  check_exact_fit(job);
  FitResult result;
  FitReport& outcome = result.report;
  {
    const Stopwatch watch(outcome.seconds.total);
    const Targets encoder(job.summary, job.options);
    const ExactPlan plan = required_plan(job, options);
    outcome.estimated_memory = plan.bytes;
    outcome.memory_note = memory_note(outcome.estimated_memory, job.memory_limit,
                                      fmt::format("the exact kernel of {} rows", job.summary.rows));
    adopt(plan_model(job.summary, kExactMap, options, job.options), result);
    RowBlock rows;
    {
      const PhaseClock read_watch(outcome.seconds.read);
      rows = read_all(job.source);
      result.model.scaling.apply(rows);
    }
    solve(job, plan.ridge, rows, encoder, result);
  }
  outcome.solver = solver_that(&SolverTraits::among_rows).name;
  describe_model(job.summary, result);
  return result;
}

}  // namespace kerf::detail
