// The least number of features whose values stay below a target: the search of plan.h, without
// features or kernels.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kerf/core/view.h"

namespace kerf {

struct SizeSearch {
  double target = 0;
  Index first = 32, most = 16384;
  bool may_level_off = false;  ///< values need not go to 0
  /// Values of several maps of so many features.
  std::function<std::vector<double>(Index features)> measure;
};

struct SizeSearchResult {
  struct Size {
    Index features;
    std::vector<double> values;
    double limit;  ///< of the last line, or infinite
  };
  std::vector<Size> sizes;  ///< ascending
  std::optional<Index> features;
  bool extrapolated = false;
  double slope = 0;
  std::string reason;
};

SizeSearchResult search_size(const SizeSearch& search);

}  // namespace kerf
