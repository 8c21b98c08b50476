// SPDX-License-Identifier: Apache-2.0
#include "kerf/sketch/sampled_hadamard.h"

#include <algorithm>
#include <numeric>

#include "kerf/core/rows/matrix.h"
#include "kerf/transforms/walsh_hadamard.h"

namespace kerf::detail {
namespace {

/// Moves a uniformly random choice of `count` elements, in random order, to the front.
void shuffle_front(std::vector<std::int32_t>& items, Index count, rng::Key key) {
  const auto size = static_cast<std::uint64_t>(items.size());
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i)
    std::swap(items[i], items[i + rng::below(key, i, size - i)]);
}

/// Transformed rows wait here for being sampled.
std::span<float> scratch(Index size) {
  thread_local Matrix<float> memory;
  memory.resize(1, size);
  return memory.row(0);
}

}  // namespace

std::vector<std::int32_t> balanced_sample(Index n, Index m, bool shuffled, rng::Key key) {
  std::vector<std::int32_t> rest(n);
  std::iota(rest.begin(), rest.end(), 0);
  std::vector<std::int32_t> sample;
  sample.reserve(m);
  for (Index copy = 0; copy < m / n; ++copy) sample.insert(sample.end(), rest.begin(), rest.end());
  const Index remaining = m % n;
  shuffle_front(rest, remaining, key.child("choice"));
  std::sort(rest.begin(), rest.begin() + remaining);
  sample.insert(sample.end(), rest.begin(), rest.begin() + remaining);
  if (shuffled) shuffle_front(sample, m, key.child("order"));
  return sample;
}

SampledHadamard::SampledHadamard(Index in_dim, Index out_dim, double scale, Order order,
                                 rng::Key key)
    : in_dim_(in_dim),
      out_dim_(out_dim),
      length_(hadamard_size(in_dim)),
      scale_(static_cast<float>(scale)),
      flips_(in_dim) {
  std::vector<float> signs(flips_.size());
  rng::fill_sign(key.child("sign"), 0, signs);
  std::ranges::transform(signs, flips_.begin(),
                         [](float sign) { return static_cast<std::uint8_t>(sign < 0 ? 128 : 0); });
  if (order == Order::sorted && out_dim % length_ == 0) return;
  const auto sample =
      balanced_sample(length_, out_dim, order == Order::shuffled, key.child("sample"));
  if (length_ <= Index{1} << 16) {
    short_sample_.assign(sample.begin(), sample.end());
  } else {
    sample_ = sample;
  }
}

void SampledHadamard::run(std::span<const float> a, std::span<const float> b,
                          std::span<float> out) const {
  const SignFlips signs{flips_, scale_};
  const auto length = static_cast<std::size_t>(length_);
  if (short_sample_.empty() && sample_.empty()) {
    flipped_walsh_hadamard(a, b, signs, out.first(length));
    for (std::size_t copy = length; copy < out.size(); copy += length)
      std::copy_n(out.begin(), length, out.begin() + static_cast<Index>(copy));
    return;
  }
  const std::span<float> row = scratch(length_);
  flipped_walsh_hadamard(a, b, signs, row);
  const auto pick = [from = row.data()](auto i) { return from[i]; };
  if (short_sample_.empty())
    std::ranges::transform(sample_, out.begin(), pick);
  else
    std::ranges::transform(short_sample_, out.begin(), pick);
}

void SampledHadamard::apply(std::span<const float> x, std::span<float> out) const {
  run(x, {}, out);
}

void SampledHadamard::apply_product(std::span<const float> a, std::span<const float> b,
                                    std::span<float> out) const {
  run(a, b, out);
}

}  // namespace kerf::detail
