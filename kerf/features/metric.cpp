// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/metric.h"

namespace kerf::detail {
namespace {

template <class T>
void multiply(const Matrix<double>& factor, std::span<T> values) {
  if (factor.rows() == 1) {
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = static_cast<T>(values[k] * factor(0, static_cast<Index>(k)));
    return;
  }
  thread_local std::vector<double> sums;
  sums.assign(values.size(), 0.0);
  for (std::size_t j = 0; j < values.size(); ++j) {
    const double x = values[j];
    const auto column = factor.row(static_cast<Index>(j));
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += x * column[k];
  }
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<T>(sums[k]);
}

}  // namespace

void Metric::apply(std::span<float> values) const { multiply(factor, values); }
void Metric::apply(std::span<double> values) const { multiply(factor, values); }

std::vector<double> Metric::importance() const {
  std::vector<double> share(columns());
  double total = 0;
  for (std::size_t j = 0; j < share.size(); ++j) {
    const auto k = static_cast<Index>(j);
    if (is_diagonal())
      share[j] = factor(0, k) * factor(0, k);
    else
      for (const double a : factor.row(k)) share[j] += a * a;
    total += share[j];
  }
  if (total > 0)
    for (double& value : share) value /= total;
  return share;
}

}  // namespace kerf::detail
