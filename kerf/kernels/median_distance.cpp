// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/median_distance.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kerf/core/parallel.h"

namespace kerf {
namespace {

double term(double difference, Norm norm) {
  return norm == Norm::l1 ? std::abs(difference) : difference * difference;
}

double distance(std::span<const float> x, std::span<const float> y, Norm norm) {
  double sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += term(double{x[k]} - y[k], norm);
  return sum;
}

double distance(const SparseRow& x, const SparseRow& y, Norm norm) {
  double sum = 0;
  std::size_t i = 0, j = 0;
  while (i < x.values.size() || j < y.values.size()) {
    const bool take_x =
        j == y.values.size() || (i < x.values.size() && x.columns[i] <= y.columns[j]);
    const bool take_y =
        i == x.values.size() || (j < y.values.size() && y.columns[j] <= x.columns[i]);
    const double left = take_x ? x.values[i++] : 0.0f, right = take_y ? y.values[j++] : 0.0f;
    sum += term(left - right, norm);
  }
  return sum;
}

}  // namespace

double median_distance(const RowsView& rows, Norm norm) {
  const Index n = rows.rows();
  if (n < 2) return 1;
  std::vector<double> distances(static_cast<std::size_t>(n * (n - 1) / 2));
  parallel_for(n, 8, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      for (Index j = 0; j < i; ++j)
        distances[static_cast<std::size_t>(i * (i - 1) / 2 + j)] =
            rows.is_sparse() ? distance(rows.sparse().row(i), rows.sparse().row(j), norm)
                             : distance(rows.dense().row(i), rows.dense().row(j), norm);
  });
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  const double median = norm == Norm::l1 ? *middle : std::sqrt(*middle);
  return median > 0 && std::isfinite(median) ? median : 1;
}

}  // namespace kerf
