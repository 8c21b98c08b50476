// Polynomial features of network kernels: exact low degrees, sketched high ones.
//
//   x' = (x, bias), u = x'/|x'|, f = T_L or S_L of ntk.h, of any activation (activation.h);
//   P(a) = sum_{j=0..p} w_j a^j, w_j >= 0: the polynomial fitted to f (polynomial_fit.h)
//   z(x) = |x'| [ sqrt(w_0), sqrt(w_1) Q_1(u), sqrt(w_2) Q_2(u), .. ]
//   Q_j for j <= k: all monomials, exact (symmetric_powers.h), E_j = C(d'+j-1, j) numbers;
//   Q_j for j > k:  m_j numbers of one sketch of all powers (power_sketch.h).
//   k and the m_j share out the M features so that the variance for orthogonal rows,
//   about sum_{j>k} w_j^2/m_j, is least: m_j ~ w_j, and k with the least
//   (sum_{j>k} w_j)^2 / (M - sum_{j<=k} E_j): for 16 columns and 8,192 features k is 2 at depth 1,
//   3 at depth 2 (the fits have next to nothing at degree 4); for images k is 1.
//   What is left over when every degree is exact stays 0.
//
// Bias:       |E <z(x), z(y)> - k(x, y)| <= |x'| |y'| max |P - f|, which relative_bias() states; 0
// on
//             the diagonal (P(1) = f(1)), 0 for activations that are polynomials of degree <= p.
//             If M is too small for the coefficients that are not 0, p is lowered until it is not.
// Error:      with s_j^2 of power_sketch.h for unit rows x = y, Var <= (sum_{j>k} w_j s_j)^2 |x'|^2
//             |y'|^2.  relative_variance() takes k = 0, because it does not know d; more exact
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
#include "kerf/features/ntk_random_features.h"
#include "kerf/kernels/polynomial_fit.h"
#include "kerf/sketch/power_sketch.h"
#include "kerf/sketch/symmetric_powers.h"

namespace kerf {

struct NtkPolyOptions {
  NetworkKernel kernel = NetworkKernel::ntk;
  Index depth = 2;
  Index features = 4096;
  Index degree = 16;
  std::optional<double> bias;
  ActivationOptions activation;

  void describe(OptionVisitor& v) {
    v.choice("kernel", kernel, kNetworkKernelNames,
             "kernel of the network: all layers trained "
             "(ntk) or the last one only (nngp)");
    v.integer("depth", depth, {1, kMaxDepth}, "number of hidden layers");
    v.integer("features", features, {1, 1 << 24}, "number of features");
    v.integer("degree", degree, {0, kMaxFitDegree}, "degree of the polynomial");
    v.automatic("bias", bias, {0, 1e30},
                "constant coordinate appended to every row; auto: the typical length of a row");
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

  /// How the features are shared out.
  struct Plan {
    std::vector<double> weights;  ///< w_j
    Index exact = 0;              ///< k
    std::vector<Index> dims;      ///< features of degree j: 1, E_j or m_j; 0 where w_j = 0
  };
  /// The polynomial that `options` come to: of a lower degree if there are too few features.
  static PolynomialFit fit(const Options& options);
  /// `max_exact`: no degree above it is exact.
  static Plan plan(Index dim, const std::vector<double>& weights, Index features, Index max_exact);

 private:
  void transform_rows(const RowsView& x, MatrixView<float> out) const override;

  double bias_;
  Plan plan_;
  Index exact_features_ = 0;
  SymmetricPowers monomials_;
  std::optional<PowerSketch> powers_;
};

}  // namespace kerf
