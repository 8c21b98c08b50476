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

namespace kerf::detail {

struct SizeSearch {
  double target = 0;
  Index first = 32, most = 16384;
  /// Values need not go to 0 and may be 0: the line is one of the values, not of their logarithms.
  bool may_level_off = false;
  /// Whether the map can have so many features; none: any number.
  std::function<bool(Index features)> possible = {};
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
  double slope = 0;  ///< b of v ~ m^-b at the answer
  std::string reason;
};

SizeSearchResult search_size(const SizeSearch& search);

}  // namespace kerf::detail
