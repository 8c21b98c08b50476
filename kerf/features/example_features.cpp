// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/example_features.h"

#include <cmath>
#include <numeric>

namespace kerf::detail {
namespace {

class InnerProduct final : public Kernel {
  double value(std::span<const double> x, std::span<const double> y) const override {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
  }
};

}  // namespace

ExampleFeatures::ExampleFeatures(Index in_dim, const Options& options, rng::Key key)
    : FeatureMap(in_dim, options.features),
      projection_(in_dim, options.features, [=](Index j, std::span<float> direction) {
        rng::fill_normal(key, static_cast<std::uint64_t>(j) * direction.size(), direction);
        const double scale = 1 / std::sqrt(static_cast<double>(options.features));
        for (float& w : direction) w = static_cast<float>(w * scale);
        return 0.0f;
      }) {}

std::unique_ptr<Kernel> ExampleFeatures::kernel(const Options&) {
  return std::make_unique<InnerProduct>();
}

double ExampleFeatures::relative_variance(const Options& options) {
  return 2.0 / static_cast<double>(options.features);
}

Index ExampleFeatures::bytes(Index in_dim, const Options& options) {
  return 4 * in_dim * options.features;
}

void ExampleFeatures::transform_rows(const RowsView& x, MatrixView<float> out) const {
  projection_.apply(x, out);
}

}  // namespace kerf::detail
