// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/linear_features.h"

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/kernels/network/linear_kernel.h"

namespace kerf::detail {
namespace {

Index features_of(Index in_dim, Index asked) {
  KERF_REQUIRE(asked == 0 || asked >= in_dim, usage,
               "map linear has a feature for each of the {} columns: {} is fewer", in_dim,
               spell("features", asked));
  return asked == 0 ? in_dim : asked;
}

}  // namespace

LinearFeatures::LinearFeatures(Index in_dim, const Options& options, rng::Key)
    : FeatureMap(in_dim, features_of(in_dim, options.features)) {}

std::unique_ptr<Kernel> LinearFeatures::kernel(const Options&) {
  return std::make_unique<LinearKernel>();
}

std::optional<Params> LinearFeatures::stands_for(std::string_view kernel, const Params& options,
                                                 const DataSummary&) {
  return kernel == LinearKernel::kName ? std::optional(options) : std::nullopt;
}

void LinearFeatures::transform_rows(const RowsView& x, MatrixView<float> out) const {
  for (Index i = 0; i < x.rows(); ++i) copy_row(x, i, out.row(i));
}

}  // namespace kerf::detail
