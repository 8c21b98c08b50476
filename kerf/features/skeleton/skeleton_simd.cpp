// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/skeleton/skeleton_simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kerf/features/skeleton/skeleton_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kerf/core/random/sincos-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerf::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// At most kSkeletonLanes lanes, so that they divide the padded number of rows.
using SkeletonTag = hn::CappedTag<float, 16>;

void columns(const SkeletonTable& table, std::size_t begin, std::size_t end, const float* atoms,
             const float* numbers, std::size_t stride, float* out) {
  const SkeletonTag d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t j = begin; j < end; ++j, out += stride) {
    const std::size_t first = table.first_factor[j], last = table.first_factor[j + 1];
    const std::size_t first_term = table.first_term[j], last_term = table.first_term[j + 1];
    const ColumnKind kind = table.kind[j];
    const bool wave = kind != ColumnKind::real;
    // Phases stand before real factors.
    std::size_t split = first;
    if (wave)
      while (split < last && table.atoms[table.atom[split]].is_phase()) ++split;
    const auto weight = hn::Set(d, table.weight[j]);
    // cos(t + 1/4 turn) = -sin t.
    const auto start = hn::Set(d, kind == ColumnKind::sine ? 0.25f : 0.0f);
    for (std::size_t r = 0; r < stride; r += lanes) {
      auto value = weight;
      if (wave) {
        auto turns = start;
        for (std::size_t k = first; k < split; ++k)
          turns = hn::MulAdd(hn::Set(d, static_cast<float>(table.exponent[k])),
                             hn::LoadU(d, atoms + table.atom[k] * stride + r), turns);
        for (std::size_t k = first_term; k < last_term; ++k)
          turns = hn::MulAdd(hn::Set(d, table.coefficient[k]),
                             hn::LoadU(d, numbers + table.number[k] * stride + r), turns);
        auto cosine = turns, sine = turns;
        sincos(d, turns, cosine, sine);
        value = hn::Mul(value, cosine);
      }
      for (std::size_t k = split; k < last; ++k) {
        const auto real = hn::LoadU(d, atoms + table.atom[k] * stride + r);
        for (std::int32_t e = 0; e < table.exponent[k]; ++e) value = hn::Mul(value, real);
      }
      hn::StoreU(value, d, out + r);
    }
  }
}

}  // namespace kerf::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kerf::detail {

HWY_EXPORT(columns);

void skeleton_columns(const SkeletonTable& table, Index begin, Index end, const float* atoms,
                      const float* numbers, Index stride, float* out) {
  HWY_DYNAMIC_DISPATCH(columns)
  (table, begin, end, atoms, numbers, stride, out);
}

}  // namespace kerf::detail
#endif  // HWY_ONCE
