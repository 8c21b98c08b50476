// From a stream of rows to a trained model.
//
//   summary -> scaling, recipe of the map -> a solver (solver.h) -> model
//
// The memory of every solver is known before work starts, and too much is refused.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kerf/core/data_summary.h"
#include "kerf/core/progress.h"
#include "kerf/learn/fit_options.h"
#include "kerf/model/model.h"

namespace kerf {

/// The default feature map of a fit.
inline constexpr const char* kDefaultMap = "arccos";

struct FitResult {
  Model model;
  FitReport report;
};

/// Trains the map `map` with `map_options` on the source (which is rewound first).
/// `memory_limit` 0: what is available.
FitResult fit(RowSource& source, const DataSummary& summary, const std::string& map,
              const Params& map_options, const FitOptions& options, Index memory_limit = 0,
              const Progress& progress = {});

/// The model again with another lambda (options: lambda, lambda_grid, lambda_per_target), from the
/// sums that its fit kept in the folder options.checkpoint: no rows, no features.
FitResult refit(Model model, const FitOptions& options, const Progress& progress = {});

}  // namespace kerf
