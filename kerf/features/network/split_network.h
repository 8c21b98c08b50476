// NTK and NNGP random features with every part that is known exactly taken out of the randomness.
//
//   kappa1(a) = a/2 + E|t||t'|/2,   kappa0(a) = 1/2 + E sign(t) sign(t')/2,   t = <w, p>, t' = <w,
//   p'> (from relu(t) = (t + |t|)/2, step(t) = (1 + sign(t))/2: mixed terms vanish by symmetry), so
//   S_l = S_{l-1}/2 + F_l/2,   T_l = T_{l-1}/2 + Q_l/2 + S_l,    S_0 = T_0 = a
//   F_l = E|t||t'| = C |p||p'| + E (|t| - c|p|) (|t'| - c|p'|):  p = phi_{l-1}; one feature c|p|
//         and m1 features |<w_j, p>| - c|p|, c = E|<w, p>|/|p| known
//   Q_l = T_{l-1} E sign(t) sign(t'): ms features, the sketch of sign(W_l phi_{l-1}) (x) psi_{l-1}.
//   All layers' blocks stay in the map, with the factors that the recursion gives them:
//   phi_l = [2^(-l/2) u, .., sqrt(1/4) F_{l-1}, sqrt(1/2) F_l];   psi_l likewise, with Q_1 .. Q_l
//   z = psi_L (ntk) or phi_L (nngp), M = m_u + sum_l (1 + m1_l + ms_l).
//   u itself is exact (m_u = d'), or its SRHT where d' features would cost more than they save.
//   Features are shared out as the standard deviations that the blocks cause for nearly orthogonal
//   rows: 0.18 for |.| features, k/2 0.7^(L-k) for products of layer k.  Signs are no features of
//   the map, only work: m0 = M/4 of them are enough (M/2 lower the error by 1-3 %).
//
// Unbiased:   at depth 1; beyond, every layer is unbiased given the one below, and the whole has a
//             bias of O(1/m1).
// Error:      linear parts and means cause none: at depth 1 for orthogonal rows the centred |.|
//             features have (1 - 2/pi)^2/m1 in the place of 5/4/m1 for ReLU ones.
//             relative_variance() is 8 (sum of those standard deviations)^2 / M, an estimate from
//             above, no bound.
// Cost:       a row: m0 d' + sum_{l>1} m0 dim(phi_{l-1}) multiply-adds and L sketches; dim(phi) is
//             a fraction of M, so that depth costs far less than in ntk_random_features.h.
// Reference:  Zandieh et al., NeurIPS 2021, Algorithm 2, of which this is another form.
// Differs:    as said; one direction more gives |t| and sign(t), never relu and step.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <vector>

#include "kerf/features/network/ntk_map_options.h"
#include "kerf/sketch/sketch.h"
#include "kerf/sketch/srht.h"

namespace kerf::detail {

class SplitNetwork {
 public:
  /// Sizes of the parts.
  struct Plan {
    Index linear = 0;                       ///< m_u; the dimension of the rows: exact
    std::vector<Index> absolute, products;  ///< m1_l and ms_l; no products for nngp
    Index signs = 0;                        ///< m0, of each layer
    Index phi_dim(Index layer) const;       ///< of phi_l; layer 0: 0 (the row itself)
    Index psi_dim(Index layer) const;
  };
  static Plan plan(Index dim, const NtkMapOptions& options);

  /// What option split means by "auto" (NtkMapOptions::resolve puts true or false in its place): rows so
  /// short that their exact linear part costs little, or so few features of the NTK that the linear
  /// part is most of what they can learn.  Else it costs more than it gives: of images it takes a
  /// fifth of 4,096 features, which lowers the error of the kernel, but leaves learning as many
  /// nonlinear features less (docs/ntk.md).
  static bool pays(Index dim, NtkMapOptions options);
  /// Whether these options come to a split map for rows of `dim` coordinates: a sketch, enough
  /// features, and option split.  Early model files have "auto" still: short rows.
  static bool splits(Index dim, const NtkMapOptions& options);
  static double relative_variance(const NtkMapOptions& options);
  static Index bytes(Index dim, const NtkMapOptions& options);

  /// Layer l = 1, 2, .. draws from key.child(l).
  SplitNetwork(Index dim, const NtkMapOptions& options, rng::Key key);

  /// out(i, :) = z of unit row i, on the calling thread.
  void apply(const RowsView& u, MatrixView<float> out) const;

 private:
  struct Layer {
    DirectionSet directions, sign_directions;  // the latter empty: shared
    float absolute_scale, constant_scale, mean;
    std::unique_ptr<TensorMap> product;
  };

  void apply_layer(Index l, const RowsView& phi, const RowsView& psi, MatrixView<float> out) const;
  void gather(Index l, MatrixView<const float> raw, bool with_products, Matrix<float>& to) const;

  Plan plan_;
  Index depth_;
  bool ntk_;
  std::unique_ptr<Srht> linear_;
  std::vector<Layer> layers_;
};

}  // namespace kerf::detail
