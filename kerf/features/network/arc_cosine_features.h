// Random features of the arc-cosine kernels of order 0 and 1: one random layer of a network.
//
//   order 0:  phi(x) = sqrt(2/m) [W x' > 0]            k = kappa0(a),          x' = (x, bias)
//   order 1:  phi(x) = sqrt(2/m) c max(0, W x')        k = |x'||y'| kappa1(a), a = cos angle(x',
//   y')
//
//   W: m random directions in R^d' (directions.h); c = 1 for gaussian ones, sqrt(d') for unit ones
//   (structured: d' padded to a power of two).
//
// Unbiased:   E <phi(x), phi(y)> = k(x, y), for all kinds of directions but gibbs (directions.h).
// Error:      order 0: Var = k (2 - k)/m <= 1/m;  order 1: Var <= 6 |x'|^2 |y'|^2/m (gaussian),
//             <= 6 d'/(d' + 2) |x'|^2 |y'|^2/m (sphere); orthogonal: observed to be lower still,
//             proved only within a factor d' (rows of one group are dependent);
//             structured: no proof, observed to be close to independent ones.
// Cost:       O(m d) a dense row, O(m nnz) a sparse one; m d floats.
// Reference:  Cho & Saul, "Kernel methods for deep learning", NIPS 2009; leverage-score directions:
//             Zandieh et al., NeurIPS 2021, section 2.2 (see directions.h).
// Differs:    the bias is a constant coordinate appended to every row (0: the paper's kernels).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/spelling.h"
#include "kerf/features/directions/directions.h"
#include "kerf/features/feature_bound.h"
#include "kerf/features/feature_map.h"
#include "kerf/features/network/ntk_map_options.h"

namespace kerf::detail {

struct ArcCosineMapOptions {
  Index order = 1;
  Index features = 4096;
  Directions directions = Directions::sphere;
  Index gibbs_sweeps = 1;
  std::optional<double> bias;

  static void resolve(OpenOptions& options) { options.settle_length("bias"); }
  void describe(OptionVisitor& v) {
    v.integer("order", order, {0, 1}, "order of the kernel: 0 (step) or 1 (ReLU)");
    v.integer("features", features, {1, 1 << 24}, "number of features");
    v.choice("directions", directions, "how random directions are drawn");
    describe_gibbs(v, gibbs_sweeps);
    describe_bias(v, bias);
  }
};

class ArcCosineFeatures final : public FeatureMap {
 public:
  using Options = ArcCosineMapOptions;
  static constexpr const char* kName = "arccos";
  static constexpr const char* kOwner = "map arccos";
  static constexpr const char* kPythonName = "ArcCosineFeatures";
  static constexpr const char* kSummary =
      "random step or ReLU features of the arc-cosine kernels of order 0 and 1";
  static constexpr const char* kFormula =
      "``z(x) = sqrt(2/m) c max(0, W x')`` (order 1) or ``sqrt(2/m) [W x' > 0]`` (order 0),"
      " x' = (x, bias), with\n"
      "k(x, y) = \\|x'\\| \\|y'\\| kappa1(a) or kappa0(a), a the cosine of the angle between x'"
      " and y'.";

  ArcCosineFeatures(Index in_dim, const Options& options, rng::Key key);
  static std::optional<Params> stands_for(std::string_view kernel, const Params& options,
                                          const DataSummary& summary);
  static std::unique_ptr<Kernel> kernel(const Options& options);
  static double relative_variance(const Options& options);
  static double relative_bias(const Options& options);
  static void bounds(const BoundInputs& in, std::vector<FeatureBound>& out);
  static Index bytes(Index in_dim, const Options& options);

 private:
  void transform_rows(const RowsView& x, MatrixView<float> out) const override;

  Index order_;
  float scale_;
  DirectionSet directions_;
};

}  // namespace kerf::detail
