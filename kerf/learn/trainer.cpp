// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/trainer.h"

#include "kerf/core/memory.h"
#include "kerf/core/require.h"
#include "kerf/core/version.h"
#include "kerf/features/automatic.h"
#include "kerf/features/fitted_map.h"
#include "kerf/learn/fit_kinds.h"
#include "kerf/learn/solver.h"

namespace kerf {
namespace {

void check_rows(const DataSummary& summary) {
  KERF_REQUIRE(summary.rows >= 2, data, "training needs at least 2 rows, not {}", summary.rows);
  KERF_REQUIRE(summary.targets >= 1, usage, "training needs a target column");
  KERF_REQUIRE(summary.task == Task::regression || summary.classes.size() >= 2, data,
               "every row has the same class{}: there is nothing to learn",
               summary.classes.empty() ? "" : " '" + summary.classes[0] + "'");
}

}  // namespace

FitResult fit_map(const FitJob& job, const std::string& map, const Params& map_options) {
  const auto& [source, summary, options, memory_limit, progress] = job;
  const FeatureMapEntry& entry = find_feature_map(map);
  FitResult result;
  Model& model = result.model;
  FitReport& outcome = result.report;
  {
    const Stopwatch watch(outcome.seconds.total);
    outcome.scale = resolve_scale(options.scale, summary);
    model.scaling = make_scaling(options.scale, summary);
    const auto infos = entry.options();
    model.recipe = {map,
                    entry.complete(resolve_automatic(infos, map_options, summary, model.scaling)),
                    static_cast<std::uint64_t>(options.seed), summary.cols};
    const Index features = std::stoll(model.recipe.options.at("features"));
    const Problem problem{summary.rows,
                          summary.cols,
                          features,
                          Targets(summary, options).outputs(),
                          entry.bytes(summary.cols, model.recipe.options),
                          memory_limit > 0 ? memory_limit : available_memory(),
                          options,
                          summary.copies};
    const SolverChoice choice = choose_solver(problem);
    outcome.solver = choice.entry->solver;
    outcome.solver_reason = choice.reason;
    outcome.estimated_memory = choice.entry->bytes(problem);
    require_memory(outcome.estimated_memory, memory_limit,
                   fmt::format("training with {} features", features),
                   "take fewer --features, a fixed --lambda, or raise --memory");
    std::shared_ptr<MapState> learned;
    const auto feature_map = [&] {
      const Stopwatch features_watch(outcome.seconds.features);
      ScaledSource scaled(source, model.scaling);
      learned = model.recipe.fit(scaled, memory_limit, progress);
      return model.recipe.make(memory_limit);
    }();
    TrainingRows rows(source, summary, *feature_map, model.scaling, options, outcome.seconds,
                      progress);
    model.linear = choice.entry->fit(problem, rows, outcome);
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
  const Index folds = outcome.solver == Solver::dual ? summary.rows : job.options.folds;
  model.training = {version(),
                    "",
                    summary.rows,
                    outcome.lambda,
                    outcome.cv_error.value_or(0),
                    outcome.cv_error ? folds : 0};
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
  const FitJob job{source, summary, options, memory_limit, progress};
  if (map == kAutoMap) return fit_chosen_map(job, map_options);
  if (map == kExactMap) return fit_exact(job, map_options);
  if (wants_growth(map_options)) return fit_growing(job, map, map_options);
  return fit_map(job, map, map_options);
}

}  // namespace kerf
