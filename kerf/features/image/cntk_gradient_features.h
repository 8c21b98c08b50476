// Gradients of one random convolutional ReLU network: the baseline of the paper on images.
//
//   h_0 = x,  t_l = (<W_li, [h_{l-1}]>)_i,  h_l = sqrt(2/w) max(0, t_l) / q,  l = 1 .. L
//   [h]: the q x q window of h around each pixel;  f(x) = mean_p <v, h_L(p)>  (pooling gap), or
//   sum_p <v_p, h_L(p)> / sqrt(H W) (none);  W_l, v ~ N(0, 1)
//   z(x) = the partial derivatives of f in W_2 .. W_L (and W_1 with train-first-layer) at x:
//     df/dW_l = sum_p d_l(p) (x) [h_{l-1}](p),   d_l = sqrt(2/w) / q [t_l > 0] g_l,
//     g_L = v / (H W),   g_{l-1}(p) = sum over the window's offsets o of W_l(o)^T d_l(p - o)
//   width w: the largest with M features or fewer; the rest are 0.
//
// Unbiased:   at depth 1.  Beyond, a bias of O(1/w).
// Error:      that of w features, not of M: w is about sqrt(M / (L - 1)) / q.  w depends on the
//             image, so relative_variance() takes w = 1: 6 L.
// Cost:       3 q^2 w^2 multiply-adds a pixel and layer; q^2 w^2 floats a layer, twice.
// Reference:  Arora et al., NeurIPS 2019; GradRF of Zandieh et al., NeurIPS 2021, table 1.
// Differs:    the layers that are trained are those of kernels/cntk.h.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/features/image/cntk_map.h"

namespace kerf::detail {

struct CntkGradientOptions {
  CntkOptions network;
  Index features = 4096;

  static void resolve(OpenOptions& options) { CntkOptions::resolve(options); }
  void describe(OptionVisitor& v) {
    network.describe(v);
    v.integer("features", features, {1, 1 << 24}, "number of features");
  }
};

class CntkGradientFeatures final : public CntkMap {
 public:
  using Options = CntkGradientOptions;
  static constexpr const char* kName = "cntk-grad-rf";
  static constexpr const char* kOwner = "map cntk-grad-rf";
  static constexpr const char* kPythonName = "CNTKGradientFeatures";
  static constexpr const char* kSummary =
      "gradients of one random convolutional network: a baseline for the other CNTK maps";
  static constexpr bool kConvolves = true;

  /// W_l has the entries normal(key.child(l), filter * terms + term), v those of key.child("v").
  CntkGradientFeatures(Index in_dim, const Options& options, rng::Key key);
  static std::unique_ptr<Kernel> kernel(const Options& options);
  static double relative_variance(const Options& options);
  static Index bytes(Index in_dim, const Options& options);

  /// w; Error (usage) if even a network of width 1 has more parameters than features.
  static Index width(Index in_dim, const Options& options);

 private:
  void transform_image(std::span<const float> pixels, double norm,
                       std::span<float> out) const override;
  void backward(Index layer, const Matrix<float>& delta, Matrix<float>& next) const;

  Options options_;
  Index width_;
  std::vector<Convolution> forward_;   // W_l, at l - 1
  std::vector<Convolution> backward_;  // W_l turned round, for l >= 2, at l - 2
  std::vector<float> last_;            // v, or all v_p
};

}  // namespace kerf::detail
