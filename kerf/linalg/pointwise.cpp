// SPDX-License-Identifier: Apache-2.0
#include "kerf/linalg/pointwise.h"

#include <cstddef>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kerf/linalg/pointwise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kerf/core/random/sincos-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerf::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;

/// Calls body(pointer to a full vector of input, where its output goes): the last vector, if not
/// full, goes through a buffer, so that it is computed by the same instructions.
template <class Body>
HWY_INLINE void for_each_vector(const float* in, std::size_t count, float* first, float* second,
                                Body body) {
  const std::size_t lanes = hn::Lanes(Tag());
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) body(in + i, first + i, second + i);
  if (i == count) return;
  HWY_ALIGN float padded[HWY_MAX_BYTES / sizeof(float)] = {};
  HWY_ALIGN float result[2][HWY_MAX_BYTES / sizeof(float)];
  for (std::size_t k = i; k < count; ++k) padded[k - i] = in[k];
  body(padded, result[0], result[1]);
  for (std::size_t k = i; k < count; ++k) first[k] = result[0][k - i];
  for (std::size_t k = i; second != first && k < count; ++k) second[k] = result[1][k - i];
}

void sincos_turns(const float* turns, std::size_t count, float scale, float* cosine, float* sine) {
  const Tag d;
  for_each_vector(turns, count, cosine, sine, [=](const float* in, float* c_out, float* s_out) {
    Vector c, s;
    sincos(d, hn::LoadU(d, in), c, s);
    hn::StoreU(hn::Mul(c, hn::Set(d, scale)), d, c_out);
    hn::StoreU(hn::Mul(s, hn::Set(d, scale)), d, s_out);
  });
}

void cos_turns(const float* turns, std::size_t count, float scale, float* out) {
  const Tag d;
  for_each_vector(turns, count, out, out, [=](const float* in, float* c_out, float*) {
    Vector c, s;
    sincos(d, hn::LoadU(d, in), c, s);
    hn::StoreU(hn::Mul(c, hn::Set(d, scale)), d, c_out);
  });
}

void relu(const float* in, std::size_t count, float scale, float* out) {
  const Tag d;
  const Vector largest = hn::Set(d, std::numeric_limits<float>::max());
  for_each_vector(in, count, out, out, [=](const float* from, float* to, float*) {
    const Vector v = hn::LoadU(d, from);
    const Vector positive = hn::IfThenElseZero(hn::Gt(v, hn::Zero(d)), v);  // NaN becomes 0
    // Clamped before and after: an infinite input, and a scale above 1.
    const Vector scaled = hn::Mul(hn::Min(positive, largest), hn::Set(d, scale));
    hn::StoreU(hn::Min(scaled, largest), d, to);
  });
}

void step(const float* in, std::size_t count, float scale, float* out) {
  const Tag d;
  for_each_vector(in, count, out, out, [=](const float* from, float* to, float*) {
    hn::StoreU(hn::IfThenElseZero(hn::Gt(hn::LoadU(d, from), hn::Zero(d)), hn::Set(d, scale)), d,
               to);
  });
}

void sign(const float* in, std::size_t count, float scale, float* out) {
  const Tag d;
  for_each_vector(in, count, out, out, [=](const float* from, float* to, float*) {
    hn::StoreU(hn::IfThenElse(hn::Gt(hn::LoadU(d, from), hn::Zero(d)), hn::Set(d, scale),
                              hn::Set(d, -scale)),
               d, to);
  });
}

void absolute(const float* in, std::size_t count, float scale, float mean, float* out) {
  const Tag d;
  const Vector largest = hn::Set(d, std::numeric_limits<float>::max());
  for_each_vector(in, count, out, out, [=](const float* from, float* to, float*) {
    const Vector size = hn::Abs(hn::LoadU(d, from));
    const Vector known = hn::IfThenElseZero(hn::Eq(size, size), hn::Min(size, largest));
    const Vector scaled = hn::Mul(hn::Sub(known, hn::Set(d, mean)), hn::Set(d, scale));
    hn::StoreU(hn::Min(scaled, largest), d, to);
  });
}

}  // namespace kerf::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kerf::detail {

HWY_EXPORT(sincos_turns);
HWY_EXPORT(cos_turns);
HWY_EXPORT(relu);
HWY_EXPORT(step);
HWY_EXPORT(sign);
HWY_EXPORT(absolute);

void sincos_turns(std::span<const float> turns, float scale, float* cosine, float* sine) {
  HWY_DYNAMIC_DISPATCH(sincos_turns)(turns.data(), turns.size(), scale, cosine, sine);
}
void cos_turns(std::span<const float> turns, float scale, float* out) {
  HWY_DYNAMIC_DISPATCH(cos_turns)(turns.data(), turns.size(), scale, out);
}
void relu(std::span<const float> in, float scale, float* out) {
  HWY_DYNAMIC_DISPATCH(relu)(in.data(), in.size(), scale, out);
}
void step(std::span<const float> in, float scale, float* out) {
  HWY_DYNAMIC_DISPATCH(step)(in.data(), in.size(), scale, out);
}

void sign(std::span<const float> in, float scale, float* out) {
  HWY_DYNAMIC_DISPATCH(sign)(in.data(), in.size(), scale, out);
}
void absolute(std::span<const float> in, float scale, float mean, float* out) {
  HWY_DYNAMIC_DISPATCH(absolute)(in.data(), in.size(), scale, mean, out);
}

double squared_norm(std::span<const float> x) {
  // Four sums, so that additions overlap; the order is fixed.
  double sums[4] = {};
  std::size_t i = 0;
  for (; i + 4 <= x.size(); i += 4)
    for (std::size_t k = 0; k < 4; ++k) sums[k] += double{x[i + k]} * x[i + k];
  for (; i < x.size(); ++i) sums[0] += double{x[i]} * x[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace kerf::detail
#endif  // HWY_ONCE
