// SPDX-License-Identifier: Apache-2.0
#include "tests/extension/dummy_kernel.h"

namespace kerf::detail {

std::vector<KernelCandidate> DummyKernel::candidates(const DataLook& data) {
  const double distance = data.typical_distance(DistanceNorm::l2);
  return {{{{"reach", format_number(distance), "1"}}},
          {{{"reach", format_number(2 * distance), "2"}}}};
}

double DummyKernel::value(std::span<const double> x, std::span<const double> y) const {
  double square = 0;
  for (std::size_t j = 0; j < x.size(); ++j) square += (x[j] - y[j]) * (x[j] - y[j]);
  return 1 / (1 + square / (reach_ * reach_));
}

}  // namespace kerf::detail
