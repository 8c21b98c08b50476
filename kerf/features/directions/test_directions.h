// For tests: directions as the matrix that they are.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/features/directions/directions.h"

namespace kerf::detail {

/// The directions themselves, count x dim: their products with the unit vectors.
inline Matrix<double> matrix_of(const DirectionSet& directions, Index dim) {
  Matrix<double> w(directions.out_dim(), dim);
  for (Index k = 0; k < dim; ++k) {
    std::vector<float> e(dim);
    e[k] = 1;
    directions.apply(MatrixView<const float>(e.data(), 1, dim),
                     [&](Index, Index first, std::span<float> v) {
                       for (std::size_t j = 0; j < v.size(); ++j)
                         w(first + static_cast<Index>(j), k) = v[j];
                     });
  }
  return w;
}

}  // namespace kerf::detail
