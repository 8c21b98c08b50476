// SPDX-License-Identifier: Apache-2.0
#include "kerf/sketch/gaussian_sketch.h"

#include <cmath>

namespace kerf::detail {

GaussianSketch::GaussianSketch(Index in_dim, Index out_dim, rng::Key key)
    : Sketch(in_dim, out_dim),
      projection_(in_dim, out_dim, [&](Index j, std::span<float> direction) {
        rng::fill_normal(key, static_cast<std::uint64_t>(j * in_dim), direction);
        const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(out_dim)));
        for (float& w : direction) w *= scale;
        return 0.0f;
      }) {}

void GaussianSketch::apply_rows(const RowsView& x, MatrixView<float> out) const {
  projection_.apply(x, out);
}

}  // namespace kerf::detail
