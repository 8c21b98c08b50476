// What suits sparse rows: how they are scaled, and whether a linear model does for wide ones.
//
// Unit rows, root mean squares and no scaling each with the exact linear kernel and Gaussians of one
// and two median distances, error by closed-form leave-one-out (leave_one_out.h) at the best lambda, on
// up to kRows rows of the summary's sample.  The least error of a scaling's kernels decides.  Root mean
// squares give rare columns the weight of common ones: right for numbers of different units, ruinous
// for words.
//
// Wide rows (more columns than features): random features of so many columns are either costly or
// noise, while the linear kernel needs none.  It is taken unless a Gaussian is better by kWorthwhile.
//
// Cost:       about n^3 flops a kernel and lambda: a second; four matrices of n x n doubles.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kerf/learn/options/fit_job.h"
#include "kerf/learn/options/fit_outcome.h"

namespace kerf::detail {

struct SparseChoice {
  ScaleKind scale = ScaleKind::rms;
  MapChoice kernels;  ///< with that scale, best first; empty: there were too few rows to tell
  std::string note;   ///< why that scale, in words; "" likewise

  /// The linear kernel is the best, or worse by less than what features of others cost.
  bool linear_does() const;
};

/// Whether there is something to choose: sparse rows and --scale auto.
bool wants_sparse_choice(const DataSummary& summary, const FitOptions& options);

/// `summary` must have the sample with its targets.
SparseChoice choose_for_sparse(const DataSummary& summary, const FitOptions& options,
                               const Progress& progress);

/// That a linear model is the choice for these wide rows, and why; nothing if it is not, or if
/// something was asked for that it has not.
std::optional<MapChoice> prefers_linear(const FitJob& job, const Params& map_options,
                                        const SparseChoice& choice);

}  // namespace kerf::detail
