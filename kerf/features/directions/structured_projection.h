// Inner products with random directions that are a fast transform: O(m log d) a row.
//
//   V = H G P H B / (|g| sqrt(n)),  y = V (x, 0)     H: +-1 Hadamard matrix of n = d padded to a
//   power of two; B: random signs; P: random permutation; G = diag(g), g ~ N(0, I); blocks of n
//   rows are independent
//
// Law:        a row of n^(-1/2) H G P H B is exactly N(0, I_n) (given B and P it is Gaussian, and
//             H, P, B are orthogonal up to scale), and all rows of a block have the length |g|.
//             Divided by it, every row is uniform on the unit sphere of R^n: unbiased wherever unit
//             directions are, with n in the place of d.  Rows of one block are dependent.
// Cost:       2 transforms of length n for every n directions; 8 n bytes a block.
// Reference:  Le, Sarlos & Smola, "Fastfood", ICML 2013.
// Differs:    no random row lengths: positively homogeneous features need directions only, and one
//             length common to n rows would only add variance.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/random/random.h"
#include "kerf/core/rows/matrix.h"
#include "kerf/linalg/projection.h"

namespace kerf::detail {

class StructuredProjection {
 public:
  StructuredProjection() = default;
  /// n is at least `shortest`, a power of two.
  StructuredProjection(Index in_dim, double bias, Index count, rng::Key key, Index shortest = 1);

  Index out_dim() const { return count_; }
  /// As Projection::apply, for rows (x, bias).
  void apply(const RowsView& x, const Projection::Receive& receive) const;

 private:
  Index in_dim_ = 0, count_ = 0, length_ = 0;
  float bias_ = 0;
  Matrix<float> signs_;  // of block b: row 2b: B, row 2b + 1: g / (|g| sqrt(n))
  Matrix<std::int32_t> permutations_;
};

}  // namespace kerf::detail
