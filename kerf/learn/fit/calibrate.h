// Rows that are left out of a fit so that they can say how large its errors are (model/intervals.h).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "kerf/api/progress.h"
#include "kerf/core/rows/holdout.h"
#include "kerf/learn/options/fit_outcome.h"

namespace kerf::detail {

/// Splits the rows that calibrate off those to train on, before anything is learned; null: no intervals
/// were asked for.  An image's copies are made of what is left, so that they stay together.  Error
/// (usage) for rows whose weights differ: they are not exchangeable.
std::unique_ptr<Holdout> split_calibration(RowSource& source, const DataSummary& summary,
                                           const FitOptions& options, rng::Key key,
                                           const Context& context);

/// Puts the scores of those rows into the model, which must be complete; says so in the report.
void calibrate(Holdout& split, const Context& context, FitResult& result);

}  // namespace kerf::detail
