// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/feature_bound.h"

#include <algorithm>
#include <cmath>

namespace kerf::detail {

std::string BoundInputs::option(const char* name) const {
  const auto found = options.find(name);
  return found == options.end() ? "" : found->second;
}

double BoundInputs::logarithm(double factor) const {
  return std::log(std::max(2.0, factor * statistical_dimension / delta));
}

double BoundInputs::bounded_features() const {
  const auto n = static_cast<double>(rows);
  return 8.0 / 3 * n / (ridge * target * target) * logarithm(16);
}

}  // namespace kerf::detail
