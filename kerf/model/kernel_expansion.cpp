// SPDX-License-Identifier: Apache-2.0
#include "kerf/model/kernel_expansion.h"

#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/parallel.h"
#include "kerf/kernels/gram/gram.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

constexpr Index kTile = 256;  // rows of a product at a time

}  // namespace

void kernel_expansion(const Kernel& kernel, const RowsView& kept, MatrixView<const double> dual,
                      std::span<const double> intercept, const RowsView& x,
                      MatrixView<double> out) {
  KERF_REQUIRE(out.rows == x.rows() && out.cols == dual.cols && dual.rows == kept.rows(), usage,
               "a {} x {} matrix for {} x {} predictions", out.rows, out.cols, x.rows(), dual.cols);
  const Gram<double> gram(kernel, x, kept);
  Matrix<double> values;
  for (Index begin = 0; begin < x.rows(); begin += kExpansionRows) {
    const Index end = std::min(begin + kExpansionRows, x.rows());
    values.resize(end - begin, gram.cols());
    gram.compute(begin, end, values.view());
    const auto block = out.slice(begin, end);
    parallel_for(block.rows, kTile, [&](Index first, Index last) {
      blas::gemm(false, false, 1.0, MatrixView<const double>(values.view()).slice(first, last),
                 dual, 0.0, block.slice(first, last));
    });
    for (Index i = 0; i < block.rows; ++i)
      for (Index t = 0; t < block.cols; ++t) block(i, t) += intercept[t];
  }
}

std::string exact_kernel_name(const Params& options) {
  const auto kernel = options.find("kernel");
  std::vector<std::string> names;
  for (const KernelEntry& entry : kernels()) names.emplace_back(entry.name);
  KERF_REQUIRE(kernel != options.end(), usage, "{} needs {}: one of {}", spell("map", "exact"),
               spell("kernel"), fmt::join(names, ", "));
  return kernel->second;
}

Params exact_kernel_params(const Params& options) {
  Params params = options;
  params.erase("kernel");
  return params;
}

}  // namespace kerf::detail
