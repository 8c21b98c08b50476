// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/fit/trainer.h"

#include <algorithm>
#include <optional>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/memory.h"
#include "kerf/core/version.h"
#include "kerf/features/automatic.h"
#include "kerf/features/learned/fitted_map.h"
#include "kerf/features/linear_features.h"
#include "kerf/learn/choice/map_choice.h"
#include "kerf/learn/choice/sparse_choice.h"
#include "kerf/learn/fit/fit_kinds.h"
#include "kerf/learn/fit/metric_fit.h"
#include "kerf/learn/quality/data_warnings.h"
#include "kerf/learn/quality/fit_quality.h"
#include "kerf/learn/quality/fit_variance.h"
#include "kerf/learn/solvers/fit_memory.h"
#include "kerf/learn/solvers/fold_sums.h"

namespace kerf::detail {
namespace {

void check_rows(const DataSummary& summary) {
  KERF_REQUIRE(summary.rows >= 2, data, "training needs at least 2 rows, not {}", summary.rows);
  KERF_REQUIRE(summary.targets >= 1, usage, "training needs a target column");
  KERF_REQUIRE(summary.weight > 0, data, "all rows have weight 0");
  KERF_REQUIRE(summary.task == Task::regression || summary.classes.size() >= 2, data,
               "every row has the same class{}: there is nothing to learn",
               summary.classes.empty() ? "" : " '" + summary.classes[0] + "'");
}

/// Rows that nothing can be learned from, and options that do not go with them, with the map or with
/// each other.
void check_fit(const DataSummary& summary, const std::string& map, const Params& map_options,
               const FitOptions& options) {
  check_rows(summary);
  check_fit_options(options);
  KERF_REQUIRE(!options.variance || (summary.task == Task::regression && map != kExactMap), usage,
               "{} is for regression with a feature map", spell_on("variance"));
  KERF_REQUIRE(options.variance || options.noise == Noise::leave_one_out, usage,
               "{} is that of {}: give both", spell("noise"), spell_on("variance"));
  KERF_REQUIRE(!options.variance || options.noise == Noise::likelihood || summary.copies == 1,
               usage, "{} leaves single rows out, but an image's copies would remain: take {}",
               spell("noise", "leave-one-out"), spell("noise", "likelihood"));
  KERF_REQUIRE(!options.variance || !options.lambda_per_target, usage,
               "{} is that of one lambda for all targets: leave {} out", spell_on("variance"),
               spell_on("lambda-per-target"));
  KERF_REQUIRE(!options.calibration_part || options.intervals == Intervals::conformal, usage,
               "{} is that of {}: give both", spell("calibration-part"),
               spell("intervals", "conformal"));
  KERF_REQUIRE(map != kExactMap || (options.loss == Loss::squared && options.checkpoint.empty()),
               usage, "map exact has the squared loss only, and keeps no checkpoints");
  KERF_REQUIRE(options.checkpoint.empty() || !wants_growth(map_options), usage,
               "{} fits several sizes: a checkpoint is of one, so give {} N",
               spell("features", "auto"), spell("features"));
  check_metric(summary, options);
  check_target_scale(summary);
}

/// The options with what suits sparse rows, where something is to be chosen: their scale, or whether
/// a linear model does (with a given scale too).
struct Settled {
  FitOptions options;
  SparseChoice sparse;
};

Settled settle_sparse(const DataSummary& summary, const std::string& map, const FitOptions& options,
                      const Progress& progress) {
  const bool may_be_linear = map == kAutoMap && summary.is_sparse && !summary.image.present();
  Settled settled{options, {}};
  if (!may_be_linear && !wants_sparse_choice(summary, options)) return settled;
  settled.sparse = choose_for_sparse(summary, options, progress);
  settled.options.scale = settled.sparse.scale;
  return settled;
}

FitResult fit_kind(const FitJob& job, const std::string& map, const Params& map_options,
                   const SparseChoice& sparse) {
  if (map == kAutoMap) {
    if (auto linear = prefers_linear(job, map_options, sparse)) {
      FitResult result = fit_map(job, LinearFeatures::kName, {});
      result.report.map_choice = std::move(linear);
      return result;
    }
    return fit_chosen_map(job, map_options);
  }
  if (map == kExactMap) return fit_exact(job, map_options);
  if (wants_growth(map_options)) return fit_growing(job, map, map_options);
  return fit_map(job, map, map_options);
}

/// What a kind of fit leaves to do: targets as they were given, and words about data and result.
void finish_fit(const FitJob& job, const SparseChoice& sparse, FitResult& result) {
  FitReport& report = result.report;
  const std::string& checkpoint = job.options.checkpoint;
  if (!sparse.note.empty()) report.notes.push_back(sparse.note);
  if (!checkpoint.empty() && !solver_traits(report.solver).keeps_sums)
    report.notes.push_back(
        fmt::format("solver {} keeps no sums in {}: kerf refit needs a fit with {}", report.solver,
                    checkpoint, spell("solver", solver_that(&SolverTraits::keeps_sums).name)));
  restore_targets(job.summary.target_scale, result);
  const auto extremes = [&] {
    const PhaseClock watch(report.seconds.read);
    return extremes_of(job.source);
  };
  warn_about_data(job.summary, extremes, report);
  judge_fit(result, job.options.class_weight);
}

}  // namespace

std::string recipe_identity(const Recipe& recipe) {
  std::string text = fmt::format("{} {} {}", recipe.map, recipe.seed, recipe.in_dim);
  for (const auto& [name, value] : recipe.options) text += fmt::format(" {}={}", name, value);
  return text;
}

Index folds_asked(const Model& model, const FitOptions& options) {
  const Params& asked = model.training.asked.fit_options;  // models of before have none
  const auto folds = asked.find("folds");
  const auto number = folds != asked.end() ? parse_number(folds->second) : std::nullopt;
  return number && *number >= 2 ? static_cast<Index>(*number) : options.folds;
}

FitRequest request_of(const std::string& map, Params map_options, const FitOptions& options,
                      Index memory_limit) {
  // A file that an option names need not be there when the model is loaded.
  std::vector<OptionInfo> options_of_map;
  if (map == kExactMap)
    options_of_map = find_kernel(exact_kernel_name(map_options)).options();
  else if (map != kAutoMap)
    options_of_map = find_feature_map(map).options();
  return {map,
          load_files(options_of_map, std::move(map_options)),
          write_options(options),
          options.map_seed,
          {},
          memory_limit};
}

void check_fit_options(const FitOptions& options) {
  KERF_REQUIRE(!options.lambda || options.lambda_grid.empty(), usage,
               "{} is given and {} is to choose from: take one of them", spell("lambda"),
               spell("lambda-grid"));
  check_solver_options(options);
}

void check_fit_memory(const FitJob& job, const std::string& map, const Params& map_options) {
  if (map == kExactMap) {
    require_exact_memory(job, map_options);
    return;
  }
  Params options = map_options;
  std::string name = map;
  if (map == kAutoMap) {  // any candidate: they differ little
    const Scaling scaling = make_scaling(job.options.scale, job.summary);  // any metric
    const MapCandidate any =
        map_candidates(map_options, job.summary, scaling, may_learn_map(job.options)).front();
    name = any.map;
    for (const auto& [option, value] : any.options) options[option] = value;
  }
  const FeatureMapEntry& entry = find_feature_map(name);
  const Problem problem = problem_of(job, entry, entry.complete(options));
  require_fit_memory(job, entry, options, problem, plan_solver(problem));
}

void adopt(ModelPlan plan, FitResult& result) {
  result.report.scale = plan.scale;
  result.model.scaling = std::move(plan.scaling);
  result.model.recipe = std::move(plan.recipe);
}

void describe_model(const DataSummary& summary, FitResult& result) {
  auto& [model, outcome] = result;
  model.task = summary.task;
  model.classes = summary.classes;
  model.image = summary.image;
  model.is_sparse = summary.is_sparse;
  model.temperature = outcome.temperature;
  model.training.version = version();
  model.training.rows = summary.rows;
  record_lambda(outcome, model.training);
}

void record_lambda(const FitReport& outcome, TrainingRecord& training) {
  training.lambda = outcome.lambda;
  training.cv_error = outcome.cv_error;
  training.validation = outcome.cv_error ? outcome.validation : "";
  training.metric = outcome.cv_error ? outcome.metric : "";
}

void check_map_options(const std::string& map, const Params& map_options) {
  if (map == kExactMap) return check_exact_options(map_options);
  if (map == kAutoMap) return;  // which options there are depends on the data
  Params options = map_options;
  if (wants_growth(options)) options.erase("features");
  find_feature_map(map).complete(options);
}

std::string idle_option(const std::string& map, const Params& given) {
  if (map == kAutoMap || map == kExactMap) return "";  // the data decide; has none
  const FeatureMapEntry& entry = find_feature_map(map);
  Params numbers = given;
  numbers.erase("features");  // may be auto
  const Params complete = entry.complete(numbers);
  for (const auto& [name, value] : given)
    if (const std::string why = why_idle(entry.options(), name, complete); !why.empty())
      return fmt::format("{} would have no effect: {}", spell(name, value), why);
  return "";
}

FitResult fit(RowSource& source, const DataSummary& summary, const std::string& map,
              const Params& map_options, const FitOptions& options, Index memory_limit,
              const Progress& progress) {
  check_fit(summary, map, map_options, options);
  double total = 0, choosing = 0;
  std::optional<Stopwatch> watch(total);
  std::optional<PhaseClock> phase(choosing);
  const Settled settled = settle_sparse(summary, map, options, progress);
  phase.reset();
  FitOptions known = settled.options;
  const FitJob job{source, summary, known, memory_limit, progress};
  const MetricOutcome learned = map == kAutoMap ? MetricOutcome{} : metric_for_map(job);
  known.learned_metric = learned.metric;
  FitResult result = fit_kind(job, map, map_options, settled.sparse);
  take_metric_report(learned, result);
  result.model.training.asked = request_of(map, map_options, options, memory_limit);
  finish_fit(job, settled.sparse, result);
  result.report.seconds.choose += choosing;
  watch.reset();
  result.report.seconds.total = total;
  return result;
}

FitResult refit(Model model, const FitOptions& options, const Progress& progress) {
  check_fit_options(options);
  FitResult result{std::move(model), {}};
  FitReport& outcome = result.report;
  outcome.solver = solver_that(&SolverTraits::keeps_sums).name;
  {
    const Stopwatch watch(outcome.seconds.total);
    // Models of before do not say what rows they are of.
    const Checkpoint kept(options.checkpoint,
                          {recipe_identity(result.model.recipe), result.model.training.identity},
                          1e9);
    const bool classes = result.model.task == Task::classification;
    const FoldSums sums =
        load_fold_sums(kept, result.model.training.rows, folds_asked(result.model, options));
    const PhaseClock solve_watch(outcome.seconds.solve);
    LinearModel solved = solve_fold_sums(sums, classes, options, progress, outcome);
    if (classes && !outcome.temperature)
      outcome.warnings.emplace_back(
          "the folder holds no rows to calibrate probabilities by: those of this model are its "
          "scores; fit again with " +
          spell("checkpoint"));
    KERF_REQUIRE(solved.weights.rows() == result.model.linear.weights.rows() &&
                     solved.intercept.size() == result.model.linear.intercept.size(),
                 data, "the sums in {} are of {} outputs, the model has {}", options.checkpoint,
                 solved.intercept.size(), result.model.outputs());
    KERF_REQUIRE(!result.model.variance, usage,
                 "the model's variances are those of its own lambda: fit it again with {}",
                 spell("lambda"));
    KERF_REQUIRE(!result.model.conformal, usage,
                 "the model's intervals are calibrated for its own lambda: fit it again with {}",
                 spell("lambda"));
    result.model.linear = std::move(solved);
    result.model.temperature = outcome.temperature;
  }
  Params& asked = result.model.training.asked.fit_options;
  const Params now = write_options(options);
  for (const char* name : {"lambda", "lambda-grid", "lambda-per-target", "validation"})
    if (asked.contains(name)) asked[name] = now.at(name);
  restore_targets(result.model.training.target_scale, result);
  judge_fit(result, options.class_weight);
  return result;
}

}  // namespace kerf::detail
