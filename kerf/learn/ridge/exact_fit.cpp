// Kernel ridge regression from rows: the Gram matrix, and who solves it.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "kerf/core/system/memory.h"
#include "kerf/kernels/gram/gram.h"
#include "kerf/learn/ridge/exact_ridge.h"
#include "kerf/learn/ridge/kernel_walk.h"

namespace kerf::detail {
namespace {

/// Rows for which no eigenvalues are computed, and whose copies need no factor in double.
bool by_factors(Index rows, const ExactRidgeOptions& options) {
  return rows > options.eigen_rows && options.copies == 1;
}

Index bytes_of_copy(const RowsView& rows) {
  const Index cell = rows.is_wide() ? 12 : 4;
  return rows.is_sparse() ? 8 * rows.sparse().nonzeros() : cell * rows.rows() * rows.cols();
}

/// A power of two that brings k(x, x) near 1, so that numbers of single precision hold the kernel.
double scale_of(const Kernel& kernel, const RowsView& rows) {
  constexpr Index kLooked = 64;
  std::vector<double> row(static_cast<std::size_t>(rows.cols()));
  double largest = 0;
  for (Index k = 0; k < std::min(kLooked, rows.rows()); ++k) {
    copy_row(rows, k * rows.rows() / std::min(kLooked, rows.rows()), std::span(row));
    const double value = kernel(row, row);
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  return largest > 0 ? std::exp2(-std::round(std::log2(largest))) : 1;
}

/// No matrix of eigenvectors, and none in double where single precision does.
DualSolution fit_by_factors(const Kernel& kernel, const RowsView& rows,
                            MatrixView<const double> targets, WeightsView weights,
                            ExactRidgeOptions options, const Progress& progress) {
  check_exact_ridge(rows.rows(), targets, weights, options);
  const bool single = is_quick(kernel) && options.precision == Precision::single_;
  const double scale = single ? scale_of(kernel, rows) : 1;
  for (double& lambda : options.lambdas) lambda *= scale;
  const WeightedRows all = weigh(targets, weights, options.intercept);
  const Gram<double> gram(kernel, rows, rows);
  const KernelRows kernel_rows = [&](Index begin, Index end, MatrixView<double> out) {
    gram.compute(begin, end, out);
    if (scale != 1)
      for (Index i = 0; i < out.rows; ++i)
        for (double& value : out.row(i)) value *= scale;
  };
  const auto in_double = [&] { return factor_in_double(kernel_rows, all, progress); };
  KernelMatrices matrices;
  matrices.kernel = kernel_rows;
  if (single) {
    matrices.first = factor_in_single(kernel_rows, all, progress);
    if (options.may_double) matrices.in_double = in_double;
  } else {
    matrices.first = in_double();
  }
  DualSolution result = solve_by_factors(std::move(matrices), all, targets, options, progress);
  result.choice.lambda /= scale;
  for (auto& point : result.choice.path) point.lambda /= scale;
  for (Index i = 0; i < result.model.weights.rows(); ++i)
    for (double& value : result.model.weights.row(i)) value *= scale;
  return result;
}

}  // namespace

DualSolution fit_exact_ridge(const std::string& kernel, const Params& params, const RowsView& rows,
                             MatrixView<const double> targets, WeightsView weights,
                             const ExactRidgeOptions& options, const Progress& progress) {
  const auto function = find_kernel(kernel).make(params);
  const Index n = rows.rows();
  require_memory(
      exact_ridge_bytes(n, targets.cols, is_quick(*function), options) + bytes_of_copy(rows),
      options.memory_limit, fmt::format("the exact kernel matrix of {} rows", n),
      "use fewer rows, or a feature map");
  if (by_factors(n, options))
    return fit_by_factors(*function, rows, targets, weights, options, progress);
  Matrix<double> matrix(n, n);
  report(progress, "kernel matrix", 0, 0);
  gram<double>(*function, rows, rows, matrix.view());
  return solve_exact_ridge(matrix.view(), targets, weights, options, progress);
}

bool is_quick(const Kernel& kernel) { return kernel.form().geometry != PairGeometry::any; }

Index exact_ridge_bytes(Index rows, Index targets, bool quick, const ExactRidgeOptions& options) {
  if (!by_factors(rows, options)) return solve_exact_bytes(rows, targets, options.lambdas.size());
  const bool single = quick && options.precision == Precision::single_ && !options.may_double;
  return kernel_walk_bytes(rows, targets, single ? 4 : 8);
}

}  // namespace kerf::detail
