// The kinds of fit that fit() (trainer.h) hands over to.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/learn/fit/model_plan.h"
#include "kerf/learn/fit/trainer.h"
#include "kerf/learn/options/fit_job.h"

namespace kerf::detail {

/// A feature map with a number of features: solver.h.
FitResult fit_map(const FitJob& job, const std::string& map, const Params& map_options);

/// --map exact: kernel ridge regression on the Gram matrix of all rows (exact_ridge.h).
FitResult fit_exact(const FitJob& job, const Params& options);
/// Memory of such a fit, and the same with Error (memory) if that is more than there is.
Index exact_fit_bytes(const FitJob& job, const Params& options);
Index require_exact_memory(const FitJob& job, const Params& options);
/// What it takes once its matrix is there.
double exact_solve_seconds(const FitJob& job);
/// Wrong names and values, before any work.
void check_exact_options(const Params& options);

/// A sample of the rows in random order, scaled, with their weights and what the regression is trained on.
struct ChoiceSample {
  RowBlock rows;
  Matrix<double> targets;
};
ChoiceSample sample_for_choice(const FitJob& job, Index count, const Scaling& scaling,
                               double& read_seconds);

/// --map auto: the metric by metric_fit.h, the map by map_choice.h, then a fit with both.
FitResult fit_chosen_map(const FitJob& job, const Params& map_options);
/// The choice alone, of a map with features.
MapChoice choose_feature_map(const FitJob& job, const Params& map_options);

/// --features auto: as many features as cross-validation asks for.
///
///   m = 512, 1024, ... until the error falls by less than 1 % from one m to the next, m reaches
///   16,384 or the next fit would not fit the memory; the best of the fits is the result.
///
/// Cost: at most 4/3 of the last fit (time grows at least linearly, and as m^2 for large m).
FitResult fit_growing(const FitJob& job, const std::string& map, const Params& map_options);
/// Whether the options ask for that.
bool wants_growth(const Params& map_options);

/// Options that contradict each other: Error (usage).
void check_fit_options(const FitOptions& options);

/// Error (data) if no fit in double can hold the squares of such targets.
void check_target_scale(const DataSummary& summary);
/// Weights, variances and errors of scaled targets to those of the targets themselves.  Error
/// (numeric) if a weight is not finite.
void restore_targets(std::span<const double> scale, FitResult& result);

/// Takes the plan into the model, and what it came to into the report.
void adopt(ModelPlan plan, FitResult& result);
/// Task, classes, shape of the rows and the training record of a finished fit.
void describe_model(const DataSummary& summary, FitResult& result);
/// For that record: what was asked for, in words that outlive the files they may name.
FitRequest request_of(const std::string& map, Params map_options, const FitOptions& options,
                      Index memory_limit);
/// The map as checkpoints know it.
std::string recipe_identity(const Recipe& recipe);
/// Into how many folds the rows of a model were to be sorted.
Index folds_asked(const Model& model, const FitOptions& options);
/// How lambda was found, for that record.
void record_lambda(const FitReport& outcome, TrainingRecord& training);

}  // namespace kerf::detail
