// Random features of the neural tangent kernel (NTK) and of the NNGP of ReLU networks, any depth.
//
// Two kinds of layers, option split: those of split_network.h, which have less variance and cost
// less, but spend features on an exact linear part (auto: where 16 d' <= M, and for the NTK with at
// most 512 features; true: always), and the published ones, which follow (all other maps; sketch
// none has no others).
//
//   x' = (x, bias);  psi_0 = phi_0 = x' / |x'|;  for l = 1 .. L, with random directions W_l:
//     phi_l = sqrt(2 c/m1) max(0, W_l phi_{l-1})   c = dimension of phi_{l-1} for unit directions
//     e_l   = sqrt(2/m0) [W_l phi_{l-1} > 0]       (W_l its own, unless directions are shared)
//     psi_l = [phi_l, Q_l(e_l (x) psi_{l-1})]      Q_l: sketch of the product into ms numbers
//   ntk: |x'| psi_L, M = m1 + ms features.   nngp: |x'| phi_L, M = m1.
//   signs (default, m0 >= 2):  e_l = [sqrt(1/2), sqrt(1/2/(m0 - 1)) sign(W_l phi_{l-1})]: the step
//   features of W_l and -W_l in another basis, m0 numbers of m0 - 1 directions.
//   sketch none keeps the whole tensor product, so its layers are narrow: layers of m order-1 and m
//   step features need P_L features, P_0 = d', P_l = m + m P_{l-1}.  m is the largest that fits M
//   (or option m0); the last layer gets the features left over as order-1 features.
//
// Unbiased:   at depth 1, for all options but directions gibbs (directions.h).  Beyond, every layer
// is unbiased given the one below,
//             and the whole has a bias of O(1/m1); none for nngp at x = y.
// Error:      depth 1, |x'| = |y'| = 1: <phi, phi> has Var <= 6/m1, <e, e> has
//             Var <= v0 = 1/(4 (m0 - 1)) with signs, 1/m0 with steps, and the sketch, uncorrelated
//             with both, adds S E|e(x)|^2 |e(y)|^2 <= S (signs: |e| = 1), S (1 + 1/m0) (steps),
//             with S = 8/ms (tensorsrht), 6/ms + 4/ms^2 (tensorsketch), 0 (none).  In all
//               shared directions:       Var <= (sqrt(6/m1) + sqrt(v0))^2 + S (..)
//               independent directions:  Var <= 6/m1 + v0 + S (..),
//             to be divided by k(x, x) k(y, y) = 4 (ntk); nngp: 6/m1.  Orthogonal directions:
//             observed to be lower, not proved (as in arc_cosine_features.h).
//             Depth L: relative_variance() is L times that, an estimate and no bound.
//             Signs against steps, orthogonal rows: tensorsrht at m0 = ms varies by 0.75/ms, not
//             1.25/ms.
// Cost:       a row: m (d' + (L - 1) m1) multiply-adds with m = max(m0, m1), twice that with
//             directions of their own, and L sketches.  As many floats; orthogonal directions of
//             the layers above the first cost a QR decomposition of m1 x m1.  Sparse rows are never
//             made dense for the first layer; tensorsrht spreads one row at a time (d' floats a
//             thread).
// Reference:  Zandieh et al., "Scaling neural tangent kernels via sketching and random features",
//             NeurIPS 2021, Algorithm 2 (tensorsrht); Han, Avron, Shoham, Kim, Shin, "Random
//             features for the neural tangent kernel", 2021 (tensorsketch).
// Differs:    directions exactly from the leverage-score law, no Gibbs sweeps (directions.h);
//             signs; e_l and phi_l share their directions by default: one projection instead of
//             two, every inner product keeps its expectation; a bias coordinate (0: the paper's
//             kernel).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/features/feature_bound.h"
#include "kerf/features/feature_map.h"
#include "kerf/features/network/ntk_map_options.h"
#include "kerf/features/network/split_network.h"
#include "kerf/sketch/sketch.h"

namespace kerf::detail {

class NtkRandomFeatures final : public FeatureMap {
 public:
  using Options = NtkMapOptions;
  static constexpr const char* kName = "ntk-rf";
  static constexpr const char* kOwner = "map ntk-rf";
  static constexpr const char* kPythonName = "NTKFeatures";
  static constexpr const char* kSummary =
      "random features of the neural tangent kernel (or NNGP) of a deep ReLU network";
  static constexpr const char* kFormula =
      "Random features of the neural tangent kernel of a ReLU network with `depth` hidden "
      "layers,\n"
      "``k(x, y) = |x'| |y'| T_L(a)``, T_0 = S_0 = a, S_l = kappa1(S_{l-1}), T_l = T_{l-1} "
      "kappa0(S_{l-1}) + S_l, x' = (x, bias).";

  /// Layer l = 1, 2, .. draws from key.child(l): its directions from child("directions") of that,
  /// those of the step features, unless shared, from child("step"), its sketch from
  /// child("sketch").
  NtkRandomFeatures(Index in_dim, const Options& options, rng::Key key);
  static std::optional<Params> stands_for(std::string_view kernel, const Params& options,
                                          const DataSummary& summary);
  static std::unique_ptr<Kernel> kernel(const Options& options);
  static double relative_variance(const Options& options);
  static double relative_bias(const Options& options);
  static void bounds(const BoundInputs& in, std::vector<FeatureBound>& out);
  static Index bytes(Index in_dim, const Options& options);

  /// Dimensions of one layer; m0 = ms = 0 for nngp.
  struct LayerSize {
    Index phi_in, psi_in;  ///< of phi_{l-1} and psi_{l-1}
    Index m1, m0, ms;      ///< of phi_l, of e_l and of their (sketched) products
    bool signs;            ///< e_l is a constant and m0 - 1 signs, not m0 steps
    Index step_directions() const { return signs ? m0 - 1 : m0; }
    Index psi_out() const { return m1 + ms; }
  };
  static std::vector<LayerSize> layer_sizes(Index in_dim, const Options& options);

 private:
  struct Layer {
    LayerSize size;
    float relu_scale, step_scale;
    DirectionSet directions;
    DirectionSet step_directions;        // nothing in it: shared
    std::unique_ptr<TensorMap> product;  // null: the whole tensor product, or none (nngp)
  };

  void transform_rows(const RowsView& x, MatrixView<float> out) const override;
  void transform_block(const RowsView& x, MatrixView<float> out) const;
  static void apply(const Layer& layer, const RowsView& phi, const RowsView& psi,
                    MatrixView<float> out);

  double bias_;
  std::vector<Layer> layers_;
  std::optional<SplitNetwork> split_;  // in place of the layers
};

}  // namespace kerf::detail
