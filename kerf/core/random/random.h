// Counter-based randomness: a random number is a pure function of (key, index).
//
// There is no generator object and no state to advance.  A Key names a random stream; child()
// derives an independent stream from a label.  Two consequences the library relies on:
//   * the numbers drawn do not depend on threads, on block size or on the order of the calls;
//   * a fitted map is stored as (name, options, seed), never as its random matrix.
//
// Bits:       the same on every CPU: Philox is integer arithmetic, and the functions that turn
//             bits into draws use only + - * / sqrt in double, in one order, no contraction.
// Cost:       22 ns a normal on one core, 9 ns when many are drawn (random_simd.h;
//             bench/projection_bench.cpp).
// Reference:  Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011;
//             Box & Muller 1958 (normal); Marsaglia & Tsang 2000 (chi).
// Differs:    nothing.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "kerf/core/view.h"

namespace kerf::detail::rng {

/// 64-bit name of a random stream.
struct Key {
  std::uint64_t value = 0;

  Key child(std::uint64_t label) const;
  Key child(std::string_view label) const;
  bool operator==(const Key&) const = default;
};

/// Philox4x32-10 on the full 128-bit counter: the published function.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key);

/// 128 random bits for counter `index` of stream `key`; `attempt` is the counter's upper half.
std::array<std::uint32_t, 4> bits(Key key, std::uint64_t index, std::uint64_t attempt = 0);

double uniform(Key key, std::uint64_t index);                        ///< in (0, 1), never 0 or 1
double normal(Key key, std::uint64_t index);                         ///< N(0, 1)
double sign(Key key, std::uint64_t index);                           ///< +1 or -1
std::uint64_t below(Key key, std::uint64_t index, std::uint64_t n);  ///< uniform in {0..n-1}
double cauchy(Key key, std::uint64_t index);                         ///< density 1/(pi (1 + x^2))
double laplace(Key key, std::uint64_t index);                        ///< density exp(-|x|)/2
/// Length of a standard normal vector of `degrees` coordinates, degrees >= 1.
double chi(Key key, std::uint64_t index, Index degrees);

/// out[i] = draw(key, first + i): the same numbers as the single calls, faster.
void fill_normal(Key key, std::uint64_t first, std::span<float> out);
void fill_normal(Key key, std::uint64_t first, std::span<double> out);
void fill_uniform(Key key, std::uint64_t first, std::span<double> out);
void fill_sign(Key key, std::uint64_t first, std::span<float> out);

/// Vector number `index` of dimension out.size(), uniform on the unit sphere.
void sphere(Key key, std::uint64_t index, std::span<float> out);

}  // namespace kerf::detail::rng
