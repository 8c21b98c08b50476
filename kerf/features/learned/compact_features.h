// Compact features: many Fourier features, then a random projection to few.
//
//   phi(x) = S f(x),    f: D = oversample m features of rff,    S: an SRHT of D to m dimensions
//
// Unbiased:   E <phi(x), phi(y)> = k(x, y): S preserves inner products in expectation.
// Error:      Var <= v_D + 2 (1 + 1/2D)/m, v_D the variance of rff with D features (given f, that
//             of the SRHT is at most (|f|^2 |f'|^2 + <f, f'>^2)/m): no better than rff with m
//             features on average, but its error is spread evenly; what it is for is comparison,
//             see tefm.
// Cost:       O(D d + D log D) a row; rff's D d/2 floats.
// Reference:  Hamid, Xiao, Gittens & DeCoste, "Compact random feature maps", ICML 2014.
// Differs:    for shift-invariant kernels, as compared in the TEFM paper (there: polynomial ones).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/features/fourier/fourier_features.h"
#include "kerf/sketch/srht.h"

namespace kerf::detail {

struct CompactOptions : FourierMapOptions {
  Index oversample = 4;

  void describe(OptionVisitor& v) {
    FourierMapOptions::describe(v);
    v.integer("oversample", oversample, {1, 1024}, "features before the compression, per feature");
  }
};

class CompactFeatures final : public FeatureMap {
 public:
  using Options = CompactOptions;
  static constexpr const char* kName = "compact";
  static constexpr const char* kOwner = "map compact";
  static constexpr const char* kPythonName = "CompactRFF";
  static constexpr const char* kSummary =
      "many Fourier features, compressed by a random projection (a baseline for tefm)";

  CompactFeatures(Index in_dim, const Options& options, rng::Key key);
  static std::unique_ptr<Kernel> kernel(const Options& options) { return fourier_kernel(options); }
  static double relative_variance(const Options& options);
  static Index bytes(Index in_dim, const Options& options);

 private:
  void transform_rows(const RowsView& x, MatrixView<float> out) const override;

  FourierFeatures wide_;
  Srht projection_;
};

}  // namespace kerf::detail
