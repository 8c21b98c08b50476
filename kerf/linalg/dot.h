// Inner products of vectors, in a fixed order.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <numeric>
#include <span>

namespace kerf::detail {

/// In eight sums, so that they need not wait for each other.
inline double dot(std::span<const double> a, std::span<const double> b) {
  double sums[8] = {};
  const std::size_t whole = a.size() / 8 * 8;
  for (std::size_t j = 0; j < whole; j += 8)
    for (std::size_t k = 0; k < 8; ++k) sums[k] += a[j + k] * b[j + k];
  double sum = 0;
  for (const double part : sums) sum += part;
  for (std::size_t j = whole; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

/// In one sum: for short vectors, and where each bit is to stay what it was.
inline double dot_in_order(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace kerf::detail
