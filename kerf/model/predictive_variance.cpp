// SPDX-License-Identifier: Apache-2.0
#include "kerf/model/predictive_variance.h"

#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {

void PredictiveVariance::variances(MatrixView<const float> z, MatrixView<double> out) const {
  constexpr Index kPiece =
      64;  // rows solved for at a time: fixed, so that bits do not depend on more
  parallel_for(z.rows, kPiece, [&](Index begin, Index end) {
    Matrix<double> centred(kPiece, z.cols);
    centred.fill(0);
    for (Index i = begin; i < end; ++i)
      for (Index j = 0; j < z.cols; ++j) centred(i - begin, j) = z(i, j) - mean[j];
    blas::triangular_solve_rows(factor.view(), false, centred.view());
    for (Index i = begin; i < end; ++i) {
      double square = 0;
      for (const double value : centred.row(i - begin)) square += value * value;
      for (Index t = 0; t < out.cols; ++t) out(i, t) = noise[t] * (1 + 1 / weight + square);
    }
  });
}

std::vector<double> packed_triangle(const Matrix<double>& factor) {
  std::vector<double> packed;
  packed.reserve(factor.rows() * (factor.rows() + 1) / 2);
  for (Index i = 0; i < factor.rows(); ++i)
    packed.insert(packed.end(), factor.row(i).begin() + i, factor.row(i).end());
  return packed;
}

Matrix<double> unpacked_triangle(const std::vector<double>& packed, Index size) {
  KERF_REQUIRE(std::ssize(packed) == size * (size + 1) / 2, data,
               "{} numbers for a triangle of {} rows", packed.size(), size);
  Matrix<double> factor(size, size);
  factor.fill(0);
  auto from = packed.begin();
  for (Index i = 0; i < size; ++i) {
    std::copy_n(from, size - i, factor.row(i).begin() + i);
    from += size - i;
  }
  return factor;
}

}  // namespace kerf::detail
