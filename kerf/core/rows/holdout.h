// One split of a stream's rows: those that are trained on, with their summary, and those kept back.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/progress.h"
#include "kerf/core/rows/data_summary.h"
#include "kerf/core/rows/row_filter.h"

namespace kerf::detail {

struct Holdout {
  /// `part` of the rows of `source` (which must outlive this), drawn by `key`, are held out; reads
  /// the others once for their summary.  Error (usage), which names the `option` that asked
  /// for it, if too few rows are left on a side.
  Holdout(RowSource& source, const DataSummary& all, double part, rng::Key key,
          const Progress& progress = {}, const char* option = "holdout");

  HoldoutSource training, held_out;
  DataSummary summary;  ///< of the rows that are trained on
};

}  // namespace kerf::detail
