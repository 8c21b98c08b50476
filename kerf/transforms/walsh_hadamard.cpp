// SPDX-License-Identifier: Apache-2.0
#include "kerf/transforms/walsh_hadamard.h"

#include <algorithm>
#include <bit>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kerf/transforms/walsh_hadamard.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kerf::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// At most 32 bytes a vector: wider ones would need one more level of shuffles.
template <class T>
using Lane = hn::CappedTag<T, 32 / sizeof(T)>;
template <class T>
using Vector = hn::Vec<Lane<T>>;
template <class T>
constexpr Index kLanes = static_cast<Index>(hn::MaxLanes(Lane<T>()));
/// Elements of the first pass's step: eight vectors.
template <class T>
constexpr Index kChunk = 8 * kLanes<T>;
/// Longest row that is transformed pass by pass: 32 KB, the first-level cache.
template <class T>
constexpr Index kBase = 32768 / sizeof(T);

/// a, b := a + b, a - b.
struct AddSubtract {
  template <class V>
  HWY_INLINE void operator()(V& a, V& b) const {
    const V sum = hn::Add(a, b);
    b = hn::Sub(a, b);
    a = sum;
  }
};

/// The same bits, the difference as a fused operation with the factor 1, which CPUs start on other
/// units than additions.  For passes without fused operations of their own.
template <class T>
struct AddFused {
  Vector<T> one;
  HWY_INLINE void operator()(Vector<T>& a, Vector<T>& b) const {
    const Vector<T> sum = hn::Add(a, b);
    b = hn::NegMulAdd(b, one, a);
    a = sum;
  }
};

/// Levels 1, 2, ... across K vectors.
template <int K, class V, class Butterfly>
HWY_INLINE void cross_levels(V* v, const Butterfly& butterfly) {
  if constexpr (K == 16) {  // by fours, so that few of the results wait for a register
#pragma GCC unroll 4
    for (int g = 0; g < 16; g += 4) cross_levels<4>(v + g, butterfly);
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) {
      butterfly(v[r], v[r + 4]);
      butterfly(v[r + 8], v[r + 12]);
      butterfly(v[r], v[r + 8]);
      butterfly(v[r + 4], v[r + 12]);
    }
  } else {
#pragma GCC unroll 4
    for (int step = 1; step < K; step *= 2)
#pragma GCC unroll 8
      for (int i = 0; i < K; ++i)
        if ((i & step) == 0) butterfly(v[i], v[i + step]);
  }
}

/// +1 where bit `distance` of the lane's number is clear, -1 where it is set.
template <class T>
HWY_INLINE Vector<T> level_signs(int distance) {
  alignas(32) T signs[kLanes<T>];
  for (int i = 0; i < kLanes<T>; ++i) signs[i] = (i & distance) != 0 ? T{-1} : T{1};
  return hn::Load(Lane<T>(), signs);
}

/// The levels inside one vector.
template <class T>
struct InnerLevels {
  Vector<T> signs1, signs2, signs4;

  HWY_INLINE Vector<T> operator()(Vector<T> v) const {
#if HWY_TARGET != HWY_SCALAR
    if constexpr (sizeof(T) == 4) {
      v = hn::MulAdd(v, signs1, hn::Shuffle2301(v));
      v = hn::MulAdd(v, signs2, hn::Shuffle1032(v));
      if constexpr (kLanes<T> == 8)
        v = hn::MulAdd(v, signs4, hn::ConcatLowerUpper(Lane<T>(), v, v));
    } else {
      v = hn::MulAdd(v, signs1, hn::Shuffle01(v));
      if constexpr (kLanes<T> == 4)
        v = hn::MulAdd(v, signs2, hn::ConcatLowerUpper(Lane<T>(), v, v));
    }
#endif
    return v;
  }
};

// ---- where the first pass reads from ------------------------------------------------------------

template <class T>
struct Plain {
  const T* x;
  Index size;
  HWY_INLINE Vector<T> load(Index i) const { return hn::LoadU(Lane<T>(), x + i); }
  T at(Index i) const { return x[i]; }
};

template <class T>
struct Signed {
  const T *x, *signs;
  Index size;
  HWY_INLINE Vector<T> load(Index i) const {
    return hn::Mul(hn::LoadU(Lane<T>(), x + i), hn::LoadU(Lane<T>(), signs + i));
  }
  T at(Index i) const { return x[i] * signs[i]; }
};

/// x, or a . b, times +-scale.  A byte for each sign: those of a whole tree of sketches then fit
/// the second-level cache beside its rows.
template <bool kProduct>
struct ByteSigned {
  const float *a, *b;
  const std::uint8_t* flips;
  float scale;
  Index size;
  HWY_INLINE Vector<float> load(Index i) const {
    const Lane<float> d;
    Vector<float> v = hn::LoadU(d, a + i);
    if constexpr (kProduct) v = hn::Mul(v, hn::LoadU(d, b + i));
    const hn::Rebind<std::uint32_t, Lane<float>> bits;
    const hn::Rebind<std::uint8_t, Lane<float>> bytes;
    const auto flip = hn::ShiftLeft<24>(hn::PromoteTo(bits, hn::LoadU(bytes, flips + i)));
    return hn::Xor(hn::Mul(v, hn::Set(d, scale)), hn::BitCast(d, flip));
  }
  float at(Index i) const {
    const float v = kProduct ? a[i] * b[i] * scale : a[i] * scale;
    return flips[i] != 0 ? -v : v;
  }
};

// ---- passes -------------------------------------------------------------------------------------

/// K vectors from `source`, all levels among them, to out.
template <int K, class T, class Source>
HWY_INLINE void transform_chunk(const Source& source, Index at, T* out,
                                const InnerLevels<T>& inner) {
  Vector<T> v[K];
#pragma GCC unroll 8
  for (int i = 0; i < K; ++i) v[i] = inner(source.load(at + i * kLanes<T>));
  cross_levels<K>(v, AddSubtract());
#pragma GCC unroll 8
  for (int i = 0; i < K; ++i) hn::StoreU(v[i], Lane<T>(), out + i * kLanes<T>);
}

/// The first levels of out[0 .. n), read from source[first ..) and zeros behind its end.
template <int K, class T, class Source>
HWY_INLINE void first_pass(const Source& source, Index first, T* out, Index n) {
  constexpr Index step = K * kLanes<T>;
  const InnerLevels<T> inner{level_signs<T>(1), level_signs<T>(2), level_signs<T>(4)};
  const Index whole = std::clamp<Index>((source.size - first) / step * step, 0, n);
  for (Index i = 0; i < whole; i += step) transform_chunk<K, T>(source, first + i, out + i, inner);
  if (whole == n) return;
  alignas(64) T tail[step] = {};
  for (Index i = first + whole; i < source.size; ++i) tail[i - first - whole] = source.at(i);
  transform_chunk<K, T>(Plain<T>{tail, step}, 0, out + whole, inner);
  std::fill(out + whole + step, out + n, T{0});
}

/// log2 R levels at distances stride, 2 stride, ...  A stride known to the compiler (S > 0) saves
/// the registers that addresses would take.
template <int R, Index S, class T>
HWY_NOINLINE void radix_pass(T* HWY_RESTRICT x, Index n, Index any_stride) {
  const Lane<T> d;
  const Index stride = S > 0 ? S : any_stride;
  const Vector<T> one = hn::Set(d, T{1});
  for (Index base = 0; base < n; base += R * stride)
    for (Index j = base; j < base + stride; j += kLanes<T>) {
      T* HWY_RESTRICT at = x + j;
      Vector<T> v[R];
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) v[r] = hn::LoadU(d, at + r * stride);
      cross_levels<R>(v, AddFused<T>{one});
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) hn::StoreU(v[r], d, at + r * stride);
    }
}

template <int R, class T>
void radix_pass(T* x, Index n, Index stride) {
  constexpr Index unit = kChunk<T>;
  if (stride == unit) return radix_pass<R, unit>(x, n, 0);
  if (stride == 4 * unit) return radix_pass<R, 4 * unit>(x, n, 0);
  if (stride == 8 * unit) return radix_pass<R, 8 * unit>(x, n, 0);
  return radix_pass<R, 0>(x, n, stride);
}

template <class T>
void radix_pass(Index radix, T* x, Index n, Index stride) {
  switch (radix) {
    case 2:
      return radix_pass<2>(x, n, stride);
    case 4:
      return radix_pass<4>(x, n, stride);
    case 8:
      return radix_pass<8>(x, n, stride);
    default:
      return radix_pass<16>(x, n, stride);
  }
}

/// Radix of the next pass when `factor` (a power of two) is still to do.
inline Index next_radix(Index factor) { return factor <= 16 ? factor : 8; }

/// The levels from distance `first` on of x[0 .. n), longer arrays recursively.
template <class T>
void later_passes(T* x, Index n, Index first) {
  if (n > kBase<T> && n > first) {
    const Index radix = std::min<Index>(8, n / std::max(first, kBase<T>));
    for (Index part = 0; part < n; part += n / radix) later_passes(x + part, n / radix, first);
    return radix_pass(radix, x, n, n / radix);
  }
  for (Index stride = first; stride < n;) {
    const Index radix = next_radix(n / stride);
    radix_pass(radix, x, n, stride);
    stride *= radix;
  }
}

/// Rows shorter than one vector.
template <class T, class Source>
void transform_tiny(const Source& source, T* out, Index n) {
  for (Index i = 0; i < n; ++i) out[i] = i < source.size ? source.at(i) : T{0};
  for (Index step = 1; step < n; step *= 2)
    for (Index i = 0; i < n; ++i)
      if ((i & step) == 0) {
        const T a = out[i], b = out[i + step];
        out[i] = a + b;
        out[i + step] = a - b;
      }
}

template <class T, class Source>
void transform_row(const Source& source, Index first, T* out, Index n) {
  if (n > kBase<T>) {
    const Index radix = std::min<Index>(8, n / kBase<T>);
    for (Index part = 0; part < n; part += n / radix)
      transform_row(source, first + part, out + part, n / radix);
    return radix_pass(radix, out, n, n / radix);
  }
  switch (n / kLanes<T>) {
    case 0:
      return transform_tiny(source, out, n);
    case 1:
      return first_pass<1>(source, first, out, n);
    case 2:
      return first_pass<2>(source, first, out, n);
    case 4:
      return first_pass<4>(source, first, out, n);
    default:
      first_pass<8>(source, first, out, n);
  }
  later_passes(out, n, kChunk<T>);
}

// ---- entry points -------------------------------------------------------------------------------

template <class T>
void transform_rows(T* x, Index rows, Index stride, Index n) {
  for (Index i = 0; i < rows; ++i) transform_row(Plain<T>{x + i * stride, n}, 0, x + i * stride, n);
}
void float_rows(float* x, Index rows, Index stride, Index n) { transform_rows(x, rows, stride, n); }
void double_rows(double* x, Index rows, Index stride, Index n) {
  transform_rows(x, rows, stride, n);
}
void float_columns(float* x, Index rows, Index cols) { later_passes(x, rows * cols, cols); }
void signed_row(const float* x, const float* signs, Index size, float* out, Index n) {
  transform_row(Signed<float>{x, signs, size}, 0, out, n);
}
void flipped_row(const float* a, const float* b, const SignFlips& signs, Index size, float* out,
                 Index n) {
  const std::uint8_t* flips = signs.flips.data();
  if (b == nullptr)
    transform_row(ByteSigned<false>{a, b, flips, signs.scale, size}, 0, out, n);
  else
    transform_row(ByteSigned<true>{a, b, flips, signs.scale, size}, 0, out, n);
}

}  // namespace kerf::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kerf::detail {
namespace {

HWY_EXPORT(float_rows);
HWY_EXPORT(double_rows);
HWY_EXPORT(float_columns);
HWY_EXPORT(signed_row);
HWY_EXPORT(flipped_row);

Index checked_length(Index n) {
  KERF_REQUIRE(n >= 1 && n <= kMaxHadamard && std::has_single_bit(static_cast<std::uint64_t>(n)),
               usage, "a Walsh-Hadamard transform of length {}: not a power of two up to {}", n,
               kMaxHadamard);
  return n;
}

/// Rows that one piece of a parallel_for takes: enough work to be worth handing out.
Index grain(Index n) { return std::max<Index>(1, (Index{1} << 16) / n); }

template <class T>
void reference(std::span<T> x) {
  const auto n = static_cast<std::size_t>(checked_length(static_cast<Index>(x.size())));
  for (std::size_t step = 1; step < n; step *= 2)
    for (std::size_t block = 0; block < n; block += 2 * step)
      for (std::size_t i = block; i < block + step; ++i) {
        const T a = x[i], b = x[i + step];
        x[i] = a + b;
        x[i + step] = a - b;
      }
}

}  // namespace

Index hadamard_size(Index n) {
  KERF_REQUIRE(n >= 1 && n <= kMaxHadamard, usage,
               "a row of {} cannot be padded for a Walsh-Hadamard transform (1 to {})", n,
               kMaxHadamard);
  return static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(n)));
}

void walsh_hadamard(MatrixView<float> x) {
  checked_length(x.cols);
  parallel_for(x.rows, grain(x.cols), [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(float_rows)(x.row(begin).data(), end - begin, x.stride, x.cols);
  });
}

void walsh_hadamard(MatrixView<double> x) {
  checked_length(x.cols);
  parallel_for(x.rows, grain(x.cols), [&](Index begin, Index end) {
    HWY_DYNAMIC_DISPATCH(double_rows)(x.row(begin).data(), end - begin, x.stride, x.cols);
  });
}

void walsh_hadamard_columns(MatrixView<float> x) {
  checked_length(x.rows);
  KERF_REQUIRE(x.cols >= 8 && hadamard_size(x.cols) == x.cols && x.stride == x.cols, usage,
               "a Walsh-Hadamard transform down {} columns, {} apart: not a power of two from 8 on",
               x.cols, x.stride);
  HWY_DYNAMIC_DISPATCH(float_columns)(x.data, x.rows, x.cols);
}

void signed_walsh_hadamard(std::span<const float> x, std::span<const float> signs,
                           std::span<float> out) {
  const Index n = checked_length(static_cast<Index>(out.size()));
  KERF_REQUIRE(x.size() <= out.size() && x.size() <= signs.size(), usage,
               "{} numbers and {} signs for a transform of length {}", x.size(), signs.size(), n);
  HWY_DYNAMIC_DISPATCH(signed_row)
  (x.data(), signs.data(), static_cast<Index>(x.size()), out.data(), n);
}

void flipped_walsh_hadamard(std::span<const float> a, std::span<const float> b,
                            const SignFlips& signs, std::span<float> out) {
  const Index n = checked_length(static_cast<Index>(out.size()));
  KERF_REQUIRE((b.empty() || a.size() == b.size()) && a.size() <= out.size() &&
                   a.size() <= signs.flips.size(),
               usage, "{} times {} numbers and {} signs for a transform of length {}", a.size(),
               b.size(), signs.flips.size(), n);
  HWY_DYNAMIC_DISPATCH(flipped_row)
  (a.data(), b.empty() ? nullptr : b.data(), signs, static_cast<Index>(a.size()), out.data(), n);
}

void walsh_hadamard_reference(std::span<float> x) { reference(x); }
void walsh_hadamard_reference(std::span<double> x) { reference(x); }

}  // namespace kerf::detail
#endif  // HWY_ONCE
