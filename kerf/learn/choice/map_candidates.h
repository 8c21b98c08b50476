// What --map auto chooses from: kernels with options, each with the map that stands for it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kerf/core/options.h"
#include "kerf/core/rows/data_summary.h"
#include "kerf/features/scaling.h"
#include "kerf/learn/options/fit_outcome.h"

namespace kerf::detail {

/// All candidates, or those that agree with the options that the user gave.  Error (usage) if no
/// candidate's map knows one of them.  `may_learn`: maps that learn from all rows, or whose features
/// are the columns, too.
std::vector<MapCandidate> map_candidates(const Params& given, const DataSummary& summary,
                                         const Scaling& scaling, bool may_learn = true);
/// What the last argument is for a fit of these options.
inline bool may_learn_map(const FitOptions& options) {
  return !options.needs_features && !options.variance && options.checkpoint.empty();
}

/// The first map of the registry that stands for a kernel of these options, called `label`; nothing
/// if none does.
std::optional<MapCandidate> stand_in(std::string_view kernel, const Params& options,
                                     std::string label, const DataSummary& summary, bool may_learn);

/// The winner's kernel as options of --map exact, or nothing where the user gave options that only
/// its features have.
std::optional<Params> exact_options(const MapCandidate& candidate, const Params& given);

/// The option of which `candidate` has the least or the largest number among the trials that are its
/// like otherwise; empty: it stands on no edge.
std::string edge_option(const MapCandidate& candidate, const std::vector<MapChoice::Trial>& trials);
/// The next candidate beyond that edge, further by the ratio of the last two, at most two steps
/// beyond what the kernel declared; nothing where there is none.
std::optional<MapCandidate> beyond_edge(const MapCandidate& candidate,
                                        const std::vector<MapChoice::Trial>& trials);

}  // namespace kerf::detail
