// Polynomial features of network kernels: exact low degrees, sketched high ones.
//
//   x' = (x, bias), u = x'/|x'|, f = T_L or S_L of ntk.h, of any activation (activation.h);
//   P(a) = sum_{j=0..p} w_j a^j, w_j >= 0: the polynomial fitted to f (polynomial_fit.h)
//   z(x) = |x'| z_P(u), the features of P(<u, v>), exact in low degrees (polynomial_map.h).  For 16
//   columns and 8,192 features degrees up to 2 are exact at depth 1, up to 3 at depth 2 (the fits
//   have next to nothing at degree 4); for images degrees 0 and 1.
//
// Bias:       |E <z(x), z(y)> - k(x, y)| <= |x'| |y'| max |P - f|, which relative_bias() states; 0
//             on the diagonal (P(1) = f(1)), 0 for activations that are polynomials of degree <= p.
//             If M is too small for the coefficients that are not 0, p is lowered until it is not.
// Error:      Var as in polynomial_map.h, times |x'|^2 |y'|^2.  relative_variance() takes k = 0,
// because it does not know d; more exact
//             degrees are only taken when they lower the variance.
// Cost:       a row: 2 multiplications an exact feature; for each sketched degree a Hadamard
//             transform of d' and one of at most 2 m_j numbers.  Nothing depends on the depth.
// Reference:  Zandieh et al., "Scaling neural tangent kernels via sketching and random features",
//             NeurIPS 2021, remark 1.
// Differs:    exact low degrees; a budget for each degree; a chain in place of a padded tree; the
//             value on the diagonal is exact; other activations; a bias coordinate.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/features/feature_map.h"
#include "kerf/features/network/ntk_random_features.h"
#include "kerf/features/network/polynomial_map.h"
#include "kerf/kernels/network/polynomial_fit.h"

namespace kerf::detail {

struct NtkPolyOptions {
  NetworkKernel kernel = NetworkKernel::ntk;
  Index depth = 2;
  Index features = 4096;
  Index degree = 16;
  std::optional<double> bias;
  ActivationOptions activation;

  static void resolve(OpenOptions& options) { options.settle_length("bias"); }
  void describe(OptionVisitor& v) {
    describe_network_kernel(v, kernel);
    describe_depth(v, depth, features);
    v.integer("degree", degree, {0, kMaxFitDegree}, "degree of the polynomial");
    describe_bias(v, bias);
    activation.describe(v);
  }
};

class NtkPolyFeatures final : public FeatureMap {
 public:
  using Options = NtkPolyOptions;
  static constexpr const char* kName = "ntk-poly";
  static constexpr const char* kOwner = "map ntk-poly";
  static constexpr const char* kPythonName = "NTKPolynomialFeatures";
  static constexpr const char* kSummary =
      "polynomial features of the NTK or NNGP of any depth and activation: low degrees exact";

  NtkPolyFeatures(Index in_dim, const Options& options, rng::Key key);
  static std::unique_ptr<Kernel> kernel(const Options& options);
  static double relative_variance(const Options& options);
  static double relative_bias(const Options& options);
  static Index bytes(Index in_dim, const Options& options);

  /// The polynomial that `options` come to: of a lower degree if there are too few features.
  static PolynomialFit fit(const Options& options);

 private:
  void transform_rows(const RowsView& x, MatrixView<float> out) const override;

  double bias_;
  PolynomialMap map_;
};

}  // namespace kerf::detail
