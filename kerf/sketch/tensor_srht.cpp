// SPDX-License-Identifier: Apache-2.0
#include "kerf/sketch/tensor_srht.h"

#include <cmath>

#include "kerf/core/rows/matrix.h"

namespace kerf::detail {

TensorSrht::TensorSrht(Index left_dim, Index right_dim, Index out_dim, rng::Key key)
    : TensorMap({left_dim, right_dim}, out_dim),
      left_(left_dim, out_dim, 1 / std::sqrt(static_cast<double>(out_dim)),
            SampledHadamard::Order::sorted, key.child("left")),
      right_(right_dim, out_dim, 1, SampledHadamard::Order::shuffled, key.child("right")) {}

void TensorSrht::apply_rows(std::span<const RowsView> x, Index begin, Index end,
                            MatrixView<float> out) const {
  std::vector<float> spread;
  Matrix<float> memory(1, out_dim());
  const std::span<float> right = memory.row(0);
  for (Index i = begin; i < end; ++i) {
    right_.apply(dense_row(x[1], i, spread), right);
    const std::span<float> left = out.row(i);
    left_.apply(dense_row(x[0], i, spread), left);
    for (std::size_t j = 0; j < left.size(); ++j) left[j] *= right[j];
  }
}

}  // namespace kerf::detail
