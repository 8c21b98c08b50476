// SPDX-License-Identifier: Apache-2.0
#include "kerf/insight/measure/kernel_quality.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"
#include "kerf/kernels/gram/gram.h"
#include "kerf/linalg/blas.h"
#include "kerf/linalg/feature_gram.h"
#include "kerf/linalg/lanczos.h"

namespace kerf::detail {
namespace {

Matrix<double> exact_matrix(const Kernel& kernel, const RowsView& rows) {
  Matrix<double> out(rows.rows(), rows.rows());
  gram(kernel, rows, rows, out.view());
  return out;
}

double ratio(double a, double b) { return b > 0 ? a / b : a > 0 ? INFINITY : 0; }

std::vector<double> spectrum_of(const Matrix<double>& matrix) {
  const Index n = matrix.rows();
  std::vector<double> values(n);
  if (n > kDenseRows) {
    const auto product = [&](std::span<const double> v, std::span<double> out) {
      symmetric_product(matrix.view(), v, out);
    };
    return leading_eigenvalues(n, product, kLeadingEigenvalues, {1e-6, 2 * kLeadingEigenvalues});
  }
  Matrix<double> copy = matrix.copy();
  blas::symmetric_eigen(copy.view(), values);
  std::ranges::reverse(values);
  return values;
}

/// Sums over the entries of one row.
struct RowSums {
  double absolute = 0, square = 0, max = 0;
  Index max_col = 0;
  double k = 0, ka = 0, kk = 0, kaka = 0, kka = 0;  // around an origin
};

/// Correlation of two sets of numbers from sums of both around one origin.
double correlation(double count, double x, double y, double xx, double yy, double xy) {
  const double vx = xx - x * x / count, vy = yy - y * y / count;
  const double rounding = 1e-14;
  const bool x_varies = vx > rounding * xx, y_varies = vy > rounding * yy;
  if (!x_varies || !y_varies) return x_varies == y_varies ? 1 : 0;
  return std::clamp((xy - x * y / count) / std::sqrt(vx * vy), -1.0, 1.0);
}

}  // namespace

ExactSide::ExactSide(const Kernel& kernel, const RowsView& rows, double ridge,
                     const Progress& progress)
    : ExactSide(exact_matrix(kernel, rows), ridge, progress) {}

ExactSide::ExactSide(Matrix<double> exact, double ridge, const Progress& progress)
    : exact_(std::move(exact)), ridge_(ridge) {
  KERF_REQUIRE(exact_.rows() >= 1 && exact_.rows() == exact_.cols(), usage,
               "a kernel matrix of {} x {} is not square", exact_.rows(), exact_.cols());
  KERF_REQUIRE(ridge > 0 && std::isfinite(ridge), usage,
               "the ridge {} must be a positive number: without one no map of finitely many "
               "features is close to a kernel",
               ridge);
  prepare(progress);
}

void ExactSide::prepare(const Progress& progress) {
  const Index n = rows();
  report(progress, "exact kernel", 1, 3, "");
  inverse_factor_.resize(n, n);
  double squares = 0;
  for (Index i = 0; i < n; ++i) {
    std::ranges::copy(exact_.row(i), inverse_factor_.row(i).begin());
    inverse_factor_(i, i) += ridge_;
    trace_ += exact_(i, i);
    for (const double v : exact_.row(i)) squares += v * v;
  }
  frobenius_ = std::sqrt(squares);
  KERF_REQUIRE(
      blas::cholesky(inverse_factor_.view()) == 0, numeric,
      "the kernel matrix plus n lambda = {:.3g} is not positive definite: a larger lambda is "
      "needed",
      ridge_);
  report(progress, "exact kernel", 2, 3, "");
  blas::triangular_inverse(inverse_factor_.view());
  double inverse_trace = 0;
  for (Index i = 0; i < n; ++i)
    for (Index j = i; j < n; ++j) inverse_trace += inverse_factor_(i, j) * inverse_factor_(i, j);
  statistical_dimension_ = std::max(0.0, static_cast<double>(n) - ridge_ * inverse_trace);
  const auto product = [&](std::span<const double> v, std::span<double> out) {
    symmetric_product(exact_.view(), v, out);
  };
  norm_ = std::max(0.0, extreme_eigenvalues(n, product, SpectrumEnd::largest, {1e-8, 400}).largest);
  report(progress, "exact kernel", 3, 3, "");
}

std::vector<double> ExactSide::spectrum() const { return spectrum_of(exact_); }

EntryErrors ExactSide::entry_errors(const Matrix<double>& approximate, double& frobenius) const {
  const Index n = rows();
  const double origin = exact_(0, n - 1);
  std::vector<RowSums> sums(n);
  parallel_for(n, 64, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      RowSums& row = sums[i];
      for (Index j = 0; j < n; ++j) {
        const double x = exact_(i, j) - origin, y = approximate(i, j) - origin;
        const double difference = std::abs(approximate(i, j) - exact_(i, j));
        row.absolute += difference;
        row.square += difference * difference;
        if (difference > row.max) row.max = difference, row.max_col = j;
        row.k += x;
        row.ka += y;
        row.kk += x * x;
        row.kaka += y * y;
        row.kka += x * y;
      }
    }
  });
  EntryErrors out;
  RowSums all;
  for (Index i = 0; i < n; ++i) {
    const RowSums& row = sums[i];
    all.absolute += row.absolute;
    all.square += row.square;
    all.k += row.k;
    all.ka += row.ka;
    all.kk += row.kk;
    all.kaka += row.kaka;
    all.kka += row.kka;
    if (row.max > out.max) out.max = row.max, out.max_row = i, out.max_col = row.max_col;
  }
  const auto count = static_cast<double>(n) * static_cast<double>(n);
  frobenius = std::sqrt(all.square);
  out.mean = all.absolute / count;
  out.rms = std::sqrt(all.square / count);
  out.correlation = correlation(count, all.k, all.ka, all.kk, all.kaka, all.kka);
  return out;
}

KernelQuality ExactSide::compare(MatrixView<const float> z, bool with_spectrum) const {
  const Index n = rows();
  KERF_REQUIRE(z.rows == n, usage, "features of {} rows cannot be compared with a kernel of {}",
               z.rows, n);
  const Matrix<double> approximate = symmetric_feature_gram(z);
  KernelQuality out;
  double frobenius = 0;
  out.entries = entry_errors(approximate, frobenius);
  SpectralQuality& q = out.spectral;
  q.relative_frobenius = ratio(frobenius, frobenius_);
  q.statistical_dimension = statistical_dimension_;

  std::vector<double> first(n), second(n);
  const auto difference = [&](std::span<const double> v, std::span<double> to) {
    symmetric_product(approximate.view(), v, to);
    symmetric_product(exact_.view(), v, first);
    for (std::size_t i = 0; i < first.size(); ++i) to[i] -= first[i];
  };
  const auto error = extreme_eigenvalues(n, difference, SpectrumEnd::largest_modulus);
  q.spectral_error = ratio(std::max(std::abs(error.smallest), std::abs(error.largest)), norm_);

  // R^-T (Ka + sI) R^-1 has the eigenvalues of (K + sI)^-1/2 (Ka + sI) (K + sI)^-1/2.
  const auto relative = [&](std::span<const double> v, std::span<double> to) {
    upper_product(inverse_factor_.view(), v, first);
    symmetric_product(approximate.view(), first, second);
    for (std::size_t i = 0; i < first.size(); ++i) second[i] += ridge_ * first[i];
    upper_transposed_product(inverse_factor_.view(), second, to);
  };
  const auto ends = extreme_eigenvalues(n, relative, SpectrumEnd::both);
  q.smallest = ends.smallest;
  q.largest = ends.largest;
  q.epsilon = std::max({0.0, q.largest - 1, 1 - q.smallest});
  q.condition_number = ratio(q.largest, q.smallest);
  out.converged = ends.converged && error.converged;
  const auto rank = static_cast<double>(std::min(n, z.cols));
  out.risk_factor = q.epsilon < 1 ? 1 / (1 - q.epsilon) : std::numeric_limits<double>::infinity();
  out.risk_noise = q.epsilon / (1 + q.epsilon) * rank / static_cast<double>(n);
  if (with_spectrum) out.spectrum = spectrum_of(approximate);
  return out;
}

Index ExactSide::bytes(Index rows, Index features) {
  const Index dense = rows <= kDenseRows ? 4 : 0;  // eigenvalues of a copy
  return rows * rows * 8 * (3 + dense) + rows * (4 * features + 8 * 400);
}

}  // namespace kerf::detail
