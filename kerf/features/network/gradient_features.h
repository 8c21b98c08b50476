// Gradients of one random ReLU network: the baseline of both NTK papers.
//
//   x' = (x, bias), h_0 = x', h_l = sqrt(2/w) max(0, W_l h_{l-1}), f(x) = <v, h_L>, weights N(0, 1)
//   z(x) = all partial derivatives of f in the weights, at x:
//     df/dv = h_L;   df/dW_l = d_l (x) h_{l-1},   d_l = sqrt(2/w) [W_l h_{l-1} > 0] . g_l,
//     g_L = v,  g_{l-1} = W_l^T d_l
//   width w: the largest with w + w d' + (L - 1) w^2 <= M features; the rest are 0.
//
// Unbiased:   at depth 1: E <z(x), z(y)> = ntk(x, y).  Beyond, a bias of O(1/w).
// Error:      depth 1, |x'| = |y'| = 1: Var <= (sqrt(6/w) + sqrt(6/w))^2, to be divided by
//             k(x, x) k(y, y) = 4.  w depends on the input dimension, so relative_variance() takes
//             w = 1, times L.
// Cost:       M multiplications a row and two products with each of the W_l; as many floats.
// Reference:  Arora et al., "On exact computation with an infinitely wide neural net", NeurIPS
// 2019;
//             GradRF of Zandieh et al., NeurIPS 2021.
// Differs:    a bias coordinate.  For comparison only: at M features the width is M/d, and the
//             error is that of w features, not of M.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/features/feature_map.h"
#include "kerf/features/network/ntk_map_options.h"
#include "kerf/kernels/network/ntk.h"
#include "kerf/linalg/projection.h"

namespace kerf::detail {

struct GradientMapOptions {
  Index depth = 1;
  Index features = 4096;
  std::optional<double> bias;

  static void resolve(OpenOptions& options) { options.settle_length("bias"); }
  void describe(OptionVisitor& v) {
    describe_depth(v, depth, features);
    describe_bias(v, bias);
  }
};

class GradientFeatures final : public FeatureMap {
 public:
  using Options = GradientMapOptions;
  static constexpr const char* kName = "grad-rf";
  static constexpr const char* kOwner = "map grad-rf";
  static constexpr const char* kPythonName = "GradientFeatures";
  static constexpr const char* kSummary =
      "gradients of one random ReLU network: a baseline for the other NTK maps";

  /// W_l has the entries normal(key.child(l), row * columns + column), v those of key.child("v").
  GradientFeatures(Index in_dim, const Options& options, rng::Key key);
  static std::unique_ptr<Kernel> kernel(const Options& options);
  static double relative_variance(const Options& options);
  static Index bytes(Index in_dim, const Options& options);

  /// w; Error (usage) with the features that a network of width 1 needs if there are too few.
  static Index width(Index in_dim, const Options& options);

 private:
  void transform_rows(const RowsView& x, MatrixView<float> out) const override;
  void backward(Index i, std::span<const float> u, double norm, std::span<float> out) const;

  double bias_;
  Index width_;
  std::vector<Projection> forward_;     // W_l, at l - 1
  std::vector<Projection> transposed_;  // W_l^T for l >= 2, at l - 2
  std::vector<float> last_;             // v
};

}  // namespace kerf::detail
