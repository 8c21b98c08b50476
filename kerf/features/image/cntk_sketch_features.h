// CNTKSketch: the convolutional neural tangent kernel by sketching Taylor series pixel by pixel.
//
// The recursion of kernels/cntk.h with kappa1 and kappa0 replaced by polynomials P1 and P0:
//   phi_0 = x / |x| (pixels);  [x]: the q x q window of x around each pixel;  for h = 1 .. L - 1:
//     mu    = [phi_{h-1}] / |[phi_{h-1}]|
//     phi_h = |phi_h| m1 features of P1(<mu, mu'>)            |phi_h| known: pixel_norms.h
//     e_h   = m0 features of P0(<mu, mu'>), divided by q
//     eta_h = (Q_h([eta_{h-1}] (x) e_h), phi_h)               Q_h: TensorSRHT into ms
//   (no eta_0 and no product in layer 1, unless the first layer is trained)
//   last layer: e_L = m0 features as above, turned by a random rotation; b_i = sum_p e_Li(p)
//   [eta_{L-1}](p);  z = |x| / (q H W) (S_1 b_1, .., S_m0 b_m0), S_i independent subsampled
//   Hadamard transforms (window_sketch.h), M features in all; pooling none as in cntk-rf.
//   Series (taylor_map.h): cut off at `degree` and `step-degree`, the rest added to the highest
//   coefficient.  renormalise (default): phi_h, e_h and the products are scaled to the lengths that
//   they estimate.
//
// Bias:       that of the cut series, which relative_bias() computes on a grid for a single pixel,
//             and 2 L/m of renormalising and of the layers, m the least of m1, m0, ms, M.
// Error:      Var of (5 + L/2)/m of k(x, x) k(y, y), pooling none 1.6/K more (cntk_map.h).  Bias and
//             variance are measurements with a margin, no bounds: powers chain, the largest of 48
//             pairs of images of 6x6x3 and 7x1x1 (independent, alike, and all but equal), 40 to 60
//             maps, M = 2 m, m = 16 to 128, or M = 64 to 4,096, both poolings.  Var m was at most
//             5.3, 5.4, 4.8, 5.0 at depths 1, 2, 3, 5; the bias m beyond the series about 2.4 (two
//             standard errors taken off).  Without renormalise: 8 L/m for both, an estimate.
// Cost:       a pixel: a Hadamard transform of q^2 m1 numbers for each degree of each series, and
//             one of q^2 (m1 + ms) a layer; m0 q^2 (m1 + ms) multiply-adds.  Linear in the pixels.
// Memory:     signs and samples of the transforms; an image of m1 + ms channels, twice, a thread.
// Reference:  Zandieh et al., "Scaling neural tangent kernels via sketching and random features",
//             NeurIPS 2021, section 4 and appendix G.
// Differs:    windows enter the next sketch as they are: one transform of a window is a sum of
//             independent ones, one for each offset, and R, which the paper takes of it first,
//             would only add noise.  The last product is pooled before it is sketched, once an
//             image, and there is no Gaussian projection after it.  Practical sizes; renormalised
//             layers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/features/image/cntk_map.h"
#include "kerf/features/image/pixel_norms.h"
#include "kerf/features/image/window_sketch.h"
#include "kerf/features/network/taylor_map.h"
#include "kerf/sketch/tensor_srht.h"

namespace kerf::detail {

struct CntkSketchOptions : SeriesOptions {
  CntkOptions network;
  Index features = 4096;
  Index m1 = 64;
  Index m0 = 128;
  Index ms = 128;

  static void resolve(OpenOptions& options) { CntkOptions::resolve(options); }
  void describe(OptionVisitor& v) {
    network.describe(v);
    v.integer("features", features, {2, 1 << 24}, "number of features");
    SeriesOptions::describe(v);
    v.integer("m1", m1, {1, 1 << 16}, "sketch of a pixel's covariance");
    v.integer("m0", m0, {1, 1 << 16}, "sketch of a pixel's derivative");
    v.integer("ms", ms, {1, 1 << 16}, "numbers that a pixel's products are sketched to");
  }
};

class CntkSketchFeatures final : public CntkMap {
 public:
  using Options = CntkSketchOptions;
  static constexpr const char* kName = "cntk-sketch";
  static constexpr const char* kOwner = "map cntk-sketch";
  static constexpr const char* kPythonName = "CNTKSketch";
  static constexpr const char* kSummary =
      "sketch of the convolutional neural tangent kernel by Taylor series of every pixel (images)";
  static constexpr bool kConvolves = true;

  CntkSketchFeatures(Index in_dim, const Options& options, rng::Key key);
  static std::unique_ptr<Kernel> kernel(const Options& options);
  static double relative_variance(const Options& options);
  static double relative_bias(const Options& options);
  static Index bytes(Index in_dim, const Options& options);

 private:
  struct Layer {
    std::optional<TaylorMap> covariance, derivative;  // phi_h; e_h where there are products
    std::optional<TensorSrht> product;
  };

  void transform_image(std::span<const float> pixels, double norm,
                       std::span<float> out) const override;
  void apply(const Layer& layer, const PixelMap& below, Index phi, const PixelNorms& norms,
             PixelMap& next) const;
  void last_factors(const PixelMap& below, Index phi, Matrix<float>& factors) const;

  Options options_;
  std::vector<Layer> layers_;                // h = 1 .. L - 1
  std::optional<TaylorMap> last_;            // e_L
  std::unique_ptr<SampledHadamard> rotate_;  // of e_L
  std::unique_ptr<WindowSketch> output_;
};

}  // namespace kerf::detail
