// Fast random rotations: inner products with rows that are orthogonal and nearly uniform.
//
//   V = n^(-3/2) H D3 H D2 H D1,  y = V (x, 0)     H: +-1 Hadamard matrix of n = d padded to a
//   power of two, at least 32; D1, D2, D3: random signs; blocks of n rows are independent
//
// Law:        V is orthogonal; E V^T V-moments are those of a rotation up to the second, but a row
//             is not quite uniform on the sphere: for small n its coordinates take few values.  The
//             bias that is left in a Gaussian kernel value is 0.06 at n = 8, 0.007 at n = 16 and
//             below 0.003 from n = 32 on (largest over lengths 0.5-3 and directions, lengths of
//             rows chi distributed): hence the padding to 32.
// Cost:       3 transforms of length n for every n rows; 12 n bytes a block.
// Reference:  Yu et al., "Orthogonal random features", NIPS 2016 (SORF).
// Differs:    padding to at least 32.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/matrix.h"
#include "kerf/core/projection.h"
#include "kerf/core/random.h"

namespace kerf {

class HadamardRotation {
 public:
  HadamardRotation() = default;
  HadamardRotation(Index in_dim, Index count, rng::Key key);

  /// n of `in_dim`.
  static Index padded(Index in_dim);
  Index out_dim() const { return count_; }
  /// As Projection::apply.
  void apply(const RowsView& x, const Projection::Receive& receive) const;

 private:
  Index in_dim_ = 0, count_ = 0, length_ = 0;
  Matrix<float> signs_;  // of block b: rows 3b, 3b + 1, 3b + 2; the last carries n^(-3/2)
};

}  // namespace kerf
