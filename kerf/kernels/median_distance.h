// The median distance between rows: the automatic bandwidth of shift-invariant kernels.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/view.h"

namespace kerf {

enum class Norm { l1, l2 };

/// Median of |x_i - x_j| over all pairs i < j; 1 when there is no pair or the median is 0.
/// Cost O(rows^2 cols): for samples.
double median_distance(const RowsView& rows, Norm norm);

}  // namespace kerf
