// What a summary of the rows settles about a model before the first feature is computed: how rows are
// scaled, and the recipe of the map, or of the exact kernel, with numbers for everything automatic.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/learn/options/fit_options.h"
#include "kerf/model/model.h"

namespace kerf::detail {

struct ModelPlan {
  ScaleKind scale;  ///< what auto came to
  Scaling scaling;  ///< with the range of training, unless --clip false
  Recipe recipe;
};

/// `map`: a registered map, or exact.  Sparse rows whose scale is to be chosen have had it chosen
/// (sparse_choice.h).
ModelPlan plan_model(const DataSummary& summary, const std::string& map, const Params& map_options,
                     const FitOptions& options);

}  // namespace kerf::detail
