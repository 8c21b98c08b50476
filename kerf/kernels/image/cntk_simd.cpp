// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/image/cntk_simd.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kerf/kernels/image/cntk_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// After highway.h.
#include "kerf/kernels/gram/kappa-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerf::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using cntk_simd::MapShape;
using cntk_simd::Window;

template <class T>
using Tag = hn::CappedTag<T, cntk_simd::kLanes>;

/// body(d, position in the map, position in images of the given stride) for all vectors of the map.
template <class T, class F>
HWY_INLINE void for_vectors(MapShape shape, Index stride, F body) {
  const Tag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index i = 0; i < shape.rows; ++i)
    for (Index j = 0; j < shape.cols; j += lanes) body(d, i * shape.stride + j, i * stride + j);
}

template <class T>
HWY_INLINE void window_sums_of(const T* in, T* HWY_RESTRICT lines, T* out, MapShape shape,
                               Window window) {
  for_vectors<T>(shape, 0, [&](auto d, Index at, Index) HWY_ATTR {
    const T* first = in + at + window.first;
    auto sum = hn::LoadU(d, first);
    for (Index b = 1; b < window.size; ++b) sum = hn::Add(sum, hn::LoadU(d, first + b));
    hn::StoreU(sum, d, lines + at);
  });
  const Tag<T> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index i = 0; i < shape.rows; ++i) {
    const Index begin = std::max<Index>(0, i + window.first);
    const Index end = std::min(shape.rows, i + window.first + window.size);
    for (Index j = 0; j < shape.cols; j += lanes) {
      auto sum = hn::Zero(d);
      for (Index k = begin; k < end; ++k)
        sum = hn::Add(sum, hn::LoadU(d, lines + k * shape.stride + j));
      hn::StoreU(sum, d, out + i * shape.stride + j);
    }
  }
}

template <class T>
HWY_INLINE void add_products_of(const T* HWY_RESTRICT y, const T* HWY_RESTRICT z, Index stride,
                                T* HWY_RESTRICT gram, MapShape shape) {
  for_vectors<T>(shape, stride, [&](auto d, Index at, Index from) HWY_ATTR {
    const auto product = hn::Mul(hn::LoadU(d, y + from), hn::LoadU(d, z + from));
    hn::StoreU(hn::Add(hn::LoadU(d, gram + at), product), d, gram + at);
  });
}

template <class T>
HWY_INLINE bool angles_of(const T* HWY_RESTRICT sums, const T* HWY_RESTRICT y,
                          const T* HWY_RESTRICT z, Index stride, T near, T* HWY_RESTRICT u,
                          T* HWY_RESTRICT v, MapShape shape) {
  const Tag<T> tag;
  auto least = hn::Set(tag, T{2});
  for_vectors<T>(shape, stride, [&](auto d, Index at, Index from) HWY_ATTR {
    const auto factor = hn::Mul(hn::LoadU(d, y + from), hn::LoadU(d, z + from));
    const auto a = hn::Mul(hn::LoadU(d, sums + at), factor);
    const auto zero = hn::Zero(d), one = hn::Set(d, T{1}), two = hn::Set(d, T{2});
    // Rounding may leave [-1, 1].
    const auto below = hn::Min(hn::Max(hn::Sub(one, a), zero), two);
    const auto above = hn::Min(hn::Max(hn::Add(one, a), zero), two);
    hn::StoreU(below, d, u + at);
    hn::StoreU(above, d, v + at);
    least = hn::Min(least, hn::IfThenElse(hn::Gt(factor, zero), hn::Min(below, above), two));
  });
  return hn::GetLane(hn::MinOfLanes(tag, least)) < near;
}

/// kappa0 of (u, v).
template <class D, class V>
HWY_INLINE V kappa0_at(D d, V u, V v) {
  const V m = hn::Min(u, v);
  const V p = hn::Mul(hn::Sqrt(m), horner(d, m, Polynomials<hn::TFromD<D>>::kA));
  return hn::IfThenElse(hn::Lt(v, u), p, hn::Sub(hn::Set(d, 1), p));
}

template <bool kTangent, class T>
HWY_INLINE void layer_of(const T* HWY_RESTRICT u, const T* HWY_RESTRICT v, const T* HWY_RESTRICT y,
                         const T* HWY_RESTRICT z, Index stride, T scale, T* HWY_RESTRICT gram,
                         T* HWY_RESTRICT rest, T* HWY_RESTRICT tangent, MapShape shape) {
  using P = Polynomials<T>;
  for_vectors<T>(shape, stride, [&](auto d, Index at, Index from) HWY_ATTR {
    const auto one = hn::Set(d, T{1});
    const auto below = hn::LoadU(d, u + at), above = hn::LoadU(d, v + at);
    const auto m = hn::Min(below, above), root = hn::Sqrt(m);
    const auto negative = hn::Lt(above, below);
    const auto q = hn::Mul(hn::Mul(m, root), horner(d, m, P::kB));
    const auto left = hn::IfThenElse(negative, hn::Sub(one, q), hn::Sub(below, q));
    const auto kappa1 = hn::IfThenElse(negative, q, hn::Sub(one, left));
    const auto norms = hn::Mul(hn::LoadU(d, y + from), hn::LoadU(d, z + from));
    const auto g = hn::Mul(norms, kappa1);
    hn::StoreU(left, d, rest + at);
    hn::StoreU(g, d, gram + at);
    if constexpr (kTangent) {
      const auto p = hn::Mul(root, horner(d, m, P::kA));
      const auto kappa0 = hn::IfThenElse(negative, p, hn::Sub(one, p));
      const auto slope =
          hn::IfThenElseZero(hn::Gt(norms, hn::Zero(d)), hn::Mul(kappa0, hn::Set(d, scale)));
      hn::StoreU(hn::MulAdd(hn::LoadU(d, tangent + at), slope, g), d, tangent + at);
    }
  });
}

template <class T>
HWY_INLINE double last_layer_of(const T* HWY_RESTRICT u, const T* HWY_RESTRICT v,
                                const T* HWY_RESTRICT y, const T* HWY_RESTRICT z, Index stride,
                                const T* HWY_RESTRICT tangent, MapShape shape) {
  const Tag<T> tag;
  auto sum = hn::Zero(tag);
  for_vectors<T>(shape, stride, [&](auto d, Index at, Index from) HWY_ATTR {
    const auto norms = hn::Mul(hn::LoadU(d, y + from), hn::LoadU(d, z + from));
    const auto kappa0 = kappa0_at(d, hn::LoadU(d, u + at), hn::LoadU(d, v + at));
    const auto slope = hn::IfThenElseZero(hn::Gt(norms, hn::Zero(d)), kappa0);
    sum = hn::MulAdd(hn::LoadU(d, tangent + at), slope, sum);
  });
  return static_cast<double>(hn::GetLane(hn::SumOfLanes(tag, sum)));
}

// HWY_EXPORT takes functions, not templates.
#define KERF_CNTK_FUNCTIONS(T, suffix)                                                          \
  void window_sums_##suffix(const T* in, T* lines, T* out, MapShape shape, Window window) {     \
    window_sums_of(in, lines, out, shape, window);                                              \
  }                                                                                             \
  void add_products_##suffix(const T* y, const T* z, Index stride, T* gram, MapShape shape) {   \
    add_products_of(y, z, stride, gram, shape);                                                 \
  }                                                                                             \
  bool angles_##suffix(const T* sums, const T* y, const T* z, Index stride, T near, T* u, T* v, \
                       MapShape shape) {                                                        \
    return angles_of(sums, y, z, stride, near, u, v, shape);                                    \
  }                                                                                             \
  void layer_##suffix(const T* u, const T* v, const T* y, const T* z, Index stride, T scale,    \
                      T* gram, T* rest, T* tangent, MapShape shape) {                           \
    if (tangent == nullptr)                                                                     \
      layer_of<false>(u, v, y, z, stride, scale, gram, rest, tangent, shape);                   \
    else                                                                                        \
      layer_of<true>(u, v, y, z, stride, scale, gram, rest, tangent, shape);                    \
  }                                                                                             \
  double last_layer_##suffix(const T* u, const T* v, const T* y, const T* z, Index stride,      \
                             const T* tangent, MapShape shape) {                                \
    return last_layer_of(u, v, y, z, stride, tangent, shape);                                   \
  }
KERF_CNTK_FUNCTIONS(float, f)
KERF_CNTK_FUNCTIONS(double, d)
#undef KERF_CNTK_FUNCTIONS

}  // namespace kerf::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kerf::detail {

#define KERF_CNTK_DISPATCH(T, suffix)                                                        \
  HWY_EXPORT(window_sums_##suffix);                                                          \
  HWY_EXPORT(add_products_##suffix);                                                         \
  HWY_EXPORT(angles_##suffix);                                                               \
  HWY_EXPORT(layer_##suffix);                                                                \
  HWY_EXPORT(last_layer_##suffix);                                                           \
  namespace cntk_simd {                                                                      \
  template <>                                                                                \
  void window_sums(const T* in, T* lines, T* out, MapShape shape, Window window) {           \
    HWY_DYNAMIC_DISPATCH(window_sums_##suffix)(in, lines, out, shape, window);               \
  }                                                                                          \
  template <>                                                                                \
  void add_products(const T* y, const T* z, Index stride, T* gram, MapShape shape) {         \
    HWY_DYNAMIC_DISPATCH(add_products_##suffix)(y, z, stride, gram, shape);                  \
  }                                                                                          \
  template <>                                                                                \
  bool angles(const T* sums, const T* y, const T* z, Index stride, T near, T* u, T* v,       \
              MapShape shape) {                                                              \
    return HWY_DYNAMIC_DISPATCH(angles_##suffix)(sums, y, z, stride, near, u, v, shape);     \
  }                                                                                          \
  template <>                                                                                \
  void layer(const T* u, const T* v, const T* y, const T* z, Index stride, T scale, T* gram, \
             T* rest, T* tangent, MapShape shape) {                                          \
    HWY_DYNAMIC_DISPATCH(layer_##suffix)                                                     \
    (u, v, y, z, stride, scale, gram, rest, tangent, shape);                                 \
  }                                                                                          \
  template <>                                                                                \
  double last_layer(const T* u, const T* v, const T* y, const T* z, Index stride,            \
                    const T* tangent, MapShape shape) {                                      \
    return HWY_DYNAMIC_DISPATCH(last_layer_##suffix)(u, v, y, z, stride, tangent, shape);    \
  }                                                                                          \
  }
KERF_CNTK_DISPATCH(float, f)
KERF_CNTK_DISPATCH(double, d)
#undef KERF_CNTK_DISPATCH

}  // namespace kerf::detail
#endif  // HWY_ONCE
