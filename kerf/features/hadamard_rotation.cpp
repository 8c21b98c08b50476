// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/hadamard_rotation.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/sketch/sketch.h"
#include "kerf/transforms/walsh_hadamard.h"

namespace kerf {

Index HadamardRotation::padded(Index in_dim) { return hadamard_size(std::max<Index>(in_dim, 32)); }

HadamardRotation::HadamardRotation(Index in_dim, Index count, rng::Key key)
    : in_dim_(in_dim), count_(count), length_(padded(in_dim)) {
  signs_.resize(3 * ((count + length_ - 1) / length_), length_);
  const auto scale = static_cast<float>(std::pow(static_cast<double>(length_), -1.5));
  for (Index i = 0; i < signs_.rows(); ++i) {
    rng::fill_sign(key.child(static_cast<std::uint64_t>(i)), 0, signs_.row(i));
    if (i % 3 == 2)
      for (float& v : signs_.row(i)) v *= scale;
  }
}

void HadamardRotation::apply(const RowsView& x, const Projection::Receive& receive) const {
  KERF_REQUIRE(x.cols() == in_dim_, usage, "rows of {} columns, but the rotation takes {}",
               x.cols(), in_dim_);
  thread_local Matrix<float> memory;
  thread_local std::vector<float> spread;
  memory.resize(1, length_);
  const std::span<float> y = memory.row(0);
  for (Index i = 0; i < x.rows(); ++i) {
    const std::span<const float> row = dense_row(x, i, spread);
    for (Index b = 0; 3 * b < signs_.rows(); ++b) {
      signed_walsh_hadamard(row, signs_.row(3 * b), y);
      signed_walsh_hadamard(y, signs_.row(3 * b + 1), y);
      signed_walsh_hadamard(y, signs_.row(3 * b + 2), y);
      const Index begin = b * length_, used = std::min(length_, count_ - begin);
      receive(i, begin, y.first(static_cast<std::size_t>(used)));
    }
  }
}

}  // namespace kerf
