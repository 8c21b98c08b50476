// The map of those who want features and no fit (transform, diagnose, plan, select): as named, or for auto
// as a fit would choose it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kerf/api/progress.h"
#include "kerf/core/options.h"
#include "kerf/features/scaling.h"
#include "kerf/io/dataset/dataset.h"

namespace kerf::detail {

/// A map with what goes before it.
struct ChosenFeatures {
  std::string map;
  Params options;
  ScaleKind scale = ScaleKind::automatic;
  std::string reason;  ///< of the choice, in words; "": the user named the map
};

struct FeaturesAsked {
  std::string map;  ///< or auto
  Params options;   ///< of the map, as the user gave them
  ScaleKind scale = ScaleKind::automatic;
  Index seed = 1;
};

/// Error (usage) for the map that has no features: exact.
void require_features(const std::string& map);

/// Settles the columns of the data, too (journey.h).  Error (usage) for auto where rows have no target
/// to choose by.
ChosenFeatures features_for(Dataset& data, const FeaturesAsked& asked, const Context& context);

}  // namespace kerf::detail
