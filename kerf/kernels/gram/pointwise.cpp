// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/gram/pointwise.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kerf/kernels/gram/pointwise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// After highway.h.
#include <hwy/contrib/math/math-inl.h>

#include "kerf/kernels/gram/kappa-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerf::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V>
HWY_INLINE V kappa0_of(D d, V u, V v) {
  const V m = hn::Min(u, v);
  const V p = hn::Mul(hn::Sqrt(m), horner(d, m, Polynomials<hn::TFromD<D>>::kA));
  return hn::IfThenElse(hn::Lt(v, u), p, hn::Sub(hn::Set(d, 1), p));
}

/// S_L and, where kNtk, T_L: the recursion of ntk.h.
template <bool kNtk, class D, class V>
HWY_INLINE V network_of(D d, V u, V v, Index depth) {
  using P = Polynomials<hn::TFromD<D>>;
  const V one = hn::Set(d, 1);
  // First layer: the cosine may be negative.
  const V m = hn::Min(u, v), root = hn::Sqrt(m);
  const auto negative = hn::Lt(v, u);
  const V q = hn::Mul(hn::Mul(m, root), horner(d, m, P::kB));
  V rest = hn::IfThenElse(negative, hn::Sub(one, q), hn::Sub(u, q));  // 1 - S_1
  V nngp = hn::IfThenElse(negative, q, hn::Sub(one, rest));
  V ntk = nngp;
  if constexpr (kNtk) {
    const V p = hn::Mul(root, horner(d, m, P::kA));
    const V kappa0 = hn::IfThenElse(negative, p, hn::Sub(one, p));
    const V cosine = hn::IfThenElse(negative, hn::Sub(v, one), hn::Sub(one, u));
    ntk = hn::MulAdd(cosine, kappa0, nngp);
  }
  for (Index layer = 1; layer < depth; ++layer) {
    const V s = hn::Sqrt(rest);
    if constexpr (kNtk) {
      const V kappa0 = hn::NegMulAdd(s, horner(d, rest, P::kA), one);
      rest = hn::NegMulAdd(hn::Mul(rest, s), horner(d, rest, P::kB), rest);
      ntk = hn::MulAdd(ntk, kappa0, hn::Sub(one, rest));
    } else {
      rest = hn::NegMulAdd(hn::Mul(rest, s), horner(d, rest, P::kB), rest);
      nngp = hn::Sub(one, rest);
    }
  }
  return kNtk ? ntk : nngp;
}

/// out = f(d, u, v), element by element; the last ones through a buffer of one vector.
template <class T, class F>
HWY_INLINE void map_pairs(const T* u, const T* v, T* out, std::size_t count, F f) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(f(d, hn::LoadU(d, u + i), hn::LoadU(d, v + i)), d, out + i);
  if (i == count) return;
  HWY_ALIGN T buffer[2][HWY_MAX_BYTES / sizeof(T)] = {};
  std::copy(u + i, u + count, buffer[0]);
  std::copy(v + i, v + count, buffer[1]);
  hn::Store(f(d, hn::Load(d, buffer[0]), hn::Load(d, buffer[1])), d, buffer[0]);
  std::copy_n(buffer[0], count - i, out + i);
}

template <class T>
HWY_INLINE void exp_minus_all(double factor, const T* x, T* out, std::size_t count) {
  map_pairs(x, x, out, count, [&](auto d, auto value, auto) HWY_ATTR {
    return hn::Exp(d, hn::Mul(hn::Set(d, static_cast<T>(-factor)), value));
  });
}

template <class T>
HWY_INLINE void exp_minus_sqrt_all(const T* x, T* out, std::size_t count) {
  map_pairs(x, x, out, count,
            [](auto d, auto value, auto) HWY_ATTR { return hn::Exp(d, hn::Neg(hn::Sqrt(value))); });
}

/// kThird: with the term r^2/3 of smoothness 5/2.
template <bool kThird, class T>
HWY_INLINE void matern_all(const T* x, T* out, std::size_t count) {
  map_pairs(x, x, out, count, [](auto d, auto value, auto) HWY_ATTR {
    const auto one = hn::Set(d, T{1});
    // exp(-1000) is 0 in either precision, and infinity times 0 would be no number.
    const auto r = hn::Min(hn::Sqrt(value), hn::Set(d, T{1000}));
    auto factor = hn::Add(one, r);
    if constexpr (kThird) factor = hn::MulAdd(hn::Mul(r, r), hn::Set(d, T(1.0 / 3)), factor);
    return hn::Min(one, hn::Mul(factor, hn::Exp(d, hn::Neg(r))));
  });
}

template <class T>
HWY_INLINE void reciprocal_all(const T* x, T* out, std::size_t count) {
  map_pairs(x, x, out, count,
            [](auto d, auto value, auto) HWY_ATTR { return hn::Div(hn::Set(d, T{1}), value); });
}

template <class T>
HWY_INLINE void kappa0_all(const T* u, const T* v, T* out, std::size_t count) {
  map_pairs(u, v, out, count, [](auto d, auto a, auto b) HWY_ATTR { return kappa0_of(d, a, b); });
}

template <bool kNtk, class T>
HWY_INLINE void network_all(Index depth, const T* u, const T* v, T* out, std::size_t count) {
  map_pairs(u, v, out, count,
            [depth](auto d, auto a, auto b) HWY_ATTR { return network_of<kNtk>(d, a, b, depth); });
}

// HWY_EXPORT takes functions, not templates.
void kappa0_f(const float* u, const float* v, float* out, std::size_t n) {
  kappa0_all(u, v, out, n);
}
void kappa0_d(const double* u, const double* v, double* out, std::size_t n) {
  kappa0_all(u, v, out, n);
}
void nngp_f(Index depth, const float* u, const float* v, float* out, std::size_t n) {
  network_all<false>(depth, u, v, out, n);
}
void nngp_d(Index depth, const double* u, const double* v, double* out, std::size_t n) {
  network_all<false>(depth, u, v, out, n);
}
void ntk_f(Index depth, const float* u, const float* v, float* out, std::size_t n) {
  network_all<true>(depth, u, v, out, n);
}
void ntk_d(Index depth, const double* u, const double* v, double* out, std::size_t n) {
  network_all<true>(depth, u, v, out, n);
}
void exp_f(double factor, const float* x, float* out, std::size_t n) {
  exp_minus_all(factor, x, out, n);
}
void exp_d(double factor, const double* x, double* out, std::size_t n) {
  exp_minus_all(factor, x, out, n);
}
void exp_sqrt_f(const float* x, float* out, std::size_t n) { exp_minus_sqrt_all(x, out, n); }
void exp_sqrt_d(const double* x, double* out, std::size_t n) { exp_minus_sqrt_all(x, out, n); }
void matern32_f(const float* x, float* out, std::size_t n) { matern_all<false>(x, out, n); }
void matern32_d(const double* x, double* out, std::size_t n) { matern_all<false>(x, out, n); }
void matern52_f(const float* x, float* out, std::size_t n) { matern_all<true>(x, out, n); }
void matern52_d(const double* x, double* out, std::size_t n) { matern_all<true>(x, out, n); }
void reciprocal_f(const float* x, float* out, std::size_t n) { reciprocal_all(x, out, n); }
void reciprocal_d(const double* x, double* out, std::size_t n) { reciprocal_all(x, out, n); }

}  // namespace kerf::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kerf::detail {

HWY_EXPORT(kappa0_f);
HWY_EXPORT(kappa0_d);
HWY_EXPORT(nngp_f);
HWY_EXPORT(nngp_d);
HWY_EXPORT(ntk_f);
HWY_EXPORT(ntk_d);
HWY_EXPORT(exp_f);
HWY_EXPORT(exp_d);
HWY_EXPORT(exp_sqrt_f);
HWY_EXPORT(exp_sqrt_d);
HWY_EXPORT(matern32_f);
HWY_EXPORT(matern32_d);
HWY_EXPORT(matern52_f);
HWY_EXPORT(matern52_d);
HWY_EXPORT(reciprocal_f);
HWY_EXPORT(reciprocal_d);

namespace pointwise {

void kappa0(std::span<const float> u, std::span<const float> v, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(kappa0_f)(u.data(), v.data(), out.data(), out.size());
}
void kappa0(std::span<const double> u, std::span<const double> v, std::span<double> out) {
  HWY_DYNAMIC_DISPATCH(kappa0_d)(u.data(), v.data(), out.data(), out.size());
}
void nngp(Index depth, std::span<const float> u, std::span<const float> v, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(nngp_f)(depth, u.data(), v.data(), out.data(), out.size());
}
void nngp(Index depth, std::span<const double> u, std::span<const double> v,
          std::span<double> out) {
  HWY_DYNAMIC_DISPATCH(nngp_d)(depth, u.data(), v.data(), out.data(), out.size());
}
void ntk(Index depth, std::span<const float> u, std::span<const float> v, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(ntk_f)(depth, u.data(), v.data(), out.data(), out.size());
}
void ntk(Index depth, std::span<const double> u, std::span<const double> v, std::span<double> out) {
  HWY_DYNAMIC_DISPATCH(ntk_d)(depth, u.data(), v.data(), out.data(), out.size());
}
void exp_minus(double factor, std::span<const float> x, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(exp_f)(factor, x.data(), out.data(), out.size());
}
void exp_minus(double factor, std::span<const double> x, std::span<double> out) {
  HWY_DYNAMIC_DISPATCH(exp_d)(factor, x.data(), out.data(), out.size());
}
void exp_minus_sqrt(std::span<const float> x, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(exp_sqrt_f)(x.data(), out.data(), out.size());
}
void exp_minus_sqrt(std::span<const double> x, std::span<double> out) {
  HWY_DYNAMIC_DISPATCH(exp_sqrt_d)(x.data(), out.data(), out.size());
}
void matern32(std::span<const float> x, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(matern32_f)(x.data(), out.data(), out.size());
}
void matern32(std::span<const double> x, std::span<double> out) {
  HWY_DYNAMIC_DISPATCH(matern32_d)(x.data(), out.data(), out.size());
}
void matern52(std::span<const float> x, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(matern52_f)(x.data(), out.data(), out.size());
}
void matern52(std::span<const double> x, std::span<double> out) {
  HWY_DYNAMIC_DISPATCH(matern52_d)(x.data(), out.data(), out.size());
}
void reciprocal(std::span<const float> x, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(reciprocal_f)(x.data(), out.data(), out.size());
}
void reciprocal(std::span<const double> x, std::span<double> out) {
  HWY_DYNAMIC_DISPATCH(reciprocal_d)(x.data(), out.data(), out.size());
}

}  // namespace pointwise
}  // namespace kerf::detail
#endif  // HWY_ONCE
