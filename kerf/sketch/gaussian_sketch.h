// Gaussian projection: S has independent N(0, 1/m) entries.
//
// Unbiased:   E <S x, S y> = <x, y>.
// Variance:   Var <S x, S y> = (|x|^2 |y|^2 + <x, y>^2) / m.
// Subspaces:  on a k-dimensional space all singular values of S lie in 1 +- (sqrt(k/m) + t/sqrt m)
//             with probability 1 - 2 exp(-t^2/2).
// Cost:       2 d m flops a dense row, 2 nnz m a sparse one; d m floats of memory.
// Reference:  Johnson & Lindenstrauss 1984; Davidson & Szarek 2001 (the subspace bound).
// Differs:    nothing.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/random/random.h"
#include "kerf/linalg/projection.h"
#include "kerf/sketch/sketch.h"

namespace kerf::detail {

class GaussianSketch final : public Sketch {
 public:
  GaussianSketch(Index in_dim, Index out_dim, rng::Key key);

 private:
  void apply_rows(const RowsView& x, MatrixView<float> out) const override;
  Index grain() const override { return 96; }  // rows that share one reading of S

  Projection projection_;
};

}  // namespace kerf::detail
