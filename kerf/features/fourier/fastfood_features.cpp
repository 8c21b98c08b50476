// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/fourier/fastfood_features.h"

#include <algorithm>

#include "kerf/transforms/walsh_hadamard.h"

namespace kerf::detail {
namespace {

/// Blocks shorter than 16 repeat frequencies of differences of four columns too often.
constexpr Index kShortest = 16;

Index padded(Index in_dim) { return hadamard_size(std::max(in_dim, kShortest)); }

}  // namespace

FastfoodFeatures::FastfoodFeatures(Index in_dim, const Options& options, rng::Key key)
    : FourierMap(in_dim, options, key) {
  const Index count = frequency_count(options, kOwner);
  directions_ = StructuredProjection(in_dim, 0, count, key.child("direction"), kShortest);
  for (Index j = 0; j < count; ++j)
    lengths_.push_back(static_cast<float>(frequency_length(options.kernel, key, j, padded(in_dim)) /
                                          *options.bandwidth));
}

Index FastfoodFeatures::bytes(Index in_dim, const Options& options) {
  return 16 * (options.features + padded(in_dim));
}

void FastfoodFeatures::transform_rows(const RowsView& x, MatrixView<float> out) const {
  directions_.apply(x, [&](Index i, Index first, std::span<float> y) {
    const float* length = lengths_.data() + first;
    for (std::size_t k = 0; k < y.size(); ++k) y[k] *= length[k];
    form_.write(first, y, out.row(i));
  });
}

}  // namespace kerf::detail
