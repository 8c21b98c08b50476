// SPDX-License-Identifier: Apache-2.0
#include "kerf/linalg/feature_gram.h"

#include <algorithm>

#include "kerf/core/system/parallel.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

/// By tiles; `mirrored`: those that lie below the diagonal are left out.
void add_tiles(MatrixView<const float> z, bool mirrored, MatrixView<double> gram) {
  constexpr Index kColumns = 512;              // converted to double at a time
  constexpr Index kRows = 256, kAcross = 512;  // of a tile, as in blas::product
  const Index n = z.rows, down = (n + kRows - 1) / kRows, across = (n + kAcross - 1) / kAcross;
  for (Index first = 0; first < z.cols; first += kColumns) {
    const Matrix<double> part =
        copy_of<double>(z.columns(first, std::min(first + kColumns, z.cols)));
    parallel_for(down * across, 1, [&](Index tile, Index) {
      const Index i = tile / across * kRows, j = tile % across * kAcross;
      const Index i_end = std::min(i + kRows, n), j_end = std::min(j + kAcross, n);
      if (mirrored && j_end <= i) return;
      blas::gemm(false, true, 1.0, part.view().slice(i, i_end), part.view().slice(j, j_end),
                 first == 0 ? 0.0 : 1.0, gram.slice(i, i_end).columns(j, j_end));
    });
  }
}

}  // namespace

void feature_gram(MatrixView<const float> z, MatrixView<double> gram) { add_tiles(z, false, gram); }

Matrix<double> symmetric_feature_gram(MatrixView<const float> z) {
  Matrix<double> gram(z.rows, z.rows);
  add_tiles(z, true, gram.view());
  for (Index i = 0; i < z.rows; ++i)
    for (Index j = 0; j < i; ++j) gram(i, j) = gram(j, i);
  return gram;
}

}  // namespace kerf::detail
