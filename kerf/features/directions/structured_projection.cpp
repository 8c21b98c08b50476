// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/directions/structured_projection.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"
#include "kerf/transforms/walsh_hadamard.h"

namespace kerf::detail {

StructuredProjection::StructuredProjection(Index in_dim, double bias, Index count, rng::Key key,
                                           Index shortest)
    : in_dim_(in_dim),
      count_(count),
      length_(hadamard_size(std::max(shortest, in_dim + (bias == 0 ? 0 : 1)))),
      bias_(static_cast<float>(bias)) {
  const Index blocks = (count + length_ - 1) / length_;
  signs_.resize(2 * blocks, length_);
  permutations_.resize(blocks, length_);
  parallel_for(blocks, 1, [&](Index begin, Index end) {
    for (Index b = begin; b < end; ++b) {
      const rng::Key block = key.child(static_cast<std::uint64_t>(b));
      rng::fill_sign(block.child("sign"), 0, signs_.row(2 * b));
      const std::span<float> g = signs_.row(2 * b + 1);
      rng::sphere(block.child("diagonal"), 0, g);
      const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(length_)));
      for (float& v : g) v *= scale;
      const std::span<std::int32_t> order = permutations_.row(b);
      std::iota(order.begin(), order.end(), 0);
      const auto size = static_cast<std::uint64_t>(length_);
      for (std::uint64_t i = 0; i + 1 < size; ++i)
        std::swap(order[i], order[i + rng::below(block.child("order"), i, size - i)]);
    }
  });
}

void StructuredProjection::apply(const RowsView& x, const Projection::Receive& receive) const {
  KERF_REQUIRE(x.cols() == in_dim_, usage, "rows of {} columns, but the projection takes {}",
               x.cols(), in_dim_);
  thread_local Matrix<float> memory;
  memory.resize(3, length_);
  const std::span<float> row = memory.row(0), first = memory.row(1), second = memory.row(2);
  for (Index i = 0; i < x.rows(); ++i) {
    copy_row(x, i, row);
    if (bias_ != 0) row[in_dim_] = bias_;
    for (Index b = 0; b < permutations_.rows(); ++b) {
      signed_walsh_hadamard(row, signs_.row(2 * b), first);
      const std::span<const std::int32_t> order = permutations_.row(b);
      for (std::size_t k = 0; k < order.size(); ++k) second[k] = first[order[k]];
      signed_walsh_hadamard(second, signs_.row(2 * b + 1), second);
      const Index begin = b * length_, used = std::min(length_, count_ - begin);
      receive(i, begin, second.first(used));
    }
  }
}

}  // namespace kerf::detail
