// The numbers of insight/measure/spectral.h by eigenvalues of whole matrices: slow, obvious.
//
// Error:      about n 1e-16 (|K|_2 / s).
// Cost:       three eigenvalue problems and two products of n x n matrices, 16 n^2 bytes twice.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/rows/matrix.h"
#include "kerf/insight/measure/spectral.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
inline double frobenius(const Matrix<double>& a) {
  double sum = 0;
  for (Index i = 0; i < a.rows(); ++i)
    for (const double v : a.row(i)) sum += v * v;
  return std::sqrt(sum);
}

inline std::vector<double> eigenvalues(Matrix<double>& a) {
  std::vector<double> values(a.rows());
  blas::symmetric_eigen(a.view(), values);
  return values;
}

inline double ratio(double a, double b) { return b > 0 ? a / b : a > 0 ? INFINITY : 0; }

/// Both matrices n x n and symmetric; `ridge` > 0 is absolute: n lambda.
inline SpectralQuality compare_spectra(MatrixView<const double> exact,
                                       MatrixView<const double> approximate, double ridge) {
  const Index n = exact.rows;
  KERF_REQUIRE(n >= 1 && exact.cols == n && approximate.rows == n && approximate.cols == n, usage,
               "kernel matrices of {} x {} and {} x {} cannot be compared", exact.rows, exact.cols,
               approximate.rows, approximate.cols);
  KERF_REQUIRE(ridge > 0 && std::isfinite(ridge), usage,
               "the ridge {} must be a positive number: without one no map of finitely many "
               "features is close to a kernel",
               ridge);
  SpectralQuality found;
  Matrix<double> difference = copy_of<double>(approximate);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) difference(i, j) -= exact(i, j);
  Matrix<double> vectors = copy_of<double>(exact);
  found.relative_frobenius = ratio(frobenius(difference), frobenius(vectors));

  // Eigenvectors of K in the rows of `vectors`, scaled by (eigenvalue + s)^-1/2; an eigenvalue of a
  // positive semi-definite matrix is negative by rounding only.
  const auto values = eigenvalues(vectors);
  for (Index i = 0; i < n; ++i) {
    const double value = std::max(0.0, values[i]);
    found.statistical_dimension += value / (value + ridge);
    for (double& v : vectors.row(i)) v /= std::sqrt(value + ridge);
  }
  Matrix<double> shifted = copy_of<double>(approximate), product(n, n);
  for (Index i = 0; i < n; ++i) shifted(i, i) += ridge;
  blas::gemm(false, false, 1.0, vectors.view(), shifted.view(), 0.0, product.view());
  blas::gemm(false, true, 1.0, product.view(), vectors.view(), 0.0, shifted.view());
  const auto relative = eigenvalues(shifted);
  found.smallest = relative.front();
  found.largest = relative.back();
  found.epsilon = std::max({0.0, found.largest - 1, 1 - found.smallest});
  found.condition_number = ratio(found.largest, found.smallest);
  const auto errors = eigenvalues(difference);
  found.spectral_error = ratio(std::max(std::abs(errors.front()), std::abs(errors.back())),
                               std::max(0.0, values.back()));
  return found;
}

}  // namespace kerf::detail
