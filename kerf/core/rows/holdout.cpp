// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/rows/holdout.h"

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"

namespace kerf::detail {

Holdout::Holdout(RowSource& source, const DataSummary& all, double part, rng::Key key,
                 const Progress& progress, const char* option)
    : training(source, part, key, false), held_out(source, part, key, true) {
  summary = summarise(training, all.task, all.classes, key, progress);
  summary.is_bytes = all.is_bytes;
  summary.one_hot = all.one_hot;
  summary.names = all.names;
  summary.task_reason = all.task_reason;
  KERF_REQUIRE(summary.rows >= 2 && summary.rows < all.rows, usage,
               "{} leaves {} of {} rows to train on", spell(option, part), summary.rows, all.rows);
}

}  // namespace kerf::detail
