// The Walsh-Hadamard transform of rows: y = H x, H_ij = (-1)^popcount(i & j), entries +-1.
//
//   H_1 = (1),   H_2n = ( H_n  H_n ; H_n -H_n ),   H_n H_n = n I      (natural order, no scale)
//
// Additions run by ascending distance 1, 2, 4, ... in every variant, and a sign is an exact factor,
// so all of them give the bits of the scalar reference on every CPU, whatever the vector width, the
// other rows of the block or the number of threads.
//
// Error:      relative to |x|_1: log2(n) 2^-24 (single), log2(n) 2^-53 (double).
// Cost:       n log2 n additions.  Six levels are done in registers in the first pass, three or
//             four in each later one; rows longer than the first-level cache recursively, block by
//             block, so that a row of 2^24 passes through main memory twice.
//             Measured: docs/sketches.md.
// Reference:  Fino & Algazi, "Unified matrix treatment of the fast Walsh-Hadamard transform", 1976;
//             Andoni et al., "Practical and optimal LSH for angular distance", NIPS 2015 (FFHT).
// Differs:    levels inside a vector are x * (+1, -1, ...) + shuffle(x), one fused operation each,
//             and later levels subtract by a fused operation too: both leave the adders free.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "kerf/core/view.h"

namespace kerf::detail {

/// Longest row that the transforms accept.
inline constexpr Index kMaxHadamard = Index{1} << 24;

/// Smallest power of two that is at least n (n >= 1): the length that a row is padded to.
Index hadamard_size(Index n);

/// Every row in place, on up to threads() threads.  x.cols must be a power of two <= kMaxHadamard.
void walsh_hadamard(MatrixView<float> x);
void walsh_hadamard(MatrixView<double> x);

/// Every column in place, x = H x, on the calling thread: x.rows a power of two, x.cols one from 8
/// on, without gaps between rows.
void walsh_hadamard_columns(MatrixView<float> x);

/// out = H (signs . x), x followed by zeros up to out.size(), a power of two; signs.size() >=
/// x.size().  `signs` may carry any factor (an isometry scale costs nothing there).  On the calling
/// thread; out may be x itself.
void signed_walsh_hadamard(std::span<const float> x, std::span<const float> signs,
                           std::span<float> out);

/// Random signs and a scale: a byte of 128 flips the sign of its number, one of 0 does not.
struct SignFlips {
  std::span<const std::uint8_t> flips;
  float scale;
};

/// out = H (+-scale a), or of the product a . b on its way into the transform (b empty: of a); zeros
/// follow up to out.size(), a power of two.  On the calling thread; out may be a itself.
void flipped_walsh_hadamard(std::span<const float> a, std::span<const float> b,
                            const SignFlips& signs, std::span<float> out);

/// One row, obvious and slow: the oracle.
void walsh_hadamard_reference(std::span<float> x);
void walsh_hadamard_reference(std::span<double> x);

}  // namespace kerf::detail
