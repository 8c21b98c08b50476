// Products of a tile of a symmetric matrix with a few vectors, both ways in one read of the tile.
//
//   left  += x T^T,   right += y T       T: rows x cols; vectors are rows: x, right of length cols,
//                                        y, left of length rows
//
// Matrix products of a library pack T before they use it, which for ten vectors costs more than the
// product; and they read T once for each way.
//
// Cost:       4 flops for each vector and number of T; a number of T is loaded from memory once.
//             The order of sums depends on the vector width of the CPU only.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/view.h"

namespace kerf::detail {

/// On the calling thread.  With `right` empty (no rows) only the first product.
void add_tile_products(MatrixView<const double> tile, MatrixView<const double> x,
                       MatrixView<double> left, MatrixView<const double> y,
                       MatrixView<double> right);

}  // namespace kerf::detail
