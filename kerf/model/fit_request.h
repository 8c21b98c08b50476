// What a fit was asked for, before anything automatic was worked out: enough to ask for it again.
//
// A model file keeps it beside what came of it (the recipe with numbers, the lambda chosen), so that
// a model that is loaded can be fitted anew, on other rows, in the way it was.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kerf/core/options.h"

namespace kerf::detail {

struct FitRequest {
  std::string map;                        ///< "": a file from before requests were kept
  Params map_options;                     ///< those that were given
  Params fit_options;                     ///< all, defaults too: these may change
  std::optional<std::uint64_t> map_seed;  ///< of the map alone; none: that of the fit
  std::vector<double> class_weights;      ///< of each class, if they were given one by one
  Index memory_limit = 0;                 ///< in bytes; 0: what is available
  Params image_options = {};              ///< steps and augmentation that were given

  bool present() const { return !map.empty(); }
  nlohmann::json to_json() const;
  /// Of null: a request that is not present.  Throws what nlohmann::json does, or Error (data).
  static FitRequest from_json(const nlohmann::json& json);
};

}  // namespace kerf::detail
