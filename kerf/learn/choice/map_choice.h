// Which kernel, and with it which feature map: successive halving on a sample of the rows.
//
// Candidates: what the kernels' registry lines declare (KernelEntry::candidates), with the first map
// of the registry that stands for each (FeatureMapEntry::stands_for).  Today (s: median distance of
// two rows, b: typical length of a row, so that --bandwidth and --bias mean what they mean everywhere):
//   ntk      depths 1, 2, 3, 5     bias 0, 0.3 b, b, 3 b      map ntk-rf
//   nngp     depths 1, 2           bias 0, 0.3 b, b, 3 b      maps arccos, ntk-rf
//   gaussian, laplacian-l2         bandwidth s/4, s/2, s, 2s   map rff; wide rows: orf, structured
//   matern32, matern52             bandwidth s/2, s, 2s        the same
//   laplacian                      bandwidth 1, 3, 9 median L1 distances      map rff
//   linear                         up to 2,048 columns         map linear
// Exact rounds, 200, 400 and 800 rows: the exact kernel of every candidate, error by closed-form
// leave-one-out (leave_one_out.h) at the best lambda, from one table of distances (pair_table.h).
// The best half, third, third of each kind of kernel goes on, and the best three of all: kinds,
// because smooth kernels overtake rough ones as rows grow; but none whose error is 4, 2, 1.5 times the
// best.  A best one at the edge of its grid of bandwidths or biases extends the grid by the ratio of
// its last two, at most twice: the new one takes part in all rounds.  Last round: who is left competes
// with random features, on up to 8,192 rows and with features in the same proportion as in the fit to
// come, because a kernel that needs many features may lose to one that needs few.  A fit of few rows
// takes the kernel itself: then a last exact round has up to 1,200 rows, and no features compete.
//
// Error:      the choice is that of the sample: what it loses against the best of all candidates is
//             measured by experiments/auto_map.py.
// Cost:       about 1e11 flops and 60 to 160 MB, or a small part of the fit to come; a smaller sample
//             where the memory given asks for it.
// Reference:  Jamieson & Talwalkar, "Non-stochastic best arm identification", AISTATS 2016.
// Differs:    rungs by rows; exact leave-one-out in place of a held-out set; the last rung.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/core/progress.h"
#include "kerf/learn/choice/map_candidates.h"

namespace kerf::detail {

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

/// Rows for choose_map(): as many as it would like to have, or as keep to the memory (options'
/// limit; without one memory_budget()).  Error (memory) if too few would.  `targets`: columns of
/// what the regression is trained on.
Index map_choice_rows(const std::vector<MapCandidate>& candidates, const DataSummary& summary,
                      Index targets, const MapChoiceOptions& options);

}  // namespace kerf::detail
