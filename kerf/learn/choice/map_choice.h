// Which kernel, and with it which feature map: successive halving on a sample of the rows.
//
// Candidates: what the kernels' registry lines declare (KernelEntry::candidates), with the first map
// of the registry that stands for each (FeatureMapEntry::stands_for).  Today (s: median distance of
// two rows, b: typical length of a row, so that --bandwidth and --bias mean what they mean everywhere):
//   ntk      depths 1, 2, 3, 5     bias 0, 0.3 b, b, 3 b      map ntk-rf
//   nngp     depths 1, 2           bias 0, 0.3 b, b, 3 b      maps arccos, ntk-rf
//   gaussian, laplacian-l2         bandwidth s/4, s/2, s, 2s   map rff; wide rows: orf, structured
// Exact rounds, 400 and 800 rows: the exact kernel of every candidate, error by closed-form
// leave-one-out (leave_one_out.h) at the best lambda, from one table of distances (pair_table.h).
// The best third of each kind of kernel goes on, and the best three of all: kinds, because smooth
// kernels overtake rough ones as rows grow.  Last round: who is left competes with random features,
// on up to 8,192 rows and with features in the same proportion as in the fit to come, because a
// kernel that needs many features may lose to one that needs few.  A fit of few rows takes the kernel
// itself: then a third exact round has up to 1,200 rows, and no features compete.
//
// Error:      the choice is that of the sample: what it loses against the best of all candidates is
//             measured by experiments/auto_map.py.
// Cost:       about 1e11 flops and 50 to 150 MB, or a small part of the fit to come; a smaller sample
//             where the memory given asks for it.
// Reference:  Jamieson & Talwalkar, "Non-stochastic best arm identification", AISTATS 2016.
// Differs:    rungs by rows; exact leave-one-out in place of a held-out set; the last rung.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kerf/core/options.h"
#include "kerf/core/progress.h"
#include "kerf/core/rows/data_summary.h"
#include "kerf/features/scaling.h"
#include "kerf/learn/options/fit_outcome.h"

namespace kerf::detail {

/// All candidates, or those that agree with the options that the user gave.  Error (usage) if no
/// candidate's map knows one of them.  `may_learn`: maps that learn from all rows, too.
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

struct MapChoiceOptions {
  Index features = 4096;  ///< of the fit to come
  Index seed = 1;
  Index memory_limit = 0;
  /// Every candidate in every exact round: what the halving would have missed.
  bool keep_all = false;
  /// The fit to come is one with the kernel itself: no features compete.
  bool exact = false;
};

/// `targets`: what the regression is trained on (one column a class for classification), a row for
/// each row of `sample`; the sample's rows are scaled already and in random order.  `rows`: rows of
/// the fit to come.
MapChoice choose_map(std::vector<MapCandidate> candidates, const RowBlock& sample,
                     MatrixView<const double> targets, Index rows, const MapChoiceOptions& options,
                     const Progress& progress = {});

/// The winner's kernel as options of --map exact, or nothing where the user gave options that only
/// its features have.
std::optional<Params> exact_options(const MapCandidate& candidate, const Params& given);

/// Rows for choose_map(): as many as it would like to have, or as keep to the memory (options'
/// limit; without one memory_budget()).  Error (memory) if too few would.  `targets`: columns of
/// what the regression is trained on.
Index map_choice_rows(const std::vector<MapCandidate>& candidates, const DataSummary& summary,
                      Index targets, const MapChoiceOptions& options);

}  // namespace kerf::detail
