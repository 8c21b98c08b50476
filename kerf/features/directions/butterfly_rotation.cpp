// Angles of a block, level after level: for h = 1, 2, 4, inside vectors, a cosine for each of the n
// numbers and then the factor of its partner (the sine, negative in the upper half of the pair); for
// greater h a cosine for each of the n/2 pairs, then a sine.
//
// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/directions/butterfly_rotation.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"
#include "kerf/sketch/sketch.h"
#include "kerf/transforms/walsh_hadamard.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kerf/features/directions/butterfly_rotation.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kerf::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lane = hn::CappedTag<float, 8>;

/// The numbers h away from those of v = x[i ..).
template <class V>
HWY_INLINE V partners([[maybe_unused]] V v, const float* x, Index i, Index h) {
#if HWY_TARGET != HWY_SCALAR
  if (h == 1) return hn::Shuffle2301(v);
  if (h == 2) return hn::Shuffle1032(v);
  if (hn::MaxLanes(Lane()) == 8) return hn::ConcatLowerUpper(Lane(), v, v);
#endif
  return hn::LoadU(Lane(), x + (i ^ h));
}

/// Rotates the pairs that are h = 1, 2 or 4 apart.
void rotate_near(const float* HWY_RESTRICT x, const float* HWY_RESTRICT angles, Index n, Index h,
                 float* HWY_RESTRICT out) {
  const Lane d;
  for (Index i = 0; i < n; i += static_cast<Index>(hn::Lanes(d))) {
    const auto v = hn::LoadU(d, x + i);
    const auto cosine = hn::LoadU(d, angles + i), sine = hn::LoadU(d, angles + n + i);
    hn::StoreU(hn::MulAdd(cosine, v, hn::Mul(sine, partners(v, x, i, h))), d, out + i);
  }
}

/// Rotates the pairs that are h >= 8 apart, in place.
void rotate_far(float* HWY_RESTRICT x, const float* HWY_RESTRICT angles, Index n, Index h) {
  const Lane d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const float* cosines = angles;
  const float* sines = angles + n / 2;
  for (Index base = 0; base < n; base += 2 * h, cosines += h, sines += h)
    for (Index j = 0; j < h; j += lanes) {
      const auto a = hn::LoadU(d, x + base + j), b = hn::LoadU(d, x + base + h + j);
      const auto c = hn::LoadU(d, cosines + j), s = hn::LoadU(d, sines + j);
      hn::StoreU(hn::MulAdd(c, a, hn::Mul(s, b)), d, x + base + j);
      hn::StoreU(hn::NegMulAdd(s, a, hn::Mul(c, b)), d, x + base + h + j);
    }
}

/// All levels, in place; `scratch`: n more numbers.
void rotate_pairs(float* x, const float* angles, Index n, float* scratch) {
  rotate_near(x, angles, n, 1, scratch);
  rotate_near(scratch, angles + 2 * n, n, 2, x);
  rotate_near(x, angles + 4 * n, n, 4, scratch);
  std::copy_n(scratch, n, x);
  angles += 6 * n;
  for (Index h = 8; h < n; h *= 2, angles += n) rotate_far(x, angles, n, h);
}

}  // namespace kerf::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kerf::detail {
namespace {

HWY_EXPORT(rotate_pairs);

/// Levels inside vectors, which keep two numbers for each of the n instead of one.
constexpr Index kNearLevels = 3;

Index angles_of(Index n) {
  return n * (kNearLevels + std::bit_width(static_cast<std::uint64_t>(n)) - 1);
}

/// Cosine and sine of pair p at distance h.
void draw_angle(rng::Key level, std::uint64_t p, Index h, float& cosine, float& sine) {
  double a = rng::chi(level.child("a"), p, h), b = rng::chi(level.child("b"), p, h);
  if (h == 1) {
    a *= rng::sign(level.child("sign"), 2 * p);
    b *= rng::sign(level.child("sign"), 2 * p + 1);
  }
  const double length = std::hypot(a, b);
  cosine = length > 0 ? static_cast<float>(a / length) : 1.0f;
  sine = length > 0 ? static_cast<float>(b / length) : 0.0f;
}

void draw_angles(rng::Key key, Index n, std::span<float> angles) {
  float* at = angles.data();
  for (Index h = 1; h < n; h *= 2) {
    const rng::Key level = key.child(static_cast<std::uint64_t>(h));
    const bool near = h < (1 << kNearLevels);
    for (Index p = 0; p < n / 2; ++p) {
      float cosine = 1, sine = 0;
      draw_angle(level, static_cast<std::uint64_t>(p), h, cosine, sine);
      const Index lower = p / h * 2 * h + p % h;
      if (near) {
        at[lower] = at[lower + h] = cosine;
        at[n + lower] = sine;
        at[n + lower + h] = -sine;
      } else {
        at[p] = cosine;
        at[n / 2 + p] = sine;
      }
    }
    at += near ? 2 * n : n;
  }
}

}  // namespace

Index ButterflyRotation::padded(Index in_dim) { return hadamard_size(std::max<Index>(in_dim, 8)); }

Index ButterflyRotation::bytes(Index in_dim, Index count) {
  const Index n = padded(in_dim);
  return 4 * ((count + n - 1) / n) * (n + angles_of(n));
}

ButterflyRotation::ButterflyRotation(Index in_dim, Index count, rng::Key key)
    : in_dim_(in_dim), count_(count), length_(padded(in_dim)) {
  const Index blocks = (count + length_ - 1) / length_;
  signs_.resize(blocks, length_);
  angles_.resize(blocks, angles_of(length_));
  const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(length_)));
  parallel_for(blocks, 1, [&](Index begin, Index end) {
    for (Index b = begin; b < end; ++b) {
      const rng::Key block = key.child(static_cast<std::uint64_t>(b));
      rng::fill_sign(block.child("sign"), 0, signs_.row(b));
      for (float& v : signs_.row(b)) v *= scale;
      draw_angles(block.child("angle"), length_, angles_.row(b));
    }
  });
}

void ButterflyRotation::apply(const RowsView& x, const Projection::Receive& receive) const {
  KERF_REQUIRE(x.cols() == in_dim_, usage, "rows of {} columns, but the rotation takes {}",
               x.cols(), in_dim_);
  thread_local Matrix<float> memory;
  thread_local std::vector<float> spread;
  memory.resize(2, length_);
  const std::span<float> y = memory.row(0), scratch = memory.row(1);
  for (Index i = 0; i < x.rows(); ++i) {
    const std::span<const float> row = dense_row(x, i, spread);
    for (Index b = 0; b < signs_.rows(); ++b) {
      signed_walsh_hadamard(row, signs_.row(b), y);
      HWY_DYNAMIC_DISPATCH(rotate_pairs)
      (y.data(), angles_.row(b).data(), length_, scratch.data());
      const Index begin = b * length_, used = std::min(length_, count_ - begin);
      receive(i, begin, y.first(used));
    }
  }
}

}  // namespace kerf::detail
#endif  // HWY_ONCE
