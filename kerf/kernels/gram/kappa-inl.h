// The polynomials behind kappa0 and kappa1 (pointwise.h), for every file that works with vectors of
// angles.  Included once for each CPU target, after highway.h.
//
// SPDX-License-Identifier: Apache-2.0
#if defined(KERF_KERNELS_KAPPA_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERF_KERNELS_KAPPA_INL_H_
#undef KERF_KERNELS_KAPPA_INL_H_
#else
#define KERF_KERNELS_KAPPA_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kerf::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A and B of pointwise.h, constant term first.
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

}  // namespace kerf::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per target
