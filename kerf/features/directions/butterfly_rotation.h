// Fast random rotations whose rows are orthogonal and exactly uniform.
//
//   V = R_k .. R_2 R_1 H D / sqrt(n),  y = V (x, 0)     n = 2^k: d padded to a power of two, at
//   least 8; H: +-1 Hadamard matrix; D: random signs; R_l rotates the n/2 pairs of coordinates that
//   are h = 2^(l-1) apart, each by an angle of its own; blocks of n rows are independent
//   Angles: cos^2 ~ Beta(h/2, h/2), that is (a, b)/|(a, b)| with a, b independent lengths of normal
//   vectors of h coordinates; signs are random for h = 1.
//
// Law:        every row of V is uniform on the unit sphere, so that a map that is unbiased for
//             uniform directions is unbiased for these.  Proof: a uniform vector of 2h coordinates
//             is two independent uniform ones of h, times a and b.  Read from R_k down to R_1, row j
//             splits in this way down to single numbers, and no two nodes of that tree share an
//             angle; H D / sqrt(n) is orthogonal and independent of it, which keeps the law.
//             Rows of one block are orthogonal, but not jointly those of a Haar matrix: H D is there
//             to spread rows of few numbers, whose angles would otherwise depend on each other.
// Cost:       a transform of length n and n log2 n rotations' halves for every n rows; 4 bytes times
//             n (1 + log2 n) a block, a little more for the first three levels.
// Reference:  Genz, "Methods for generating random orthogonal matrices", 1999 (butterflies); Yu et
//             al., "Orthogonal random features", NIPS 2016 (H D3 H D2 H D1, which this replaces).
// Differs:    the angles' law, which makes rows exactly uniform.  Rows of H D3 H D2 H D1 lie on a
//             lattice: for differences of two columns one inner product in ten is exactly 0 at
//             n = 32, a bias of 0.1 in a kernel value at any distance.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/random/random.h"
#include "kerf/core/rows/matrix.h"
#include "kerf/linalg/projection.h"

namespace kerf::detail {

class ButterflyRotation {
 public:
  ButterflyRotation() = default;
  ButterflyRotation(Index in_dim, Index count, rng::Key key);

  /// n of `in_dim`.
  static Index padded(Index in_dim);
  /// Memory of `count` directions for rows of `in_dim` columns.
  static Index bytes(Index in_dim, Index count);
  Index out_dim() const { return count_; }
  /// As Projection::apply.
  void apply(const RowsView& x, const Projection::Receive& receive) const;

 private:
  Index in_dim_ = 0, count_ = 0, length_ = 0;
  Matrix<float> signs_;   // of block b, with the factor n^(-1/2)
  Matrix<float> angles_;  // of block b: level after level (butterfly_rotation.cpp)
};

}  // namespace kerf::detail
