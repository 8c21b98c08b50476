// NTKSketch: the neural tangent kernel of a ReLU network by sketching Taylor series layer by layer.
//
//   x' = (x, bias);  phi_0 = psi_0 = x'/|x'|;  for l = 1 .. L, with sketches of its own:
//     phi_l = m1 features of the polynomial kernel P1(<phi_{l-1}, phi_{l-1}'>)   P1: kappa1, Taylor
//     e_l   = m0 features of the polynomial kernel P0(<phi_{l-1}, phi_{l-1}'>)   P0: kappa0, Taylor
//     psi_l = R_l [ Q_l(psi_{l-1} (x) e_l), phi_l ]      Q_l: TensorSRHT into ms, R_l: SRHT into ms
//   z(x) = |x'| psi_L; in the last layer R_L goes to the M features asked for.
//   The series are cut off at `degree` and `step-degree`; what is cut off is added to the highest
//   coefficient, so that both polynomials are 1 at 1, and they are right at -1 as well.
//   powers chain (default): polynomial_map.h, exact in low degrees where that pays.  polysketch: as
//   published, all degrees of one padded PolySketch (poly_sketch.h) into m1 (m0) numbers each, then
//   an SRHT of them all into m1 (m0).
//   renormalise (default): phi_l and e_l are scaled to length 1, psi_l to length sqrt(l + 1), the
//   values they estimate, after each layer: polynomials are not homogeneous and would amplify an
//   error of the length layer by layer; and the diagonal, (L + 1)|x'|^2, becomes exact.
//
// Bias:       that of the cut series, computed by relative_bias() on a grid, and O(1/m) from
//             renormalising and from the layers, (2 + L)/m with m the least of m1, m0, ms, M.
// Error:      Var of (1 + L/2)/m (chain), (3 + L/2)/m (polysketch) of k(x, x) k(y, y).  Both are
//             measurements with a margin, no bounds: the largest of seven cosines from -1 to 0.99,
//             random pairs of 3 and 40 columns, 400 maps (100 at 512), all sizes equal to m = 6 to
//             512.  Var m was 1.3, 1.1, 1.3, 1.6, 3.5 at depths 1, 2, 3, 4, 8 (chain), up to 3.1,
//             2.7, 1.8 at depths 1, 2, 3 (polysketch); the bias m was 1.1 at depth 1, 5.6 at 8
//             (two standard errors taken off).
//             Without renormalise: 8 L/m for both, which holds at depth 1 from m = 64 on (Var m was
//             6.6).  Deeper, powers of the lengths' errors have heavy tails, and nothing of the
//             kind holds: at depth 2 and m = 64 Var m was 80 (chain) and 6,000 (polysketch).
// Cost:       a row and layer: Hadamard transforms, two for each degree (chain) or about 2 P log2 P
//             for P the degree rounded up to a power of two (polysketch).  Never a product of
//             matrices.  The first layer transforms all d' coordinates of a row, zeros too: no map
//             for sparse rows.
// Reference:  Zandieh et al., "Scaling neural tangent kernels via sketching and random features",
//             NeurIPS 2021, Algorithm 1.
// Differs:    practical sizes; the missing mass of the series; renormalised layers; no sketch of
//             the row before the first layer and no Gaussian projection after the last (both only
//             add noise when sizes are equal); chain; a bias coordinate.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/features/directions/directions.h"
#include "kerf/features/feature_map.h"
#include "kerf/features/network/ntk_map_options.h"
#include "kerf/features/network/taylor_map.h"
#include "kerf/kernels/network/ntk.h"
#include "kerf/sketch/srht.h"
#include "kerf/sketch/tensor_srht.h"

namespace kerf::detail {

struct NtkSketchOptions : SeriesOptions {
  Index depth = 2;
  Index features = 4096;
  Index m1 = 0;
  Index m0 = 0;
  Index ms = 0;
  std::optional<double> bias;

  static void resolve(OpenOptions& options) { options.settle_length("bias"); }
  void describe(OptionVisitor& v) {
    describe_depth(v, depth, features);
    SeriesOptions::describe(v);
    v.integer("m1", m1, {0, 1 << 24}, "sketch of a layer's covariance; 0: as many as features");
    v.integer("m0", m0, {0, 1 << 24}, "sketch of a layer's derivative; 0: as many as features");
    v.integer("ms", ms, {0, 1 << 24}, "sketched products of a layer; 0: as many as features");
    describe_bias(v, bias);
  }
};

class NtkSketchFeatures final : public FeatureMap {
 public:
  using Options = NtkSketchOptions;
  static constexpr const char* kName = "ntk-sketch";
  static constexpr const char* kOwner = "map ntk-sketch";
  static constexpr const char* kPythonName = "NTKSketchFeatures";
  static constexpr const char* kSummary =
      "sketch of the neural tangent kernel of a ReLU network by Taylor series, layer by layer";

  NtkSketchFeatures(Index in_dim, const Options& options, rng::Key key);
  static std::unique_ptr<Kernel> kernel(const Options& options);
  static double relative_variance(const Options& options);
  static double relative_bias(const Options& options);
  static Index bytes(Index in_dim, const Options& options);

 private:
  struct Layer {
    TaylorMap covariance, derivative;
    TensorSrht product;
    Srht compress;
  };

  void transform_rows(const RowsView& x, MatrixView<float> out) const override;
  void apply(const Layer& layer, const RowsView& phi, const RowsView& psi, MatrixView<float> next,
             MatrixView<float> out) const;

  double bias_;
  bool renormalise_;
  std::vector<Layer> layers_;
};

}  // namespace kerf::detail
