// SRHT: the subsampled randomised Hadamard transform.
//
//   S x = (1 / sqrt m) P H D x        (sampled_hadamard.h: random signs, H of n = d padded to a
//                                      power of two, m balanced samples)
//
// Unbiased:   E <S x, S y> = <x, y>.
// Variance:   Var <S x, S y> = rho V(x, y) / m,  rho = t (n - t) / (m (n - 1)), t = m mod n: for
//             m < n that is (1 - (m-1)/(n-1)) V / m; when n divides m, S is an isometry.
// Subspaces:  for m >= 4 (sqrt k + sqrt(8 ln(k n)))^2 ln k, m <= n, the singular values on a
//             k-dimensional space lie in [0.40, 1.48] with probability 1 - 3/k.
// Cost:       n log2 n + m a row, one pass over memory.
// Reference:  Ailon & Chazelle, "Approximate nearest neighbors and the fast Johnson-Lindenstrauss
//             transform", STOC 2006; Tropp, "Improved analysis of the subsampled randomized
//             Hadamard transform", 2011.
// Differs:    balanced sampling, and any m, also beyond n.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/sketch/sampled_hadamard.h"
#include "kerf/sketch/sketch.h"

namespace kerf::detail {

class Srht final : public Sketch {
 public:
  Srht(Index in_dim, Index out_dim, rng::Key key);

 private:
  void apply_rows(const RowsView& x, MatrixView<float> out) const override;

  SampledHadamard transform_;
};

}  // namespace kerf::detail
