// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/random/random_simd.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kerf/core/random/random_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kerf::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Real = hn::ScalableTag<double>;
using Word = hn::RebindToUnsigned<Real>;
using Reals = hn::Vec<Real>;
using Words = hn::Vec<Word>;

constexpr std::uint64_t kLow = 0xFFFFFFFFu;

/// a times the 32-bit numbers in the lower halves of b.
HWY_INLINE Words multiply(std::uint32_t a, Words b) {
#if HWY_TARGET == HWY_SCALAR
  return Words(a * b.raw);
#else
  const hn::Repartition<std::uint32_t, Word> halves;
  return hn::MulEven(hn::Set(halves, a), hn::BitCast(halves, b));
#endif
}

/// 128 bits for each counter, as two numbers.
HWY_INLINE void philox(std::uint64_t key, Words counter, Words& low, Words& high) {
  const Word d;
  const Words mask = hn::Set(d, kLow);
  // Words of 32 bits, each in the lower half of a lane.
  Words c0 = hn::And(counter, mask), c1 = hn::ShiftRight<32>(counter);
  Words c2 = hn::Zero(d), c3 = hn::Zero(d);
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const Words a = multiply(0xD2511F53u, c0), b = multiply(0xCD9E8D57u, c2);
    c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(b), c1), hn::Set(d, std::uint64_t{k0}));
    c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(a), c3), hn::Set(d, std::uint64_t{k1}));
    c1 = hn::And(b, mask);
    c3 = hn::And(a, mask);
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  low = hn::Or(c0, hn::ShiftLeft<32>(c1));
  high = hn::Or(c2, hn::ShiftLeft<32>(c3));
}

HWY_INLINE Reals to_unit(Words word) {
  const Word d;
  const Words one_to_two = hn::Or(hn::ShiftRight<12>(word), hn::Set(d, 0x3FF0000000000000u));
  return hn::Sub(hn::BitCast(Real(), one_to_two), hn::Set(Real(), 1 - 0x1p-53));
}

HWY_INLINE Reals log(Reals x) {
  const Word d;
  const Real r;
  const Words shifted =
      hn::Add(hn::BitCast(d, x), hn::Set(d, 0x3FF0000000000000u - 0x3FE6A09E667F3BCDu));
  // The exponent as the low bits of a number from 2^52 on: an exact conversion.
  const Words biased = hn::Or(hn::ShiftRight<52>(shifted), hn::Set(d, 0x4330000000000000u));
  const Reals exponent = hn::Sub(hn::BitCast(r, biased), hn::Set(r, 0x1p52 + 1023));
  const Reals m = hn::BitCast(r, hn::Add(hn::And(shifted, hn::Set(d, 0x000FFFFFFFFFFFFFu)),
                                         hn::Set(d, 0x3FE6A09E667F3BCDu)));
  const Reals one = hn::Set(r, 1.0);
  const Reals s = hn::Div(hn::Sub(m, one), hn::Add(m, one));
  const Reals z = hn::Mul(s, s);
  Reals series = hn::Zero(r);
#pragma GCC unroll 11
  for (int k = 23; k >= 3; k -= 2) series = hn::Mul(hn::Add(series, hn::Set(r, 1.0 / k)), z);
  const Reals twice = hn::Mul(hn::Set(r, 2.0), s);
  const Reals rest = hn::Add(hn::Mul(twice, series), hn::Mul(exponent, hn::Set(r, rng::kLn2Low)));
  return hn::Add(hn::Mul(exponent, hn::Set(r, rng::kLn2High)), hn::Add(twice, rest));
}

/// sin and cos of 2 pi turns.
HWY_INLINE void sincos(Reals turns, Reals& sine, Reals& cosine) {
  const Word d;
  const Real r;
  const Reals quadrant = hn::Floor(hn::Add(hn::Mul(hn::Set(r, 4.0), turns), hn::Set(r, 0.5)));
  const Words number = hn::BitCast(d, hn::Add(quadrant, hn::Set(r, 0x1p52)));
  const Reals x =
      hn::Mul(hn::Set(r, rng::kTwoPi), hn::Sub(turns, hn::Mul(hn::Set(r, 0.25), quadrant)));
  const Reals z = hn::Mul(x, x);
  Reals sin_series = hn::Zero(r), cos_series = hn::Zero(r);
#pragma GCC unroll 8
  for (int k = 7; k >= 0; --k) {
    const auto at = static_cast<std::size_t>(k);
    cos_series = hn::Mul(hn::Add(cos_series, hn::Set(r, rng::kCosine[at])), z);
    sin_series = hn::Mul(hn::Add(sin_series, hn::Set(r, rng::kSine[at])), z);
  }
  const Reals s = hn::Add(x, hn::Mul(x, sin_series)), c = hn::Add(hn::Set(r, 1.0), cos_series);
  const auto swap = hn::RebindMask(r, hn::TestBit(number, hn::Set(d, 1u)));
  const auto flip = [&](Reals v, Words bits) {
    return hn::Xor(v, hn::BitCast(r, hn::ShiftLeft<62>(hn::And(bits, hn::Set(d, 2u)))));
  };
  sine = flip(hn::IfThenElse(swap, c, s), number);
  cosine = flip(hn::IfThenElse(swap, s, c), hn::Add(number, hn::Set(d, 1u)));
}

template <class T>
void fill_pairs(std::uint64_t key, std::uint64_t first, T* HWY_RESTRICT out, std::size_t count) {
  const Real r;
  const Word d;
  const std::size_t lanes = hn::Lanes(r);
  HWY_ALIGN double sines[hn::MaxLanes(r)], cosines[hn::MaxLanes(r)];
  for (std::size_t done = 0; done < count; done += lanes) {
    Words low, high;
    philox(key, hn::Iota(d, first + done), low, high);
    const Reals radius = hn::Sqrt(hn::Mul(hn::Set(r, -2.0), log(to_unit(low))));
    Reals sine, cosine;
    sincos(to_unit(high), sine, cosine);
    hn::Store(hn::Mul(radius, sine), r, sines);
    hn::Store(hn::Mul(radius, cosine), r, cosines);
    const std::size_t here = std::min(lanes, count - done);
    for (std::size_t i = 0; i < here; ++i) {
      out[2 * (done + i)] = static_cast<T>(cosines[i]);
      out[2 * (done + i) + 1] = static_cast<T>(sines[i]);
    }
  }
}
void float_pairs(std::uint64_t key, std::uint64_t first, float* out, std::size_t count) {
  fill_pairs(key, first, out, count);
}
void double_pairs(std::uint64_t key, std::uint64_t first, double* out, std::size_t count) {
  fill_pairs(key, first, out, count);
}

}  // namespace kerf::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kerf::detail {
HWY_EXPORT(float_pairs);
HWY_EXPORT(double_pairs);

void rng::fill_normal_pairs(Key key, std::uint64_t first, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(float_pairs)(key.value, first, out.data(), out.size() / 2);
}
void rng::fill_normal_pairs(Key key, std::uint64_t first, std::span<double> out) {
  HWY_DYNAMIC_DISPATCH(double_pairs)(key.value, first, out.data(), out.size() / 2);
}

}  // namespace kerf::detail
#endif  // HWY_ONCE
