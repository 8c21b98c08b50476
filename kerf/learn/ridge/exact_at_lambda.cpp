// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/ridge/exact_at_lambda.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

constexpr Index kTile = 256;
constexpr double kTolerance = 1e-11;
constexpr int kMostRefinements = 12;

/// residual := rhs - B x, and the norm of each column.
std::vector<double> residual_of(MatrixView<const double> system, const Matrix<double>& x,
                                const Matrix<double>& rhs, Matrix<double>& residual) {
  residual.resize(rhs.rows(), rhs.cols());
  copy_rows(rhs.view(), residual.view());
  parallel_for(system.rows, kTile, [&](Index begin, Index end) {
    blas::gemm(false, false, -1.0, system.slice(begin, end), x.view(), 1.0,
               residual.view().slice(begin, end));
  });
  std::vector<double> squares(rhs.cols(), 0.0);
  for (Index i = 0; i < residual.rows(); ++i)
    for (Index t = 0; t < residual.cols(); ++t) squares[t] += residual(i, t) * residual(i, t);
  for (double& value : squares) value = std::sqrt(value);
  return squares;
}

/// The largest of the ratios a_t / b_t.
double worst(const std::vector<double>& a, const std::vector<double>& b) {
  double ratio = 0;
  for (std::size_t t = 0; t < a.size(); ++t)
    if (b[t] > 0) ratio = std::max(ratio, a[t] / b[t]);
  return std::isfinite(ratio) ? ratio : 1e300;
}

/// x and the factor R of B in single precision; false if that precision is not enough.
bool solve_refined(MatrixView<const double> system, const Matrix<double>& rhs, Matrix<float>& r,
                   Matrix<double>& x, const Progress& progress) {
  r.resize(system.rows, system.cols);
  parallel_for(system.rows, 64, [&](Index begin, Index end) {
    copy_rows(system.slice(begin, end), r.view().slice(begin, end));
  });
  if (blas::cholesky(r.view(), progress) != 0) return false;
  x.resize(rhs.rows(), rhs.cols());
  x.fill(0);
  Matrix<double> residual;
  Matrix<float> step(rhs.rows(), rhs.cols());
  const auto start = residual_of(system, x, rhs, residual);
  double last = 1;
  for (int round = 0; round < kMostRefinements; ++round) {
    // Scaled to 1, so that small residuals are no denormals.
    for (Index k = 0; k < rhs.rows() * rhs.cols(); ++k)
      step.data()[k] = static_cast<float>(residual.data()[k] / last);
    blas::cholesky_solve(r.view(), step.view());
    for (Index k = 0; k < rhs.rows() * rhs.cols(); ++k)
      x.data()[k] += last * static_cast<double>(step.data()[k]);
    const double now = worst(residual_of(system, x, rhs, residual), start);
    if (now <= kTolerance) return true;
    if (!(now < 0.25 * last)) return false;
    last = now;
  }
  return false;
}

/// (B^-1)_ij for each of the rows i and the rows j of its group.
template <class T>
Matrix<double> inverse_of(MatrixView<const T> r, std::span<const Index> rows, Index copies) {
  Matrix<T> columns(r.rows, std::ssize(rows));
  columns.fill(0);
  for (Index k = 0; k < columns.cols(); ++k) columns(rows[k], k) = 1;
  blas::transposed_solve(r, columns.view());
  Matrix<double> out(columns.cols(), copies);
  out.fill(0);
  for (Index i = 0; i < columns.rows(); ++i)
    for (Index k = 0; k < columns.cols(); ++k) {
      const Index first = k - rows[k] % copies;
      for (Index j = first; j < std::min(first + copies, columns.cols()); ++j)
        out(k, j - first) += static_cast<double>(columns(i, k)) * columns(i, j);
    }
  return out;
}

/// All groups of rows, or as many as have kLeftOutRows, spread evenly.
std::vector<Index> rows_to_leave_out(Index n, Index copies) {
  std::vector<Index> rows;
  const Index groups = (n + copies - 1) / copies;
  const Index count = std::min(groups, std::max(kLeftOutRows / copies, Index{1}));
  for (Index k = 0; k < count; ++k) {
    const Index first = k * groups / count * copies;
    for (Index i = first; i < std::min(first + copies, n); ++i) rows.push_back(i);
  }
  return rows;
}

}  // namespace

SystemSolution solve_at_lambda(MatrixView<double> a, const Matrix<double>& y, double c,
                               Index copies, const Progress& progress) {
  for (Index i = 0; i < a.rows; ++i) a(i, i) += c;
  SystemSolution out;
  out.rows = rows_to_leave_out(a.rows, copies);
  bool solved = false;
  if (Matrix<float> r; solve_refined(a, y, r, out.x, progress)) {
    solved = true;
    if (copies == 1) {
      out.inverse = inverse_of<float>(r.view(), out.rows, copies);
      return out;
    }
  }
  KERF_REQUIRE(blas::cholesky(a, progress) == 0, numeric,
               "the kernel matrix is singular at this lambda: raise it, or leave it to be chosen");
  if (!solved) {
    out.x = y.copy();
    blas::cholesky_solve(a, out.x.view());
  }
  out.inverse = inverse_of<double>(a, out.rows, copies);
  return out;
}

}  // namespace kerf::detail
