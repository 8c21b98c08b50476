// A map for the test of additions: the columns again and again, a linear model of any size.
//
//   phi(x)_j = x_{j mod d} / sqrt(m / d),   <phi(x), phi(y)> = <x, y> where d divides m
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/features/feature_map.h"

namespace kerf::detail {

struct DummyOptions {
  Index features = 64;
  std::optional<double> warmth;

  static void resolve(OpenOptions& options) { options.settle_length("warmth"); }
  void describe(OptionVisitor& v) {
    v.integer("features", features, {1, 1 << 24}, "number of features");
    v.automatic("warmth", warmth, {0, 1e30}, "no effect; auto: the typical length of a row");
  }
};

class DummyFeatures final : public FeatureMap {
 public:
  using Options = DummyOptions;
  static constexpr const char* kName = "dummy-map";
  static constexpr const char* kOwner = "map dummy-map";
  static constexpr const char* kPythonName = "DummyFeatures";
  static constexpr const char* kSummary = "the columns again and again";

  DummyFeatures(Index in_dim, const Options& options, rng::Key)
      : FeatureMap(in_dim, options.features) {}
  static std::unique_ptr<Kernel> kernel(const Options& options);
  static double relative_variance(const Options&) { return 0; }
  static Index bytes(Index, const Options&) { return 0; }

 private:
  void transform_rows(const RowsView& x, MatrixView<float> out) const override;
};

}  // namespace kerf::detail
