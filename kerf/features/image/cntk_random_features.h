// Random features of the convolutional neural tangent kernel: random convolutions throughout.
//
// The recursion of kernels/cntk.h, with kappa1(a) = E sqrt(2) max(0, t) sqrt(2) max(0, t') and
// kappa0(a) = 1/2 + E sign(t) sign(t') / 2, t = <w, x>, t' = <w, x'> for a random direction w.
//   phi_0 = x / |x| (pixels);  [x]: the q x q window of x around each pixel;  for h = 1 .. L - 1:
//     t_h   = (<w_i, [phi_{h-1}]>)_i                          a random convolution, `width` filters
//     phi_h = sqrt(2 d/width) max(0, t_h) / q                  d = dimension of w, unit filters
//     eta_h = (products_h, phi_h),  <products_h, products_h'> ~ <psi_{h-1}, psi_{h-1}'> D_h:
//             <a_i, psi> sqrt(1/2/s_a) / q                    i <= s_a: the constant 1/2
//             <a_i, psi> sign(t_hi) sqrt(1/2/s_b) / q         s_b more;  a_i random signs
//     products_h and phi_h are scaled to the lengths they have on average (pixel_norms.h)
//     psi_h = [eta_h]  (psi_0 = nothing, or [phi_0] with the first layer trained)
//   last layer, with m0 filters: b_0 = sum_p psi_{L-1}(p), b_i = sum_p sign(t_Li(p)) psi_{L-1}(p),
//   z = |x| sqrt(1/2) / (q H W) (S_0 b_0, S_1 b_1 / sqrt(m0), .., S_m0 b_m0 / sqrt(m0)),
//   S_i independent subsampled Hadamard transforms (sketch/sampled_hadamard.h), M features in all.
//   pooling none: all pixels' S (psi, +-psi, ..) added, each pixel with signs of its own in S.
//
// Unbiased:   at depth 1.  Beyond, there is a bias of O(1/width): measured in docs/cntk.md. Without
//             renormalise every layer is unbiased given the one below, and the whole is not.
// Error:      of k(x, x) k(y, y), with M_0 + M_1 = M features of b_0 and of the others:
//               L = 1:  Var <= 1/(2 M_0) + 1/(2 M_1) + 1/(4 m0)   (V <= 2 of sketch.h; the signs)
//               L > 1:  2.25/2 (1/M_0 + 1/M_1) + 1/(4 m0) + 0.2 (L - 1) (1/width + 1/s),
//             the latter measured, with a margin, and no bound: the largest of 48 pairs of images
//             of 6x6x3 (independent, alike, all but equal), 30 to 60 maps, depths 2, 3, 5, M = 64
//             to 2,048, width 16 to 128.  Of that formula 0.3 to 0.8 was found.  Pooling none:
//             1.6/K more, whatever M (cntk_map.h).
// Cost:       a pixel: q^2 multiply-adds for each of width (width + s) + (width + s) m0 pairs of
//             channels and further (2 width + s) s a layer beyond the third; a Hadamard transform
//             an image for each of the m0 filters.  All of it linear in the pixels.
// Memory:     the filters; an image of width + s channels, twice, for each thread.
// Reference:  the algorithm CNTKSketch of Zandieh et al., NeurIPS 2021, with random features in
//             place of sketched polynomials.
// Differs:    products are random projections times the sign of a random filter, never a sketch of
//             two factors: one random number more has less variance (1/s instead of 8/s) and costs
//             nothing.  Pooling comes before the last sketch, which is one an image.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/features/image/cntk_map.h"
#include "kerf/features/image/cntk_map_options.h"
#include "kerf/features/image/window_sketch.h"

namespace kerf::detail {

class CntkRandomFeatures final : public CntkMap {
 public:
  using Options = CntkMapOptions;
  static constexpr const char* kName = "cntk-rf";
  static constexpr const char* kOwner = "map cntk-rf";
  static constexpr const char* kPythonName = "CNTKRF";
  static constexpr const char* kSummary =
      "random convolutions for the convolutional neural tangent kernel (images)";
  static constexpr bool kConvolves = true;

  CntkRandomFeatures(Index in_dim, const Options& options, rng::Key key);
  static std::unique_ptr<Kernel> kernel(const Options& options);
  static double relative_variance(const Options& options);
  static Index bytes(Index in_dim, const Options& options);

 private:
  struct Layer {
    Convolution filters;      // t_h
    Convolution projections;  // a_i; of layers h < L with a psi_{h-1}
    Index products = 0;       // s; 0: psi_{h-1} is nothing
    Index constant = 0;       // s_a
    float relu_scale = 0, constant_scale = 0, sign_scale = 0;
  };

  void transform_image(std::span<const float> pixels, double norm,
                       std::span<float> out) const override;
  void apply(const Layer& layer, const PixelMap& below, Index phi, PixelMap& next) const;

  Options options_;
  std::vector<Layer> layers_;  // h = 1 .. L - 1
  Convolution last_;
  std::unique_ptr<WindowSketch> output_;
};

}  // namespace kerf::detail
