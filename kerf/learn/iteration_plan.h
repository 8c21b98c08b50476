// How iterative solvers use the memory there is: features kept whole, in 16 bits, or made again.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/learn/feature_cache.h"
#include "kerf/learn/solver.h"

namespace kerf {

struct IterationPlan {
  FeatureCache::Form form;
  Index bytes;  ///< peak memory of the fit
};

/// `more`: what the solver needs besides features, sketch, factors (two where lambda is chosen)
/// and passes.
IterationPlan plan_iterations(const Problem& problem, Index more = 0);

/// Expected time of one pass over the features, and of the first one with its sketch.
double pass_seconds(const Problem& problem, FeatureCache::Form form);
double sketch_seconds(const Problem& problem, FeatureCache::Form form);

}  // namespace kerf
