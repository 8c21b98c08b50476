// TensorSRHT: a sketch of x (x) y from two Hadamard transforms.
//
//   T(x, y)_i = (1 / sqrt m) (H D1 x)_{p_i} (H D2 y)_{r_i}      D1, D2: random signs
//
// Unbiased:   for any fixed p and r, thanks to the signs: E <T(x, y), T(x', y')> = <x,x'> <y,y'>.
// Variance:   with c = <x, x'>, e = <y, y'>, V = V(x, x'), W = V(y, y') (sketch.h), and rho_1,
//             rho_2 in [0, 1] of the balanced samples p and r (sampled_hadamard.h)
//               Var = (rho_1 e^2 V + rho_2 c^2 W + (1 + (1-rho_1)(1-rho_2)/(m-1)) V W) / m.
//             p and r uniform with replacement, as published, have rho = 1: at m = n the balanced
//             samples halve the variance of |T(x, y)|^2, from 8/m to 4/m of |x|^4 |y|^4.
// Cost:       n1 log2 n1 + n2 log2 n2 + m; m products.
// Reference:  Ahle et al., "Oblivious sketching of high-degree polynomial kernels", SODA 2020.
// Differs:    p and r balanced, p in order, r in random order: fewer random reads, less variance.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/sketch/sampled_hadamard.h"
#include "kerf/sketch/sketch.h"

namespace kerf::detail {

class TensorSrht final : public TensorMap {
 public:
  TensorSrht(Index left_dim, Index right_dim, Index out_dim, rng::Key key);

 private:
  void apply_rows(std::span<const RowsView> x, Index begin, Index end,
                  MatrixView<float> out) const override;

  SampledHadamard left_, right_;
};

}  // namespace kerf::detail
