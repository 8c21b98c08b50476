// The inner loops of passes over stored rows, vectorised for the CPU at hand.
//
// Rows kept in 16 bits are fixed point with one scale for each row: element = scale * integer.
//
// Error:      an element is off by at most scale/2 = max|row| / 65534.  Half-precision floats would
//             be off by up to |element| / 2048: for features, which are all of one size, fixed
//             point is some thirty times as exact in the same memory.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "kerf/core/rows/matrix.h"

namespace kerf::detail {

/// out[j] = round(row[j] / scale); returns scale (0 for a row of zeros).
float encode16(std::span<const float> row, std::int16_t* out);
/// out[j] = scale in[j].
void decode16(const std::int16_t* in, float scale, std::span<float> out);

/// out (rows x vectors) = z v^T, for a matrix v with a vector in each row.
void rows_times(MatrixView<const float> z, MatrixView<const float> v, MatrixView<float> out);
/// g (vectors x columns) = p^T z.
void times_rows(MatrixView<const float> p, MatrixView<const float> z, MatrixView<float> g);

/// <z, u> and <z, w> in one read of z, in double.
std::pair<double, double> two_dots(std::span<const float> z, std::span<const double> u,
                                   std::span<const double> w);

}  // namespace kerf::detail
