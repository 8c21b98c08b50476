// SPDX-License-Identifier: Apache-2.0
#include "tests/extension/dummy_features.h"

#include <cmath>
#include <numeric>

#include "kerf/kernels/gram/gram_tile.h"

namespace kerf::detail {
namespace {

class InnerProduct final : public Kernel {
  double value(std::span<const double> x, std::span<const double> y) const override {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
  }
};

}  // namespace

std::unique_ptr<Kernel> DummyFeatures::kernel(const Options&) {
  return std::make_unique<InnerProduct>();
}

void DummyFeatures::transform_rows(const RowsView& x, MatrixView<float> out) const {
  const double scale = std::sqrt(static_cast<double>(in_dim()) / static_cast<double>(out_dim()));
  std::vector<double> row(in_dim());
  for (Index i = 0; i < x.rows(); ++i) {
    copy_row(x, i, row);
    for (Index j = 0; j < out_dim(); ++j) out(i, j) = static_cast<float>(scale * row[j % in_dim()]);
  }
}

}  // namespace kerf::detail
