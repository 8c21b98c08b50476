// The rows themselves as features: a linear model.
//
//   phi(x) = (x, 0, ..., 0),   m >= d features, of which those beyond the columns are 0
//
// Exact:      <phi(x), phi(y)> = <x, y>.
// Cost:       a copy.  Wide sparse rows are never made dense: solver_sparse.cpp and Predictor work on
//             their entries.
// Reference:  none needed.
// Differs:    nothing.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/features/feature_map.h"

namespace kerf::detail {

struct LinearOptions {
  Index features = 0;

  static void resolve(OpenOptions& options) {
    if (options.given("features", "0") == "0")
      options.params()["features"] = std::to_string(options.summary().cols);
  }
  void describe(OptionVisitor& v) {
    v.integer("features", features, {0, 1 << 30},
              "number of features, at least one for each column; 0: as many as columns");
  }
};

class LinearFeatures final : public FeatureMap {
 public:
  using Options = LinearOptions;
  static constexpr const char* kName = "linear";
  static constexpr const char* kOwner = "map linear";
  static constexpr const char* kPythonName = "Linear";
  static constexpr const char* kSummary =
      "the columns themselves: a linear model, also of wide sparse rows";
  static constexpr bool kKeepsRows = true;

  LinearFeatures(Index in_dim, const Options& options, rng::Key key);
  static std::unique_ptr<Kernel> kernel(const Options& options);
  static std::optional<Params> stands_for(std::string_view kernel, const Params& options,
                                          const DataSummary& summary);
  static double relative_variance(const Options&) { return 0; }
  static Index bytes(Index, const Options&) { return 0; }

 private:
  void transform_rows(const RowsView& x, MatrixView<float> out) const override;
};

}  // namespace kerf::detail
