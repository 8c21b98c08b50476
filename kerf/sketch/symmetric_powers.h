// Exact feature maps of the powers <x, y>^j: all monomials of degree j, each once.
//
//   z_alpha(x) = sqrt(j! / (alpha_1! .. alpha_d!)) x_1^alpha_1 .. x_d^alpha_d,   |alpha| = j
//   <z(x), z(y)> = <x, y>^j by the multinomial theorem; C(d+j-1, j) numbers instead of d^j.
//
// Error:      rounding only.
// Cost:       two multiplications a number: a monomial of degree j is one of degree j - 1 times a
//             coordinate that comes before all of its own.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/core/view.h"

namespace kerf::detail {

class SymmetricPowers {
 public:
  /// Degrees 1 .. degree of rows of in_dim coordinates; degree 0 gives an empty map.
  SymmetricPowers(Index in_dim, Index degree);

  /// C(d+j-1, j), or `cap` if that is more.
  static Index dimension(Index in_dim, Index degree, Index cap);

  /// out[j - 1] = scale[j - 1] z(x) of degree j; an empty span: not wanted.
  void apply(std::span<const float> x, std::span<const float> scale,
             std::span<const std::span<float>> out) const;

 private:
  struct Degree {
    std::vector<float> factor;   // sqrt(multinomial), by monomial
    std::vector<Index> offsets;  // where the monomials with smallest coordinate i begin
  };
  std::vector<Degree> degrees_;
};

}  // namespace kerf::detail
