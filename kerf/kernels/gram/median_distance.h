// The automatic bandwidth: the median distance between two rows of a sample.
//
//   s = median over pairs i < j of |x_i - x_j|,  at most 1,000 rows
//
// The distance is the one that the kernel falls off with: L1 for laplacian, L2 for gaussian and
// laplacian-l2.  cauchy takes L2 as well: prod 1/(1 + d_j^2/s^2) is about exp(-|d|^2/s^2), so that
// a pair at the median distance has a value near 1/e, as with the others.
//
// Error:      none but rounding; the (upper) median of the distances that are not zero where more
//             than half of the pairs are equal; 1 where all rows are.  Positive always.
// Cost:       half a million distances, each O(columns); 4 MB.
// Reference:  folklore ("median heuristic"): Garreau, Jitkrittum & Kanagawa, "Large sample analysis
//             of the median heuristic", 2017.
// Differs:    s is the median itself, not the median over sqrt(2).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/kernels/automatic.h"

namespace kerf::detail {

/// The median distance of two of the rows; of more than 1,000 rows, evenly spaced ones are used.
double median_distance(const RowsView& rows, DistanceNorm norm);

}  // namespace kerf::detail
