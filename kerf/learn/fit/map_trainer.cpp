// A fit with a feature map: solver.h with all that it is given.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <optional>

#include "kerf/core/require.h"
#include "kerf/core/rows/row_filter.h"
#include "kerf/core/spelling.h"
#include "kerf/features/automatic.h"
#include "kerf/features/learned/fitted_map.h"
#include "kerf/learn/fit/fit_kinds.h"
#include "kerf/learn/quality/data_warnings.h"
#include "kerf/learn/quality/fit_variance.h"
#include "kerf/learn/solvers/fit_memory.h"

namespace kerf::detail {
namespace {

// Sums in double precision take some four times as long: so many features are made again in it where
// lambda, which nobody gave, is beyond single precision.
constexpr Index kFewFeatures = 4096;

/// The summary's; a pass over the rows if somebody made it without one.
std::uint64_t fingerprint_of(const FitJob& job) {
  if (job.summary.fingerprint) return *job.summary.fingerprint;
  RowFingerprint fingerprint;
  RowBlock block;
  Index done = 0;
  job.source.rewind();
  while (job.source.next(block)) {
    fingerprint.add(block);
    report(job.progress, "reading", done += block.rows(), job.summary.rows);
  }
  return fingerprint.value();
}

/// Everything besides the map that the state of a fit depends on.
std::string data_identity(const FitJob& job, const SolverEntry& solver) {
  const DataSummary& summary = job.summary;
  const FitOptions& options = job.options;
  double means = 0, squares = 0;
  for (std::size_t j = 0; j < summary.mean.size(); ++j) {
    means += static_cast<double>(j + 1) * summary.mean[j];
    squares += static_cast<double>(j + 1) * summary.mean_square[j];
  }
  std::string text = fmt::format(
      "{} rows, {} targets, {} classes, {:.17g} {:.17g} {:016x}, {} {} {} {} {} {}", summary.rows,
      summary.targets, summary.classes.size(), means, squares, fingerprint_of(job),
      solver.traits.identity != nullptr ? solver.traits.identity : solver.name,
      fold_count(options, summary.rows), static_cast<int>(options.loss),
      static_cast<int>(options.class_weight), static_cast<int>(options.precision),
      static_cast<int>(options.scale));
  if (options.learned_metric) text += fmt::format(", metric {}", name_of(options.metric));
  return solver.state_identity == nullptr ? text : text + solver.state_identity(options);
}

/// About how many numbers all sparse rows hold; 0: rows are dense.
Index sparse_entries(const DataSummary& summary) {
  if (!summary.is_sparse) return 0;
  const Index sampled = std::max<Index>(1, summary.sample.rows());
  return (summary.sample.sparse.view().nonzeros() / sampled + 1) * summary.rows;
}

/// Says which solver; Error (memory) if it needs more than there is.
SolverChoice take_solver(const FitJob& job, const FeatureMapEntry& entry, const Params& map_options,
                         const Problem& problem, FitReport& outcome) {
  SolverPlan plan = plan_solver(problem);
  require_fit_memory(job, entry, map_options, problem, plan);
  outcome.solver = plan.choice.entry->name;
  outcome.estimated_memory = plan.bytes;
  outcome.memory_note = memory_note(
      plan.bytes, job.memory_limit,
      fmt::format(
          "{}training with {} features{}",
          job.options.solver == kAutoSolver ? "" : spell("solver", plan.choice.entry->name) + ", ",
          problem.features, job.options.variance ? " and variances" : ""));
  return std::move(plan.choice);
}

/// The feature map, and what it learned from the rows (most learn nothing).
struct LearnedMap {
  std::shared_ptr<MapState> state;
  Matrix<float> penalty;  ///< empty: the identity
  std::unique_ptr<FeatureMap> map;
};

LearnedMap learn_map(const FitJob& job, FitResult& result) {
  auto& [model, outcome] = result;
  const PhaseClock watch(outcome.seconds.features);
  ScaledSource scaled(job.source, model.scaling);
  const bool one_solve = solver_traits(outcome.solver).takes_penalty && job.options.lambda;
  LearnedMap learned;
  learned.state = model.recipe.fit(scaled, job.memory_limit, job.progress,
                                   one_solve ? &learned.penalty : nullptr, job.summary.rows);
  learned.map = model.recipe.make(job.memory_limit);
  if (features_are_zero(*learned.map, job.summary, model.scaling))
    outcome.warnings.push_back(zero_features_warning(model.recipe.map));
  return learned;
}

/// The folder that was asked for, and in the model what it is of.
std::optional<Checkpoint> open_checkpoint(const FitJob& job, FitResult& result) {
  if (job.options.checkpoint.empty()) return std::nullopt;
  std::string& identity = result.model.training.identity;
  identity = data_identity(job, find_solver(result.report.solver));
  result.model.training.target_scale = job.summary.target_scale;
  return Checkpoint(job.options.checkpoint, {recipe_identity(result.model.recipe), identity},
                    job.options.checkpoint_interval);
}

/// Sums in double, and a pass that leaves rows out (fit_variance.h).
double variance_seconds(const Problem& p, const Speeds& speeds) {
  const auto n = static_cast<double>(p.rows), m = static_cast<double>(p.features);
  return 2 * (feature_pass_seconds(p, speeds) + n * m * m / speeds.sums_double) +
         factor_seconds(p, speeds);
}

/// Some rows of the sample, as the map is given them.
RowBlock scaled_sample(const DataSummary& summary, const Scaling& scaling) {
  std::vector<Index> rows(std::min<Index>(512, summary.sample.rows()));
  std::iota(rows.begin(), rows.end(), Index{0});
  RowBlock sample = reordered(summary.sample, rows);
  scaling.apply(sample);
  return sample;
}

/// What the fit is expected to take, in the report, and told with its progress.
Progress expect(const FitJob& job, const SolverChoice& choice, const Problem& problem,
                const FeatureMap& map, FitResult& result) {
  constexpr double kNoTime = 0.05;  // seconds, not worth measuring anything
  FitReport& outcome = result.report;
  Speeds speeds = assumed_speeds();
  const double row = feature_row_seconds(map, scaled_sample(job.summary, result.model.scaling).x());
  speeds.feature_row = row;
  const bool measured = choice.entry->seconds(problem, speeds).total() > kNoTime;
  if (measured) speeds = measured_speeds();
  speeds.feature_row = row;
  speeds.read_row = job.summary.seconds / static_cast<double>(job.summary.rows);
  ExpectedSeconds expected = choice.entry->seconds(problem, speeds);
  if (job.options.variance) expected.rest += variance_seconds(problem, speeds);
  if (measured) outcome.expected_seconds = expected.total();
  outcome.solver_reason = reason_for(choice, problem, speeds);
  return expecting(job.progress, {{"features", expected.pass}, {"", expected.rest}});
}

FitResult fit_once(const FitJob& job, const std::string& map, const Params& map_options) {
  const FitOptions& options = job.options;
  const FeatureMapEntry& entry = find_feature_map(map);
  FitResult result;
  Model& model = result.model;
  FitReport& outcome = result.report;
  adopt(plan_model(job.summary, map, map_options, options), result);
  Problem problem = problem_of(job, entry, model.recipe.options);
  if (entry.keeps_rows) problem.entries = sparse_entries(job.summary);
  const SolverChoice choice = take_solver(job, entry, map_options, problem, outcome);
  const LearnedMap learned = learn_map(job, result);
  std::optional<Checkpoint> checkpoint = open_checkpoint(job, result);
  problem.penalty = learned.penalty.rows() > 0 ? &learned.penalty : nullptr;
  problem.checkpoint = checkpoint ? &*checkpoint : nullptr;
  TrainingRows rows(job.source, job.summary, *learned.map, model.scaling, options, outcome.seconds,
                    expect(job, choice, problem, *learned.map, result));
  {
    const PhaseClock watch(outcome.seconds.solve);  // but for what has clocks of its own
    model.linear = choice.entry->fit(problem, rows, outcome);
    if (options.variance) model.variance = fit_variance(rows, outcome.lambda, options.noise);
    if (learned.state) fold_compression(*learned.state, model.linear.weights);
  }
  return result;
}

/// Whether the fit is to be made again in double: single precision was too little for a lambda that the
/// fit chose itself, and twice the digits keep to the memory and take little time.
bool deserves_double(const FitJob& job, const std::string& map, const FitResult& result,
                     const FitOptions& in_double) {
  const FitReport& report = result.report;
  if (!report.wants_double || job.options.lambda || !job.options.checkpoint.empty()) return false;
  const Index features = result.model.linear.weights.rows();
  const FitJob other{job.source, job.summary, in_double, job.memory_limit, job.progress};
  const Problem problem = problem_of(other, find_feature_map(map), result.model.recipe.options);
  return features <= kFewFeatures && plan_solver(problem).bytes <= problem.most;
}

}  // namespace

FitResult fit_map(const FitJob& job, const std::string& map, const Params& map_options) {
  KERF_REQUIRE(find_feature_map(map).fit == nullptr ||
                   (!job.options.variance && job.options.checkpoint.empty()),
               usage,
               "the map {} is learned from the rows and folded into the weights: it has neither "
               "variances nor checkpoints",
               map);
  double total = 0;
  std::optional<Stopwatch> watch(total);
  FitResult result = fit_once(job, map, map_options);
  FitOptions in_double = job.options;
  in_double.precision = Precision::double_;
  if (deserves_double(job, map, result, in_double)) {
    const FitReport::Seconds before = result.report.seconds;
    result = fit_once({job.source, job.summary, in_double, job.memory_limit, job.progress}, map,
                      map_options);
    result.report.seconds.add(before);
    result.report.notes.push_back(
        fmt::format("fitted again with {}: single precision is too little for the lambda that the "
                    "errors ask for",
                    spell("precision", "double")));
  }
  watch.reset();
  result.report.seconds.total = total;
  describe_model(job.summary, result);
  return result;
}

}  // namespace kerf::detail
