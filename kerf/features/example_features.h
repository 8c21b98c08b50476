// A feature map to copy: a Gaussian random projection, whose kernel is the plain inner product.
//
//   phi(x) = W x / sqrt(m),        W in R^{m x d},  W_ij ~ N(0, 1) independent.
//
// Unbiased:   E <phi(x), phi(y)> = <x, y>.
// Error:      Var <phi(x), phi(y)> = (|x|^2 |y|^2 + <x, y>^2)/m <= 2 |x|^2 |y|^2/m.
// Cost:       O(m d) a dense row, O(m nnz) a sparse one; m d floats.
// Reference:  Johnson & Lindenstrauss 1984.
// Differs:    nothing.
//
// To add a map: copy this file pair, change the card, the options and the formula, and add one line
// to registry.cpp.  The program, Python, --help, model files and the conformance tests then know
// it. (This one is not in the registry: a linear model on the rows themselves does better.)
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/features/feature_map.h"
#include "kerf/linalg/projection.h"

namespace kerf::detail {

struct ExampleOptions {
  Index features = 4096;

  void describe(OptionVisitor& v) {
    v.integer("features", features, {1, 1 << 24}, "number of features");
  }
};

class ExampleFeatures final : public FeatureMap {
 public:
  using Options = ExampleOptions;
  static constexpr const char* kName = "example";
  static constexpr const char* kOwner = "map example";
  static constexpr const char* kPythonName = "ExampleFeatures";
  static constexpr const char* kSummary = "Gaussian random projection: an example to copy";

  ExampleFeatures(Index in_dim, const Options& options, rng::Key key);
  static std::unique_ptr<Kernel> kernel(const Options& options);
  static double relative_variance(const Options& options);
  static Index bytes(Index in_dim, const Options& options);

 private:
  void transform_rows(const RowsView& x, MatrixView<float> out) const override;

  Projection projection_;
};

}  // namespace kerf::detail
