// What a fit is asked for, and what it says about itself afterwards.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kerf/core/options.h"
#include "kerf/features/scaling.h"
#include "kerf/learn/map_choice.h"
#include "kerf/learn/normal_equations.h"
#include "kerf/learn/ridge.h"

namespace kerf {

enum class ClassWeight { none, balanced };
inline constexpr const char* kClassWeightNames[] = {"none", "balanced"};

/// automatic: by a cost model (solver.h);  the rest: one file solver_*.cpp each.
enum class Solver { automatic, cholesky, dual, pcg };
inline constexpr const char* kSolverNames[] = {"auto", "cholesky", "dual", "pcg"};

/// What `kerf fit` takes besides the data and the map's own options.
struct FitOptions {
  ScaleKind scale = ScaleKind::automatic;
  Solver solver = Solver::automatic;
  std::optional<double> lambda;
  std::string lambda_grid;
  bool lambda_per_target = false;
  Index folds = 5;
  ClassWeight class_weight = ClassWeight::none;
  Precision precision = Precision::single_;
  Index seed = 1;
  bool variance = false;

  void describe(OptionVisitor& v) {
    v.choice("scale", scale, kScaleNames,
             "how columns are scaled; auto: images unit rows, sparse rms, tables standard");
    v.choice(
        "solver", solver, kSolverNames,
        "how the weights are found; auto: the one expected to be quickest in the memory given");
    v.automatic(
        "lambda", lambda, {0, 1e300},
        "ridge penalty: minimise mean squared error + lambda |w|^2; auto: cross-validation");
    v.text("lambda-grid", lambda_grid,
           "lambdas to choose from, as in 1e-6,1e-5,1e-4 (default: half decades)");
    v.flag("lambda-per-target", lambda_per_target, "choose lambda for each target by itself");
    v.integer("folds", folds, {2, 100}, "folds of the cross-validation that chooses lambda");
    v.choice("class-weight", class_weight, kClassWeightNames,
             "balanced: every class counts the same, however many rows it has");
    v.choice("precision", precision, kPrecisionNames, "arithmetic of the sums over rows");
    v.integer("seed", seed, {0, 9007199254740992.0}, "seed of everything random");
    v.flag("variance", variance,
           "keep what `predict --variance` needs: one more pass, 4 m^2 bytes in the model");
  }
};

struct FitReport {
  struct Seconds {
    double read = 0, features = 0, accumulate = 0, solve = 0, total = 0;
  };
  Seconds seconds;
  double lambda = 0;
  std::vector<double> lambda_per_target;  ///< empty: one for all
  std::optional<double> cv_error;         ///< mean squared error, left out rows; none: lambda given
  std::string validation;                 ///< how cv_error was found, in words
  std::vector<LambdaChoice::Point> path;  ///< lambdas tried
  ScaleKind scale = ScaleKind::none;      ///< what auto came to
  Solver solver = Solver::cholesky;
  std::string solver_reason;            ///< why this one, in words
  Index estimated_memory = 0;           ///< before the fit began
  Index passes = 0;                     ///< over the features after the first; 0: a direct solver
  double residual = 0;                  ///< of an iterative solver, relative and preconditioned
  std::vector<std::string> notes;       ///< how the solver went about it
  std::vector<std::string> warnings;    ///< what the user should know about the result
  std::optional<MapChoice> map_choice;  ///< --map auto: what was tried and why it won
  /// --features auto: every number of features tried.
  struct Growth {
    Index features;
    double cv_error, seconds;
  };
  std::vector<Growth> growth;
  std::string growth_reason;  ///< why it stopped, in words

  void take(LambdaChoice choice) {
    lambda = choice.lambda;
    cv_error = choice.cv_error;
    path = std::move(choice.path);
    lambda_per_target = std::move(choice.per_target);
  }
};

}  // namespace kerf
