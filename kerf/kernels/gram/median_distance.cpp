// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/gram/median_distance.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kerf/core/system/parallel.h"
#include "kerf/kernels/gram/gram_tile.h"

namespace kerf::detail {

double median_distance(const RowsView& rows, DistanceNorm norm) {
  constexpr Index kMaxRows = 1000;
  const Index n = std::min(rows.rows(), kMaxRows);
  if (n < 2) return 1;
  const auto row = [&](Index i) { return i * rows.rows() / n; };
  std::vector<double> distances(n * (n - 1) / 2);
  parallel_for(n, 16, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      for (Index j = 0; j < i; ++j)
        distances[i * (i - 1) / 2 + j] =
            norm == DistanceNorm::l1
                ? l1_difference(rows, row(i), rows, row(j))
                : std::sqrt(squared_difference(rows, row(i), 1, rows, row(j), 1));
  });
  // Distances of equal rows say nothing about a scale: where they are more than half, leave them.
  const auto median = [](std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
  };
  if (const double s = median(distances); s > 0) return s;
  std::erase(distances, 0.0);
  return distances.empty() ? 1 : median(distances);
}

}  // namespace kerf::detail
