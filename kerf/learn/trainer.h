// From a stream of rows to a trained model: one pass over the features.
//
//   read -> scale -> sort rows into folds -> features -> normal equations -> choose lambda -> solve
//
// Memory does not depend on the number of rows: estimate_memory() says how much, before work
// starts.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kerf/core/data_summary.h"
#include "kerf/core/progress.h"
#include "kerf/learn/ridge.h"
#include "kerf/model/model.h"

namespace kerf {

enum class ClassWeight { none, balanced };
inline constexpr const char* kClassWeightNames[] = {"none", "balanced"};

/// What `kerf fit` takes besides the data and the map's own options.
struct FitOptions {
  ScaleKind scale = ScaleKind::automatic;
  std::optional<double> lambda;
  Index folds = 5;
  ClassWeight class_weight = ClassWeight::none;
  Precision precision = Precision::single_;
  Index seed = 1;

  void describe(OptionVisitor& v) {
    v.choice("scale", scale, kScaleNames,
             "how columns are scaled; auto: images unit rows, sparse rms, tables standard");
    v.automatic(
        "lambda", lambda, {0, 1e300},
        "ridge penalty: minimise mean squared error + lambda |w|^2; auto: cross-validation");
    v.integer("folds", folds, {2, 100}, "folds of the cross-validation that chooses lambda");
    v.choice("class-weight", class_weight, kClassWeightNames,
             "balanced: every class counts the same, however many rows it has");
    v.choice("precision", precision, kPrecisionNames, "arithmetic of the sums over rows");
    v.integer("seed", seed, {0, 9007199254740992.0}, "seed of everything random");
  }
};

/// The default feature map of a fit.
inline constexpr const char* kDefaultMap = "arccos";

/// cholesky: normal equations, k-fold cross-validation;  dual: among the rows, leave-one-out.
enum class Solver { cholesky, dual };
inline constexpr const char* kSolverNames[] = {"cholesky", "dual"};

/// The dual when there are no more rows than features.
Solver choose_solver(Index features, Index rows);

struct FitReport {
  struct Seconds {
    double read = 0, features = 0, accumulate = 0, solve = 0, total = 0;
  };
  Seconds seconds;
  double lambda = 0;
  std::optional<double> cv_error;         ///< mean squared error, left out rows; none: lambda given
  std::vector<LambdaChoice::Point> path;  ///< lambdas tried
  ScaleKind scale = ScaleKind::none;      ///< what auto came to
  Solver solver = Solver::cholesky;
  Index estimated_memory = 0;  ///< before the fit began

  void take(LambdaChoice choice) {
    lambda = choice.lambda;
    cv_error = choice.cv_error;
    path = std::move(choice.path);
  }
};

struct FitResult {
  Model model;
  FitReport report;
};

/// Peak memory that a fit adds to the process: features m, input columns, outputs, folds.
Index estimate_memory(const Recipe& recipe, Index features, Index outputs, Index rows,
                      const FitOptions& options);

/// Trains the map `map` with `map_options` on the source (which is rewound first).
/// `memory_limit` 0: what is available.
FitResult fit(RowSource& source, const DataSummary& summary, const std::string& map,
              const Params& map_options, const FitOptions& options, Index memory_limit = 0,
              const Progress& progress = {});

}  // namespace kerf
