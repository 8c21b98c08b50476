// How well a model does on rows whose targets are known.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/api/score.h"
#include "kerf/core/progress.h"
#include "kerf/model/model.h"

namespace kerf::detail {

struct EvaluateOptions {
  Index memory_limit = 0;  ///< 0: what is free
  Index worst = 0;         ///< how many of the worst rows to keep
  bool weighted = false;   ///< rows count with RowBlock::weights, where they come with some
};

/// Reads `source` from its beginning; throws Error (data) if its rows have no targets.
Score evaluate(const Model& model, RowSource& source, const EvaluateOptions& options,
               const Progress& progress = {});
Score evaluate(const Model& model, RowSource& source, Index memory_limit = 0,
               const Progress& progress = {}, Index worst = 0);

}  // namespace kerf::detail
