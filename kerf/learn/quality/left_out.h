// What a solution among the rows says of itself: it leaves every row out in closed form.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/learn/options/fit_outcome.h"
#include "kerf/learn/ridge/exact_ridge.h"

namespace kerf::detail {

/// Lambda and how it was found, the quality and, of classes, the temperature of probabilities, into
/// the report; the model is what remains.  y, weights: of the rows, as they were solved for; copies: rows
/// that were left out together.
LinearModel take_left_out(DualSolution solved, MatrixView<const double> y, WeightsView weights,
                          Index copies, bool classification, const FitOptions& options,
                          FitReport& outcome);

}  // namespace kerf::detail
