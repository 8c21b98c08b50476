// The rows and the wishes that every kind of fit is given.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/progress.h"
#include "kerf/core/rows/data_summary.h"
#include "kerf/learn/options/fit_options.h"

namespace kerf::detail {

/// What every kind of fit is given.
struct FitJob {
  RowSource& source;
  const DataSummary& summary;
  const FitOptions& options;
  Index memory_limit;  ///< 0: what is available
  const Progress& progress;
};

}  // namespace kerf::detail
