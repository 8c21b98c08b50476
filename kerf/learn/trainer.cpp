// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/trainer.h"

#include <algorithm>
#include <optional>

#include "kerf/core/memory.h"
#include "kerf/core/require.h"
#include "kerf/core/version.h"
#include "kerf/features/automatic.h"
#include "kerf/features/fitted_map.h"
#include "kerf/learn/fit_kinds.h"
#include "kerf/learn/fit_variance.h"
#include "kerf/learn/solver.h"

namespace kerf {
namespace {

void check_rows(const DataSummary& summary) {
  KERF_REQUIRE(summary.rows >= 2, data, "training needs at least 2 rows, not {}", summary.rows);
  KERF_REQUIRE(summary.targets >= 1, usage, "training needs a target column");
  KERF_REQUIRE(summary.weight > 0, data, "all rows have weight 0");
  KERF_REQUIRE(summary.task == Task::regression || summary.classes.size() >= 2, data,
               "every row has the same class{}: there is nothing to learn",
               summary.classes.empty() ? "" : " '" + summary.classes[0] + "'");
}

std::string recipe_identity(const Recipe& recipe) {
  std::string text = fmt::format("{} {} {}", recipe.map, recipe.seed, recipe.in_dim);
  for (const auto& [name, value] : recipe.options) text += " " + name + "=" + value;
  return text;
}

/// Everything besides the map that the state of a fit depends on.
std::string data_identity(const DataSummary& summary, const FitOptions& options, Solver solver) {
  double means = 0, squares = 0, targets = 0, weights = summary.weight;
  for (std::size_t j = 0; j < summary.mean.size(); ++j) {
    means += static_cast<double>(j + 1) * summary.mean[j];
    squares += static_cast<double>(j + 1) * summary.mean_square[j];
  }
  const RowBlock& sample = summary.sample;
  for (Index i = 0; i < sample.rows(); ++i) {
    const auto place = static_cast<double>(i + 1);
    for (Index t = 0; t < sample.targets.cols(); ++t)
      targets += (place + static_cast<double>(t)) * sample.targets(i, t);
    if (!sample.weights.empty()) weights += place * sample.weights[static_cast<std::size_t>(i)];
  }
  std::string text = fmt::format(
      "{} rows, {} targets, {} classes, {:.17g} {:.17g} {:.17g} {:.17g}, {} {} {} {} {} {}",
      summary.rows, summary.targets, summary.classes.size(), means, squares, targets, weights,
      static_cast<int>(solver), fold_count(options, summary.rows), static_cast<int>(options.loss),
      static_cast<int>(options.class_weight), static_cast<int>(options.precision),
      static_cast<int>(options.scale));
  // Its weights at any moment depend on these; those of the other solvers are found anew.
  if (solver == Solver::sgd)
    text += fmt::format(", {:.17g} {} {} {} {:.17g}", options.lambda.value_or(0), options.folds,
                        options.sgd.batch, static_cast<int>(options.sgd.schedule),
                        options.sgd.learning_rate.value_or(0));
  return text;
}

}  // namespace

FitResult fit_map(const FitJob& job, const std::string& map, const Params& map_options) {
  const auto& [source, summary, options, memory_limit, progress] = job;
  const FeatureMapEntry& entry = find_feature_map(map);
  KERF_REQUIRE(entry.fit == nullptr || (!options.variance && options.checkpoint.empty()), usage,
               "the map {} is learned from the rows and folded into the weights: it has neither "
               "variances nor checkpoints",
               map);
  FitResult result;
  Model& model = result.model;
  FitReport& outcome = result.report;
  {
    const Stopwatch watch(outcome.seconds.total);
    const auto infos = entry.options();
    outcome.scale = resolve_scale(options.scale, summary, infos);
    model.scaling = make_scaling(outcome.scale, summary);
    model.recipe = {map,
                    entry.complete(resolve_automatic(infos, map_options, summary, model.scaling)),
                    static_cast<std::uint64_t>(options.seed), summary.cols};
    const Index features = std::stoll(model.recipe.options.at("features"));
    Problem problem{summary.rows,
                    summary.cols,
                    features,
                    Targets(summary, options).outputs(),
                    entry.bytes(summary.cols, model.recipe.options),
                    memory_limit > 0 ? memory_limit : available_memory(),
                    options,
                    summary.task == Task::classification,
                    nullptr,
                    summary.copies};
    const SolverChoice choice = choose_solver(problem);
    outcome.solver = choice.entry->solver;
    outcome.solver_reason = choice.reason;
    outcome.estimated_memory = choice.entry->bytes(problem);
    if (options.variance)
      outcome.estimated_memory = std::max(
          outcome.estimated_memory,
          problem.map_bytes + variance_bytes(features, problem.outputs) +
              TrainingRows::bytes(summary.rows, summary.cols, features, problem.outputs, 1));
    require_memory(outcome.estimated_memory, memory_limit,
                   fmt::format("training with {} features", features),
                   "take fewer --features, a fixed --lambda, or raise --memory");
    std::shared_ptr<MapState> learned;
    Matrix<float> penalty;
    const auto feature_map = [&] {
      const Stopwatch features_watch(outcome.seconds.features);
      // Not by the names bound above: clang 14 does not capture these.
      ScaledSource scaled(job.source, model.scaling);
      const bool one_solve = outcome.solver == Solver::cholesky && job.options.lambda;
      learned =
          model.recipe.fit(scaled, job.memory_limit, job.progress, one_solve ? &penalty : nullptr);
      return model.recipe.make(job.memory_limit);
    }();
    std::optional<Checkpoint> checkpoint;
    if (!options.checkpoint.empty())
      checkpoint.emplace(options.checkpoint,
                         Checkpoint::Identity{recipe_identity(model.recipe),
                                              data_identity(summary, options, outcome.solver)},
                         options.checkpoint_interval);
    problem.penalty = penalty.rows() > 0 ? &penalty : nullptr;
    problem.checkpoint = checkpoint ? &*checkpoint : nullptr;
    TrainingRows rows(source, summary, *feature_map, model.scaling, options, outcome.seconds,
                      progress);
    model.linear = choice.entry->fit(problem, rows, outcome);
    if (options.variance) model.variance = fit_variance(rows, outcome.lambda, options.noise);
    model.temperature = outcome.temperature;
    if (learned) fold_compression(*learned, model.linear.weights);
  }
  describe_model(job, result);
  return result;
}

void describe_model(const FitJob& job, FitResult& result) {
  auto& [model, outcome] = result;
  const DataSummary& summary = job.summary;
  model.task = summary.task;
  model.classes = summary.classes;
  model.image = summary.image;
  model.is_sparse = summary.is_sparse;
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

FitResult fit(RowSource& source, const DataSummary& summary, const std::string& map,
              const Params& map_options, const FitOptions& options, Index memory_limit,
              const Progress& progress) {
  check_rows(summary);
  KERF_REQUIRE(!options.variance || (summary.task == Task::regression && map != kExactMap), usage,
               "--variance is for regression with a feature map");
  KERF_REQUIRE(options.variance || options.noise == Noise::leave_one_out, usage,
               "--noise is that of --variance: give both");
  KERF_REQUIRE(!options.variance || options.noise == Noise::likelihood || summary.copies == 1,
               usage,
               "--noise leave-one-out leaves single rows out, but an image's copies would remain: "
               "take --noise likelihood");
  KERF_REQUIRE(!options.variance || !options.lambda_per_target, usage,
               "--variance is that of one lambda for all targets: leave --lambda-per-target out");
  KERF_REQUIRE(map != kExactMap || (options.loss == Loss::squared && options.checkpoint.empty()),
               usage, "map exact has the squared loss only, and keeps no checkpoints");
  KERF_REQUIRE(options.checkpoint.empty() || !wants_growth(map_options), usage,
               "--features auto fits several sizes: a checkpoint is of one, so give --features N");
  const FitJob job{source, summary, options, memory_limit, progress};
  if (map == kAutoMap) return fit_chosen_map(job, map_options);
  if (map == kExactMap) return fit_exact(job, map_options);
  if (wants_growth(map_options)) return fit_growing(job, map, map_options);
  return fit_map(job, map, map_options);
}

FitResult refit(Model model, const FitOptions& options, const Progress& progress) {
  FitResult result{std::move(model), {}};
  FitReport& outcome = result.report;
  {
    const Stopwatch watch(outcome.seconds.total);
    const Checkpoint kept(options.checkpoint, {recipe_identity(result.model.recipe), ""}, 1e9);
    LinearModel solved =
        solve_kept_sums(kept, result.model.training.rows, options, progress, outcome);
    KERF_REQUIRE(solved.weights.rows() == result.model.linear.weights.rows() &&
                     solved.intercept.size() == result.model.linear.intercept.size(),
                 data, "the sums in {} are of {} outputs, the model has {}", options.checkpoint,
                 solved.intercept.size(), result.model.outputs());
    KERF_REQUIRE(!result.model.variance, usage,
                 "the model's variances are those of its own lambda: fit it again with --lambda");
    result.model.linear = std::move(solved);
    result.model.temperature.reset();
  }
  record_lambda(outcome, result.model.training);
  return result;
}

}  // namespace kerf
