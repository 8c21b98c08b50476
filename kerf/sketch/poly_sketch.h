// PolySketch: a sketch of x_1 (x) ... (x) x_p as a binary tree of degree-2 sketches.
//
//   leaves:  P = p rounded up to a power of two; leaf k takes x_k, leaves p .. P-1 take e_1
//   nodes:   T(left, right) of dimension m each, an independent TensorSRHT (tensor_srht.h)
//
// Powers:     Q(x^(l) (x) e_1^(P-l)) for all l = 0 .. p at once: going from l to l-1 turns leaf l-1
//             into a pad, so only the log2 P nodes above it are computed again, and whatever has
//             pads only below it was computed when the sketch was built.
// Leaves:     `srht`: the transform that a leaf's parent starts with is an SRHT of x already, so it
//             is taken from the d-dimensional row itself.  `osnap`: an OSNAP to m dimensions first,
//             O(c nnz) a leaf, then the parent's transform: for long sparse rows.
// Unbiased:   E <Q(x..), Q(y..)> = <x_1, y_1> ... <x_p, y_p>; e_1 counts as a factor.
// Variance:   let M >= E <., .>^2 and N >= E |.|^2 |.|^2 for the two vectors at a node.  At a leaf
//             M = <x, y>^2 and N = |x|^2 |y|^2 (OSNAP: plus V/m and 2 <x, y>^2 / m).  From
//             children l and r, with rho_l, rho_r of their samples (sampled_hadamard.h; 0 when the
//             padded length divides m),
//               M = M_l M_r + (rho_l (M_l+N_l) M_r + rho_r (M_r+N_r) M_l
//                              + (1 + 1/(m-1)) (M_l+N_l) (M_r+N_r)) / m
//               N = N_l N_r (1 + (2 rho_l + 2 rho_r + 4 (1 + 1/(m-1))) / m)
//             and Var <= M(root) - (product of inner products)^2: about 4 (p-1)/m for unit vectors
//             x = y, 8 (p-1)/m with the published sampling.  poly_sketch_variance() computes it.
// Cost:       2 (P-1) transforms of length m (the leaves' of length d) and P-1 products for one
//             tensor; all powers: about P log2 P of both.  2 P m floats of working memory a thread.
// Reference:  Ahle et al., "Oblivious sketching of high-degree polynomial kernels", SODA 2020;
//             Zandieh et al., "Scaling neural tangent kernels via sketching and random features",
//             NeurIPS 2021, lemma 1.
// Differs:    balanced samples (tensor_srht.h); srht leaves and their parent's transform are one.
//
// Powers of different degree from one sketch are correlated: concatenate them, never add them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/rows/matrix.h"
#include "kerf/sketch/count_sketch.h"
#include "kerf/sketch/sampled_hadamard.h"
#include "kerf/sketch/sketch.h"

namespace kerf::detail {

enum class PolyLeaf { srht, osnap };

struct PolySketchOptions {
  Index degree = 2;                ///< p
  Index out_dim = 1024;            ///< m
  PolyLeaf leaf = PolyLeaf::srht;  ///< what a leaf does first: for dense rows, or for sparse ones
  Index nonzeros = 4;              ///< c of OSNAP leaves
};

class PolySketch final : public TensorMap {
 public:
  PolySketch(Index in_dim, const PolySketchOptions& options, rng::Key key);

  Index degree() const { return factors(); }

  /// out(i, :) = Q(x_i^(power) (x) e_1^(P - power)), 0 <= power <= degree.
  void apply_power(const RowsView& x, Index power, MatrixView<float> out) const;
  /// Columns l m .. (l+1) m - 1 of out are power l, for l = 0 .. degree: (degree + 1) m columns.
  void apply_powers(const RowsView& x, MatrixView<float> out) const;

 private:
  class Tree;  // the state of one row's computation

  void apply_rows(std::span<const RowsView> x, Index begin, Index end,
                  MatrixView<float> out) const override;
  void require_shapes(const RowsView& x, MatrixView<float> out, Index cols) const;

  Index leaves_;  // P
  // Nodes are numbered as in a heap: root 1, children of v: 2v and 2v + 1, leaves P .. 2P - 1.
  // "Lifted" is a node's vector as its parent multiplies it: signs, transform, sample.
  std::vector<Osnap> counts_;           // of leaf k, for osnap leaves
  std::vector<SampledHadamard> lifts_;  // of node v, at v - 1 (the root's serves a tree of one)
  Matrix<float> pads_;                  // row v: node v lifted when all leaves below it are pads
};

/// The bound on Var <Q(x^(p)), Q(y^(p))> stated above, for p = options.degree, pads included.
double poly_sketch_variance(Index in_dim, const PolySketchOptions& options,
                            std::span<const float> x, std::span<const float> y);

}  // namespace kerf::detail
