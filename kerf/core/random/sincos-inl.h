// cos and sin of angles in turns, for files that Highway compiles once for each CPU.  Include it
// after highway.h, inside no namespace.
//
// SPDX-License-Identifier: Apache-2.0
#if defined(KERF_CORE_SINCOS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERF_CORE_SINCOS_INL_H_
#undef KERF_CORE_SINCOS_INL_H_
#else
#define KERF_CORE_SINCOS_INL_H_
#endif
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kerf::detail::HWY_NAMESPACE {

/// cos and sin of 2 pi t.  t less its nearest quarter is exact in floating point; the polynomials
/// on an eighth of a turn are Cephes' (S. L. Moshier), which are within one unit in the last place.
template <class Tag, class Vector = hwy::HWY_NAMESPACE::Vec<Tag>>
HWY_INLINE void sincos(Tag d, Vector t, Vector& cosine, Vector& sine) {
  namespace hn = hwy::HWY_NAMESPACE;
  const auto constant = [d](float value) { return hn::Set(d, value); };
  const auto bounded = hn::Lt(hn::Abs(t), constant(8388608.0f));  // false for NaN as well
  const Vector turns = hn::IfThenElseZero(bounded, t);
  const Vector fraction = hn::Sub(turns, hn::Round(turns));
  const Vector quarter = hn::Round(hn::Mul(fraction, constant(4.0f)));
  const Vector eighth = hn::NegMulAdd(quarter, constant(0.25f), fraction);
  const Vector x = hn::Mul(eighth, constant(6.28318530717958648f));
  const Vector z = hn::Mul(x, x);
  Vector s = hn::MulAdd(constant(-1.9515295891e-4f), z, constant(8.3321608736e-3f));
  s = hn::MulAdd(s, z, constant(-1.6666654611e-1f));
  s = hn::MulAdd(hn::Mul(s, z), x, x);
  Vector c = hn::MulAdd(constant(2.443315711809948e-5f), z, constant(-1.388731625493765e-3f));
  c = hn::MulAdd(c, z, constant(4.166664568298827e-2f));
  c = hn::MulAdd(hn::Mul(c, z), z, hn::NegMulAdd(constant(0.5f), z, constant(1.0f)));
  // quarter is -2, -1, 0, 1 or 2: odd ones swap, and signs follow.
  const auto odd = hn::Eq(hn::Abs(quarter), constant(1.0f));
  const auto half = hn::Eq(hn::Abs(quarter), constant(2.0f));
  const Vector sign_of_quarter = hn::CopySign(constant(1.0f), quarter);
  const Vector swapped_cosine = hn::Neg(hn::Mul(sign_of_quarter, s));
  const Vector swapped_sine = hn::Mul(sign_of_quarter, c);
  cosine = hn::IfThenElse(odd, swapped_cosine, hn::IfThenElse(half, hn::Neg(c), c));
  sine = hn::IfThenElse(odd, swapped_sine, hn::IfThenElse(half, hn::Neg(s), s));
}

}  // namespace kerf::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
