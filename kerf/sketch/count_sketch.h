// CountSketch and OSNAP: every coordinate is added, with a random sign, to few random places.
//
//   CountSketch:  (S x)_b = sum of s(j) x_j over j with h(j) = b,       h: [d] -> [m], s: +-1
//   OSNAP:        c independent CountSketches, one for each of c nearly equal ranges of the output
//                 (c nonzeros in every column of S), scaled by 1 / sqrt c
//
// Unbiased:   E <S x, S y> = <x, y>.
// Variance:   Var <S x, S y> = V(x, y) / m (sketch.h); for OSNAP V / c^2 times the sum of 1 / m_b
//             over the ranges' sizes m_b, which is V / m again when c divides m.
// Subspaces:  all of a k-dimensional space is kept to (1 +- eps)^2 in norm with probability
//             1 - delta by CountSketch when m >= (k^2 + k) / (eps^2 delta); OSNAP needs far fewer.
// Cost:       c nnz(x) additions a row, plus m to clear it.
// Reference:  Charikar, Chen, Farach-Colton, "Finding frequent items in data streams", 2002;
//             Nelson & Nguyen, "OSNAP: faster numerical linear algebra algorithms via sparser
//             subspace embeddings", FOCS 2013 (the block construction).
// Differs:    hashes are fully random tables instead of k-wise independent functions.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/random/random.h"
#include "kerf/sketch/sketch.h"

namespace kerf::detail {

class Osnap : public Sketch {
 public:
  /// `scale` multiplies the sketch (1 keeps inner products).
  Osnap(Index in_dim, Index out_dim, Index nonzeros, rng::Key key, double scale = 1);

  /// c: nonzeros in each column of S.
  Index nonzeros() const { return nonzeros_; }

 private:
  void apply_rows(const RowsView& x, MatrixView<float> out) const override;

  Index nonzeros_;
  std::vector<std::int32_t> places_;  // place k of coordinate j at j * nonzeros_ + k
  std::vector<float> signs_;          // its factor, +-scale / sqrt c
};

class CountSketch final : public Osnap {
 public:
  CountSketch(Index in_dim, Index out_dim, rng::Key key, double scale = 1)
      : Osnap(in_dim, out_dim, 1, key, scale) {}
};

}  // namespace kerf::detail
