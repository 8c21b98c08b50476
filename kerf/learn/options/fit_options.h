// What a fit is asked for besides the data and the map's own options.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kerf/core/options.h"
#include "kerf/core/spelling.h"
#include "kerf/features/scaling.h"

namespace kerf::detail {

/// The map that stands for a choice.
inline constexpr const char* kAutoMap = "auto";

/// Arithmetic of the sums over rows.
enum class Precision { single_, double_ };
constexpr auto names_of(Precision) { return std::array{"single", "double"}; }

enum class Loss { squared, logistic, squared_hinge };
constexpr auto names_of(Loss) { return std::array{"squared", "logistic", "squared-hinge"}; }

enum class ClassWeight { none, balanced };
constexpr auto names_of(ClassWeight) { return std::array{"none", "balanced"}; }

/// The solver that stands for a choice by a model of their cost (solver.h).
inline constexpr const char* kAutoSolver = "auto";
/// It and the names of all solvers, from their table (learn/solvers/solver.cpp).
std::span<const char* const> solver_names();

/// How lambda is chosen: fold_path.h and ridge.h; the other two spectral_path.h.
enum class Validation { folds, gcv, leave_one_out };
constexpr auto names_of(Validation) { return std::array{"folds", "gcv", "leave-one-out"}; }

/// How the noise of --variance is found: fit_variance.h.
enum class Noise { leave_one_out, likelihood };
constexpr auto names_of(Noise) { return std::array{"leave-one-out", "likelihood"}; }

/// Whether predictions come with intervals that rows left out of the fit calibrate: intervals.h.
enum class Intervals { none, conformal };
constexpr auto names_of(Intervals) { return std::array{"none", "conformal"}; }

/// Whether columns, or directions, that matter more count more: learn/metric.
enum class MetricKind { automatic, none, diagonal, full };
constexpr auto names_of(MetricKind) { return std::array{"auto", "none", "diagonal", "full"}; }

enum class Schedule { adagrad, inverse, constant };
constexpr auto names_of(Schedule) { return std::array{"adagrad", "inverse", "constant"}; }

/// Of --solver sgd.
struct SgdOptions {
  bool operator==(const SgdOptions&) const = default;
  Schedule schedule = Schedule::adagrad;
  std::optional<double> learning_rate;
  Index epochs = 20, batch = 256, patience = 2;

  void describe(OptionVisitor& v) {
    v.choice("schedule", schedule,
             "sgd: rates that follow each weight's gradients, fall as 1/(1 + epoch), or stay");
    v.automatic("learning-rate", learning_rate, kAnyPositive,
                "sgd: size of the first steps; auto: the best of five on the first rows");
    v.integer("epochs", epochs, {1, 100000}, "sgd: most passes over the rows");
    v.integer("batch", batch, {1, 1 << 20}, "sgd: rows of a step");
    v.integer("patience", patience, {0, 100000},
              "sgd: epochs without a lower held-out loss before it stops (0: never stops early)");
  }
};

/// What `kerf fit` takes besides the data and the map's own options.
struct FitOptions {
  ScaleKind scale = ScaleKind::automatic;
  bool clip = true;
  MetricKind metric = MetricKind::automatic;
  std::string solver = kAutoSolver;
  Loss loss = Loss::squared;
  std::optional<double> lambda;
  std::string lambda_grid;
  bool lambda_per_target = false;
  Validation validation = Validation::folds;
  Index folds = 5;
  ClassWeight class_weight = ClassWeight::none;
  Precision precision = Precision::single_;
  Index seed = 1;
  bool variance = false;
  Noise noise = Noise::leave_one_out;
  Intervals intervals = Intervals::none;
  std::optional<double> calibration_part;
  std::string checkpoint;
  double checkpoint_interval = 60;
  SgdOptions sgd;
  /// No option: the metric that was learned before the fit; null: none.
  std::shared_ptr<const Metric> learned_metric;
  /// No option: --map auto must come to features, because more rows will follow.
  bool needs_features = false;
  /// No option: a seed of the feature map alone (a transformer in Python has its own); none: seed.
  std::optional<std::uint64_t> map_seed;

  std::uint64_t seed_of_map() const { return map_seed.value_or(static_cast<std::uint64_t>(seed)); }

  void describe(OptionVisitor& v) {
    v.choice(
        "scale", scale,
        "how columns are scaled; auto: images unit rows, tables standard, sparse rows the best "
        "of unit, rms and none on a sample");
    v.flag("clip", clip, "draw numbers outside a column's range in training back to it, smoothly");
    v.choice(
        "metric", metric,
        "weights of columns (diagonal) or directions (full) that are learned from the rows before "
        "the fit; auto: with " +
            spell("map", "auto") + " the best of both and none on rows that judge, else none");
    v.choice(
        "solver", solver, solver_names(),
        "how the weights are found; auto: the one expected to be quickest in the memory given");
    v.choice("loss", loss,
             "squared: regression, and classes by regression; logistic, squared-hinge: classes");
    v.automatic(
        "lambda", lambda, {0, 1e300},
        "ridge penalty: minimise mean squared error + lambda |w|^2; auto: cross-validation");
    v.text("lambda-grid", lambda_grid,
           "lambdas to choose from, as in 1e-6,1e-5,1e-4 (default: half decades)");
    v.flag("lambda-per-target", lambda_per_target, "choose lambda for each target by itself");
    v.choice("validation", validation,
             "error that chooses lambda: left-out folds; generalised cross-validation, from the "
             "sums; or exact leave-one-out, with one more pass");
    v.integer("folds", folds, {2, 100}, "folds of the cross-validation that chooses lambda");
    v.choice("class-weight", class_weight,
             "balanced: every class counts the same, however many rows it has");
    v.choice(
        "precision", precision,
        "arithmetic of the sums over rows; of " + spell("map", "exact") + " also its dense rows");
    v.integer("seed", seed, {0, 9007199254740992.0}, "seed of everything random");
    v.flag("variance", variance,
           "keep what variances of predictions need: two more passes, 4 m^2 bytes in the model");
    v.choice("noise", noise,
             "of " + spell_on("variance") +
                 ": intervals that fit rows left out, or maximum marginal likelihood");
    v.choice("intervals", intervals,
             "conformal: rows left out of the fit say how large errors are, for intervals (sets of "
             "classes) that hold at any level asked for later");
    v.automatic(
        "calibration-part", calibration_part, {0.001, 0.9},
        "of " + spell("intervals", "conformal") +
            ": part of the training rows that is left out; auto: 0.2, at most about 100,000 "
            "rows");
    v.text("checkpoint", checkpoint,
           "folder that a fit goes on from when it was killed; keeps the sums for kerf refit");
    v.real("checkpoint-interval", checkpoint_interval, {0, 1e6}, "seconds between checkpoints");
    sgd.describe(v);
  }
};

}  // namespace kerf::detail
