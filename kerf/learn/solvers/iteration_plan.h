// How iterative solvers use the memory there is: features kept whole, in 16 bits, or made again.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/learn/rows/feature_cache.h"
#include "kerf/learn/solvers/solver.h"

namespace kerf::detail {

struct IterationPlan {
  FeatureCache::Form form;
  Index bytes;  ///< peak memory of the fit
};

/// What a solver holds besides features and sketch.
struct IterationNeeds {
  Index folds;        ///< that rows are sorted into while they are read
  Index vectors;      ///< multiplied with the rows in one pass
  Index factors = 1;  ///< of the sketch
  Index more = 0;     ///< bytes
};
IterationPlan plan_iterations(const Problem& problem, const IterationNeeds& needs);

/// Expected time of one pass over the features, and of the first one with its sketch.
double pass_seconds(const Problem& problem, FeatureCache::Form form, const Speeds& speeds);
double sketch_seconds(const Problem& problem, FeatureCache::Form form, const Speeds& speeds);

}  // namespace kerf::detail
