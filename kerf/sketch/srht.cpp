// SPDX-License-Identifier: Apache-2.0
#include "kerf/sketch/srht.h"

#include <cmath>

namespace kerf::detail {

Srht::Srht(Index in_dim, Index out_dim, rng::Key key)
    : Sketch(in_dim, out_dim),
      transform_(in_dim, out_dim, 1 / std::sqrt(static_cast<double>(out_dim)),
                 SampledHadamard::Order::sorted, key) {}

void Srht::apply_rows(const RowsView& x, MatrixView<float> out) const {
  std::vector<float> spread;
  for (Index i = 0; i < out.rows; ++i) transform_.apply(dense_row(x, i, spread), out.row(i));
}

}  // namespace kerf::detail
