// The dual solver for who has the features of all rows already.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/progress.h"
#include "kerf/learn/options/fit_outcome.h"

namespace kerf::detail {

/// Features, encoded targets and weights (none: all 1) of all rows; copies of an example in turn.
struct FeatureRows {
  Matrix<float> z;
  Matrix<double> y;
  std::vector<double> weights;
  Index copies = 1;
};

/// Lambda (given or chosen), the weights, and what the fit says of itself.
LinearModel solve_dual(const FeatureRows& rows, bool classification, const FitOptions& options,
                       const Progress& progress, FitReport& outcome);

}  // namespace kerf::detail
