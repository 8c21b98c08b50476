// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/linear_features.h"

#include <algorithm>
#include <numeric>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/kernels/gram/pointwise_kernel.h"

namespace kerf::detail {
namespace {

/// A kernel of the angle, times both lengths: its cosine.
class InnerProduct final : public PointwiseKernel<InnerProduct> {
 public:
  PairForm form() const override {
    return {.geometry = PairGeometry::angle, .scale = 1, .bias = 0, .homogeneous = true};
  }
  template <class T>
  void of_numbers(std::span<const T> number, std::span<const T> other, std::span<T> out) const {
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = (other[k] - number[k]) / 2;
  }

 private:
  double value(std::span<const double> x, std::span<const double> y) const override {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
  }
};

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
  return std::make_unique<InnerProduct>();
}

void LinearFeatures::transform_rows(const RowsView& x, MatrixView<float> out) const {
  for (Index i = 0; i < x.rows(); ++i) copy_row(x, i, out.row(i));
}

}  // namespace kerf::detail
