// From a stream of rows to a trained model.
//
//   summary -> scaling, recipe of the map -> a solver (solver.h) -> model
//
// The memory of every solver is known before work starts, and too much is refused.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kerf/core/progress.h"
#include "kerf/core/rows/data_summary.h"
#include "kerf/learn/options/fit_outcome.h"
#include "kerf/model/model.h"

namespace kerf::detail {

/// The default of a fit: chosen for the data.
inline constexpr const char* kDefaultMap = kAutoMap;

/// Wrong names and values of a map's options, before any work: Error (usage).
void check_map_options(const std::string& map, const Params& map_options);

/// The first of these options that could not matter beside the others, and why, in words; "": none.
std::string idle_option(const std::string& map, const Params& given);

/// Trains the map `map` with `map_options` on the source (which is rewound first).  Besides the
/// registered maps there are
///   auto    the map, its kernel and their options are chosen (map_choice.h)
///   exact   no features: the exact kernel of option "kernel" (exact_ridge.h), memory O(rows^2)
/// and the option "features" of a map may be "auto" (fit_kinds.h).
/// `memory_limit` 0: what is available.
FitResult fit(RowSource& source, const DataSummary& summary, const std::string& map,
              const Params& map_options, const FitOptions& options, Index memory_limit = 0,
              const Progress& progress = {});

/// The model again with another lambda (options: lambda, lambda_grid, lambda_per_target), from the
/// sums that its fit kept in the folder options.checkpoint: no rows, no features.
FitResult refit(Model model, const FitOptions& options, const Progress& progress = {});

}  // namespace kerf::detail
