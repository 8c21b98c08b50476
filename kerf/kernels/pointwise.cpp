// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/pointwise.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kerf/kernels/pointwise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// After highway.h.
#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace kerf::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A and B of the header, constant term first.
template <class T>
struct Polynomials;
template <>
struct Polynomials<float> {
  static constexpr float kA[] = {
      0.45015815880899018f,    0.037513061833523841f,    0.0084435685350989654f,
      0.0024810251219444367f,  0.001007629499317206f,    -9.8761593120049072e-05f,
      0.00075542180885611798f, -0.00047799858057994636f, 0.00021789324463894287f};
  static constexpr float kB[] = {0.30010544216718082f,    0.015004935362840116f,
                                 0.0024168369667631568f,  0.00052784841588052883f,
                                 0.00023626932486084994f, -5.6086314953474845e-05f,
                                 7.4634553996670821e-05f};
};
template <>
struct Polynomials<double> {
  static constexpr double kA[] = {
      0.45015815807855303,     0.037513179839879306,    0.0084404654639899743,
      0.0025120432918572752,   0.00085479253975568388,  0.00031471849189536484,
      0.00012206158422120644,  4.905037569400504e-05,   2.0710814462807605e-05,
      6.6660085839753929e-06,  1.0756768585851841e-05,  -1.8591268087005112e-05,
      4.5736987228618384e-05,  -7.8130247355409727e-05, 0.00010655846049907594,
      -0.00011123668523939797, 8.8132101362113882e-05,  -5.1119449573846076e-05,
      2.0590376226546029e-05,  -5.1585569629419858e-06, 6.1502442376390928e-07};
  static constexpr double kB[] = {
      0.30010543871903533,     0.015005271935951629,    0.0024115615611516915,
      0.00055823184207040783,  0.00015541683945398936,  4.8418020349384832e-05,
      1.6276910061119543e-05,  5.7570652780765141e-06,  2.2442593729592274e-06,
      4.1707755070255971e-07,  1.4606615789851387e-06,  -2.3402925629499989e-06,
      4.1249691864395806e-06,  -5.0639476913551662e-06, 4.7444420195279632e-06,
      -3.1899386332346103e-06, 1.4820626924734547e-06,  -4.2422567144499744e-07,
      5.8222596912694222e-08};
};

template <class D, class V, class T, std::size_t N>
HWY_INLINE V horner(D d, V x, const T (&coefficients)[N]) {
  V sum = hn::Set(d, coefficients[N - 1]);
#pragma GCC unroll 32
  for (std::size_t i = N - 1; i > 0; --i) sum = hn::MulAdd(sum, x, hn::Set(d, coefficients[i - 1]));
  return sum;
}

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
void reciprocal_f(const float* x, float* out, std::size_t n) { reciprocal_all(x, out, n); }
void reciprocal_d(const double* x, double* out, std::size_t n) { reciprocal_all(x, out, n); }

}  // namespace kerf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kerf {

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
void reciprocal(std::span<const float> x, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(reciprocal_f)(x.data(), out.data(), out.size());
}
void reciprocal(std::span<const double> x, std::span<double> out) {
  HWY_DYNAMIC_DISPATCH(reciprocal_d)(x.data(), out.data(), out.size());
}

}  // namespace pointwise
}  // namespace kerf
#endif  // HWY_ONCE
