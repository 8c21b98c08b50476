// SPDX-License-Identifier: Apache-2.0
#include "kerf/linalg/feature_gram.h"

#include <algorithm>

#include "kerf/core/system/parallel.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {

void feature_gram(MatrixView<const float> z, MatrixView<double> gram) {
  constexpr Index kTile = 256, kColumns = 512;  // converted to double at a time
  const Index n = z.rows, side = (n + kTile - 1) / kTile;
  parallel_for(side * side, 1, [&](Index tile, Index) {
    const Index row = tile / side, col = tile % side;
    if (col < row) return;
    const Index i0 = row * kTile, i1 = std::min(n, i0 + kTile);
    const Index j0 = col * kTile, j1 = std::min(n, j0 + kTile);
    for (Index first = 0; first < z.cols; first += kColumns) {
      const auto part = z.columns(first, std::min(first + kColumns, z.cols));
      const Matrix<double> left = copy_of<double>(part.slice(i0, i1));
      const Matrix<double> right = copy_of<double>(part.slice(j0, j1));
      blas::gemm(false, true, 1.0, left.view(), right.view(), first == 0 ? 0.0 : 1.0,
                 gram.slice(i0, i1).columns(j0, j1));
    }
    for (Index i = i0; i < i1; ++i)
      for (Index j = std::max(j0, i + 1); j < j1; ++j) gram(j, i) = gram(i, j);
  });
}

Matrix<double> feature_gram(MatrixView<const float> z) {
  Matrix<double> gram(z.rows, z.rows);
  feature_gram(z, gram.view());
  return gram;
}

}  // namespace kerf::detail
