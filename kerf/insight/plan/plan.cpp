// SPDX-License-Identifier: Apache-2.0
#include "kerf/insight/plan/plan.h"

#include <algorithm>
#include <limits>
#include <map>

#include "kerf/api/error.h"
#include "kerf/core/require.h"
#include "kerf/core/rows/holdout.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/memory.h"
#include "kerf/core/system/parallel.h"
#include "kerf/features/automatic.h"
#include "kerf/insight/measure/kernel_quality.h"
#include "kerf/insight/plan/size_search.h"
#include "kerf/learn/fit/trainer.h"
#include "kerf/learn/score/evaluate.h"
#include "kerf/learn/solvers/fit_memory.h"

namespace kerf::detail {
namespace {

constexpr Index kFirstFeatures = 32;
constexpr Index kFewRows = 1024;  // features that are tried however few the rows are
constexpr double kDefaultLambda = 1e-4;

/// Which of the three is asked for, and how much.
std::pair<PlanGoal, double> goal_of(const PlanOptions& options) {
  const double targets[] = {options.epsilon, options.kernel_error, options.validation_error};
  const auto asked = std::ranges::count_if(targets, [](double t) { return t > 0; });
  KERF_REQUIRE(asked == 1, usage, "a plan needs one target: {}, {} or {}", spell("epsilon"),
               spell("kernel-error"), spell("validation-error"));
  const auto at = std::ranges::find_if(targets, [](double t) { return t > 0; }) - targets;
  return {static_cast<PlanGoal>(at), targets[at]};
}

/// Whether the map can have so many features.
bool possible(const SampledMap& map, Index features) {
  try {
    map.options(features);
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    return false;
  }
}

/// The first size that the map accepts: 32, fewer if no more are allowed, or up to 4,096.
Index first_size(const SampledMap& map, Index most) {
  for (Index m = std::min(kFirstFeatures, most / 2 * 2);; m *= 2) {
    try {
      map.features(m, 0);
      return m;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage || m >= 4096) throw;
    }
  }
}

/// `lambda`: of the fit that is planned; none: chosen by it.
FitOptions fit_options(const PlanOptions& options, std::optional<double> lambda,
                       std::uint64_t seed) {
  FitOptions fit;
  fit.scale = options.scale;
  fit.lambda = lambda;
  fit.seed = static_cast<Index>(seed);
  return fit;
}

/// The error of a fit on the rows that it did not see: as `kerf fit --holdout --seed`.  `dead`: whether
/// all its features are 0.
double validation_error(RowSource& source, const DataSummary& summary, const std::string& map,
                        const Params& map_options, const PlanOptions& options, std::uint64_t seed,
                        Index memory_limit, const Progress& progress, bool& dead) {
  const rng::Key key{seed};
  Holdout split(source, summary, options.holdout, key.child("holdout"), progress);
  const FitResult fitted = fit(split.training, split.summary, map, map_options,
                               fit_options(options, options.lambda, seed), memory_limit, progress);
  dead = std::ranges::count(fitted.report.warnings, zero_features_warning(map)) > 0;
  const Score score = evaluate(fitted.model, split.held_out, memory_limit);
  return score.task == Task::classification ? 1 - score.accuracy : 1 - score.r2;
}

/// Everything that a plan is made from.
class Planner {
 public:
  Planner(RowSource& source, const DataSummary& summary, const std::string& map,
          const Params& map_options, const PlanOptions& options, Index memory_limit,
          const Progress& progress)
      : source_(source),
        summary_(summary),
        map_options_(map_options),
        options_(options),
        memory_limit_(memory_limit),
        progress_(progress),
        map_(source, summary, map, map_options, {options.sample, options.seed, options.scale},
             memory_limit, progress) {
    std::tie(plan_.goal, plan_.target) = goal_of(options);
    plan_.lambda = options.lambda;
    if (!plan_.lambda && plan_.goal != PlanGoal::validation_error) plan_.lambda = kDefaultLambda;
    // An error of the kernel is not one at a lambda: the fit may choose its own.
    plan_.fit_lambda = plan_.goal == PlanGoal::epsilon ? plan_.lambda : options.lambda;
    plan_.map = map;
    plan_.rows = summary.rows;
    plan_.cols = summary.cols;
    plan_.sample = sample_rows();
    KERF_REQUIRE(plan_.goal != PlanGoal::validation_error || summary.targets >= 1, usage,
                 "a validation error needs a target column: say which with {}", spell("target"));
  }

  Plan run() {
    if (plan_.goal != PlanGoal::validation_error) {
      exact_.emplace(*map_.kernel(), map_.rows(), ridge(), progress_);
      plan_.statistical_dimension = exact_->statistical_dimension();
    }
    SizeSearch search;
    search.target = plan_.target;
    search.first = first_size(map_, most());
    search.most = most();
    search.possible = [&](Index m) { return possible(map_, m); };
    search.may_level_off = plan_.goal == PlanGoal::validation_error;
    search.measure = [&](Index m) { return measure(m); };
    SizeSearchResult found = search_size(search);
    for (auto& size : found.sizes)
      plan_.sizes.push_back({size.features, std::move(size.values), size.limit});
    plan_.features = found.features;
    plan_.extrapolated = found.extrapolated;
    plan_.slope = found.slope;
    plan_.reason = found.reason;
    plan_.warnings = dead_.warnings(plan_.map);
    refuse_dead_answer();
    const Index answer = plan_.features.value_or(plan_.sizes.back().features);
    plan_.options = map_.options(answer);
    add_bounds();
    add_costs();
    return std::move(plan_);
  }

 private:
  Index sample_rows() const { return map_.rows().rows(); }

  /// Features that are all 0 may be within the target, and are nothing to recommend: no size is, unless
  /// larger maps than the dead ones were measured, at or below it.
  void refuse_dead_answer() {
    if (!plan_.features) return;
    Index nearest = plan_.sizes.front().features;
    for (const auto& size : plan_.sizes)
      if (size.features <= *plan_.features) nearest = std::max(nearest, size.features);
    const Index dead = dead_.largest();
    if (dead < nearest) return;
    plan_.features.reset();
    plan_.extrapolated = false;
    plan_.reason = fmt::format(
        "maps of {} features may have features that are all 0 on these rows: such a map "
        "tells nothing apart, whatever its error",
        dead);
  }

  /// Fits of more features than rows take longer than one with the kernel itself, and are no better.
  Index most() const {
    return exact_ ? options_.most : std::min(options_.most, std::max(kFewRows, summary_.rows));
  }

  double ridge() const {
    return plan_.lambda.value_or(kDefaultLambda) * static_cast<double>(sample_rows());
  }

  std::vector<double> measure(Index m) {
    if (exact_)
      require_memory(ExactSide::bytes(sample_rows(), m), memory_limit_,
                     fmt::format("measuring {} features on {} rows", m, sample_rows()),
                     "take a smaller " + spell("sample") + " or " + spell("most") + ", or raise " +
                         spell("memory"));
    std::vector<double> values;
    for (Index s = 0; s < options_.seeds; ++s) {
      const std::string stage = fmt::format("measuring {} features", m);
      report(progress_, stage, s, options_.seeds, "seeds");
      values.push_back(value(m, static_cast<std::uint64_t>(options_.seed + used_seeds_++),
                             counting(progress_, stage, s, options_.seeds, "seeds")));
    }
    return values;
  }

  /// `progress`: of whole fits, where the goal needs them.
  double value(Index m, std::uint64_t seed, const Progress& progress) {
    if (plan_.goal == PlanGoal::validation_error) {
      Params params = map_options_;
      params["features"] = std::to_string(m);
      if (!feature_seconds_.contains(m)) map_.features(m, seed, &feature_seconds_[m]);
      bool dead = false;
      const double error = validation_error(source_, summary_, plan_.map, params, options_, seed,
                                            memory_limit_, progress, dead);
      dead_.add(m, dead);
      return error;
    }
    double seconds = 0;
    const Matrix<float> z = map_.features(m, seed, &seconds);
    dead_.add(m, z.view());
    const auto kept = feature_seconds_.try_emplace(m, seconds).first;
    kept->second = std::min(kept->second, seconds);
    const auto quality = exact_->compare(z.view()).spectral;
    return plan_.goal == PlanGoal::epsilon ? quality.epsilon : quality.relative_frobenius;
  }

  void add_bounds() {
    BoundInputs in;
    in.map = plan_.map;
    in.options = plan_.options;
    in.goal = plan_.goal;
    in.target = plan_.target;
    in.delta = options_.delta;
    if (!exact_) {  // theory knows the rows only
      in.rows = summary_.rows;
      plan_.bounds = published_bounds(in);
      return;
    }
    in.rows = sample_rows();
    const auto found = plan_.options.find("bias");
    const double bias = found == plan_.options.end() ? 0 : parse_number(found->second).value_or(0);
    in.cols = summary_.cols + (bias != 0 ? 1 : 0);
    in.ridge = ridge();
    in.trace = exact_->trace();
    in.frobenius = exact_->frobenius();
    in.statistical_dimension = exact_->statistical_dimension();
    in.rows_norm_squared = squared_norm_of_rows(map_.rows(), bias);
    plan_.bounds = published_bounds(in);
  }

  void add_costs() {
    std::vector<Index> sizes;
    for (const auto& size : plan_.sizes) sizes.push_back(size.features);
    if (plan_.features) sizes.push_back(*plan_.features);
    std::ranges::sort(sizes);
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    const auto& [largest, seconds] = *feature_seconds_.rbegin();
    for (const Index m : sizes) {
      const auto measured = feature_seconds_.find(m);
      const double all = measured != feature_seconds_.end()
                             ? measured->second
                             : seconds * static_cast<double>(m) / static_cast<double>(largest);
      Speeds speeds = measured_speeds();
      speeds.feature_row = all / static_cast<double>(sample_rows());
      speeds.read_row = summary_.seconds / static_cast<double>(summary_.rows);
      plan_.costs.push_back(fit_cost(summary_, map_.entry(), map_.options(m),
                                     fit_options(options_, plan_.fit_lambda, 1), speeds,
                                     memory_limit_));
    }
  }

  RowSource& source_;
  const DataSummary& summary_;
  const Params& map_options_;
  const PlanOptions& options_;
  Index memory_limit_;
  const Progress& progress_;
  SampledMap map_;
  std::optional<ExactSide> exact_;  // for errors of the kernel
  Index used_seeds_ = 0;
  DeadMaps dead_;
  std::map<Index, double> feature_seconds_;  // of the sample, by number of features
  Plan plan_;
};

}  // namespace

FitCost fit_cost(const DataSummary& summary, const FeatureMapEntry& map, const Params& options,
                 const FitOptions& fit, const Speeds& speeds, Index memory_limit) {
  const Problem problem = problem_of(summary, map, options, fit, memory_limit);
  const SolverChoice choice = choose_solver(problem);
  return {problem.features, choice.entry->seconds(problem, speeds).total(),
          choice.entry->bytes(problem), choice.entry->name};
}

Plan make_plan(RowSource& source, const DataSummary& summary, const std::string& map,
               const Params& map_options, const PlanOptions& options, Index memory_limit,
               const Progress& progress) {
  goal_of(options);  // before any work
  double seconds = 0;
  Plan plan;
  {
    const Stopwatch watch(seconds);
    const Index n = std::min(options.sample, summary.rows);
    if (options.validation_error == 0)
      require_memory(ExactSide::bytes(n, kFirstFeatures), memory_limit,
                     fmt::format("comparing kernel matrices of {} rows", n),
                     "take a smaller " + spell("sample") + " or raise " + spell("memory"));
    plan = Planner(source, summary, map, map_options, options, memory_limit, progress).run();
  }
  plan.seconds = seconds;
  return plan;
}

}  // namespace kerf::detail
