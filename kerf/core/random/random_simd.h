// Normal draws, several at a time: the numbers of rng::normal, to the bit.
//
// Philox is integer arithmetic, and what turns bits into normals uses + - * / sqrt in double only,
// in the order of random.cpp: IEEE operations, which give the same bits in a vector.
//
// Cost:       bench/projection_bench.cpp, BM_Normals.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/random/random.h"

namespace kerf::detail::rng {

/// Normals 2 pair and 2 pair + 1 for pair = first .. first + out.size() / 2 - 1.
void fill_normal_pairs(Key key, std::uint64_t first, std::span<float> out);
void fill_normal_pairs(Key key, std::uint64_t first, std::span<double> out);

/// Taylor coefficients: kCosine[k] = (-1)^(k+1)/(2k+2)!, kSine[k] = (-1)^(k+1)/(2k+3)!.
inline constexpr auto taylor = [](int first) {
  std::array<double, 8> c{};
  double factorial = 1;
  for (int i = 2, k = 0; k < 8; ++i) {
    factorial *= i;
    if (i == first + 2 * k) {
      c[k] = (k % 2 == 0 ? -1 : 1) / factorial;
      ++k;
    }
  }
  return c;
};
inline constexpr std::array<double, 8> kCosine = taylor(2), kSine = taylor(3);
inline constexpr double kLn2High = 0x1.62e42fefa38p-1, kLn2Low = 0x1.ef35793c7673p-45;
inline constexpr double kTwoPi = 6.283185307179586;

}  // namespace kerf::detail::rng
