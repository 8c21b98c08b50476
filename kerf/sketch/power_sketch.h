// PowerSketch: sketches of the tensor powers x, x (x) x, x (x) x (x) x, .. of one row, each into a
// dimension of its own, in one pass.
//
//   y_1 = S x                                     into m_1 numbers, an SRHT
//   y_2 = (1/sqrt n_2) (A_2 x) . (B_2 x)          A, B: signs, Hadamard, sample
//   (sampled_hadamard.h) y_j = (1/sqrt n_j) (A_j y_{j-1}) . (B_j x)    a chain of TensorSRHTs
//   (tensor_srht.h) power j: m_j of the n_j coordinates of y_j, drawn without replacement, times
//   sqrt(n_j/m_j); n_j = max(m_j, m_{j+1}, ..), rounded up to a power of two.
//
// Unbiased:   E <Q_j(x), Q_j(y)> = <x, y>^j.
// Variance:   the recursion of poly_sketch.h along the chain, with rho = 1: with (M, N) = (<x,y>^2,
//             |x|^2 |y|^2) for x itself, and for node j of dimension m from (M', N') of node j - 1
//               M_j = M' M + ((M'+N') M + (M+N) M' + (1 + 1/(m-1)) (M'+N') (M+N)) / m
//               N_j = N' N (1 + (4 + 4 (1 + 1/(m-1))) / m),
//             nodes below j at m = n, node j at m = m_j: about 8 (j-1)/m for unit x = y, 1/m for
//             orthogonal rows.  power_sketch_variance() computes it.
// Cost:       for each power one transform of the row (length d) and one of length n_{j-1}.  A
//             PolySketch tree gives all p powers with p log p transforms, and pads them.
// Leaves:     B_j x is an SRHT of the row, or, where d is large against the output, of an OSNAP of
//             it: O(nnz) a power for long sparse rows.
// Reference:  Ahle et al., "Oblivious sketching of high-degree polynomial kernels", SODA 2020,
//             where a tree takes the place of the chain.
// Differs:    a chain: for one pair of rows as many noisy products as a tree, without pads, and low
//             powers are by-products of high ones.
//
// Powers are correlated with each other: concatenate them, never add them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "kerf/sketch/count_sketch.h"
#include "kerf/sketch/sampled_hadamard.h"

namespace kerf::detail {

class PowerSketch {
 public:
  /// out_dims[j - 1]: dimension of power j, 0 for a power that is not wanted.
  PowerSketch(Index in_dim, std::vector<Index> out_dims, rng::Key key);

  Index in_dim() const { return in_dim_; }
  /// Sum of the dimensions.
  Index out_dim() const { return out_dim_; }

  /// The powers of row i side by side in out(i, :), the first power first.
  void apply(const RowsView& x, MatrixView<float> out) const;

  /// Whether rows of this dimension are hashed before they are transformed.
  static bool hashes(Index in_dim, const std::vector<Index>& out_dims);

 private:
  /// B_j: a function of the row.
  struct Leaf {
    std::optional<Osnap> hash;
    SampledHadamard transform;
  };
  struct Power {
    Index dim = 0;     // m_j
    Index length = 0;  // n_j
    float scale = 1;   // sqrt(n_j / m_j)
    std::vector<std::int32_t> sample;
    std::optional<SampledHadamard> lift;  // A_j of y_{j-1}; none for j <= 2
    std::vector<Leaf> leaves;             // B_j, and for j = 2 A_2 before it
  };

  Leaf make_leaf(Index length, double scale, SampledHadamard::Order order, rng::Key key) const;
  void apply_leaf(const Leaf& leaf, const RowsView& x, Index i, std::span<float> out) const;
  void apply_row(const RowsView& x, Index i, std::span<float> out) const;

  Index in_dim_, out_dim_ = 0;
  Index hash_dim_ = 0;  // 0: leaves transform the row itself
  std::optional<Osnap> first_hash_;
  std::optional<SampledHadamard> first_;  // power 1
  std::vector<Power> powers_;             // from j = 2
};

/// The bound on Var <Q_j(x), Q_j(y)> stated above for unit rows with <x, y> = inner.
double power_sketch_variance(const std::vector<Index>& out_dims, Index power, double inner,
                             bool hashes);

}  // namespace kerf::detail
