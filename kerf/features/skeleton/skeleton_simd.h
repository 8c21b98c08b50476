// The inner loop of skeleton features, vectorised over rows for the CPU at hand.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/features/skeleton/skeleton_draw.h"

namespace kerf::detail {

/// Rows are handled in multiples of this (padded).
inline constexpr Index kSkeletonLanes = 16;

/// out[(j - begin) * stride + r] = column j of row r.  `atoms`, `numbers`: one line of `stride`
/// values, a row each, for each atom (and number that gaussian factors use).  stride: a multiple of
/// kSkeletonLanes.  A row's value does not depend on the rows beside it.
void skeleton_columns(const SkeletonTable& table, Index begin, Index end, const float* atoms,
                      const float* numbers, Index stride, float* out);

}  // namespace kerf::detail
