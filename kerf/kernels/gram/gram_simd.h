// The vectorised inner loops of gram.h.  Rows and tiles are laid out by gram_tile.h.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "kerf/core/view.h"

namespace kerf::detail::gram_simd {

/// Squared distances of one row to `count` others from their dot products, in place:
///   D_j = max(0, x_square + y_square[j] - 2 dots[j]),   dots[j] := half ? D_j / 2 : D_j.
/// Lists in `close` the j that rounding may have spoilt: D_j is not at least
/// near (x_square + y_square[j]), or is more than `far`.  Returns how many.
template <class T>
Index distances(T* dots, Index count, T x_square, const T* y_square, T near, T far, bool half,
                std::int32_t* close);

/// sum_j (x_j x_factor - y_j y_factor)^2 in double; of equal rows exactly 0.
double squared_difference(const float* x, double x_factor, const float* y, double y_factor,
                          Index count);
/// sum_j |x_j - y_j| in double.
double l1_difference(const float* x, const float* y, Index count);

/// Columns that a packed panel of y is wide: a divisor of 32.
template <class T>
Index panel_width();

/// sums(i, j) += sum_k |x(i, k) - y(j, k)|, and products(i, j) *= prod_k (1 + (x - y)^2 scale^2).
/// x: rows row-major, `depth` apart; y: panels of panel_width() rows, coordinate by coordinate.
/// The tile is rows x cols, both multiples of 32.
template <class T>
void add_l1(const T* x, const T* y, Index depth, T* sums, Index rows, Index cols);
void multiply_cauchy(const double* x, const double* y, Index depth, double scale, double* products,
                     Index rows, Index cols);

}  // namespace kerf::detail::gram_simd
