// SPDX-License-Identifier: Apache-2.0
#include "kerf/images/covariance.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

/// Rows whose products are summed in single precision before they join the double sums.
constexpr Index kChunkRows = 1024;

}  // namespace

Covariance::Covariance(Index dimension)
    : origin_(dimension, 0.0), sum_(origin_), products_(dimension, dimension) {
  products_.fill(0);
}

void Covariance::add(MatrixView<const float> rows) {
  const Index d = rows.cols;
  if (rows_ == 0)
    for (Index i = 0; i < rows.rows; ++i)
      for (Index k = 0; k < d; ++k) origin_[k] += rows(i, k) / static_cast<double>(rows.rows);
  rows_ += static_cast<double>(rows.rows);
  Matrix<float> centred, partial(d, d);
  for (Index begin = 0; begin < rows.rows; begin += kChunkRows) {
    const Index end = std::min(rows.rows, begin + kChunkRows);
    centred.resize(end - begin, d);
    for (Index i = begin; i < end; ++i)
      for (Index k = 0; k < d; ++k) {
        const auto at = static_cast<std::size_t>(k);
        centred(i - begin, k) = static_cast<float>(rows(i, k) - origin_[at]);
        sum_[at] += centred(i - begin, k);
      }
    blas::gram_upper(centred.view(), partial.view());
    for (Index i = 0; i < d; ++i)
      for (Index k = i; k < d; ++k) products_(i, k) += partial(i, k);
  }
}

LinearStep Covariance::centred(const Matrix<double>& rows) const {
  Matrix<float> matrix(rows.rows(), rows.cols());
  std::vector<float> offset;
  for (Index j = 0; j < rows.rows(); ++j) {
    double at_mean = 0;
    for (Index k = 0; k < rows.cols(); ++k) {
      const auto at = static_cast<std::size_t>(k);
      matrix(j, k) = static_cast<float>(rows(j, k));
      at_mean += rows(j, k) * (origin_[at] + sum_[at] / rows_);
    }
    offset.push_back(static_cast<float>(-at_mean));
  }
  return {std::move(matrix), std::move(offset)};
}

Covariance::Eigen Covariance::eigen() const {
  KERF_REQUIRE(rows_ >= 2, data, "whitening needs at least 2 rows");
  const Index d = products_.rows();
  Matrix<double> c(d, d);
  for (Index i = 0; i < d; ++i)
    for (Index k = i; k < d; ++k) {
      const auto at_i = static_cast<std::size_t>(i), at_k = static_cast<std::size_t>(k);
      c(i, k) = (products_(i, k) - sum_[at_i] * sum_[at_k] / rows_) / rows_;
      c(k, i) = c(i, k);
    }
  Eigen eigen{std::vector<double>(d), Matrix<double>(d, d)};
  blas::symmetric_eigen(c.view(), eigen.values);
  std::ranges::reverse(eigen.values);
  for (double& value : eigen.values) value = std::max(0.0, value);  // rounding
  for (Index i = 0; i < d; ++i) std::ranges::copy(c.row(d - 1 - i), eigen.vectors.row(i).begin());
  return eigen;
}

LinearStep Covariance::zca(double epsilon) const {
  const Eigen e = eigen();
  const Index d = e.vectors.rows();
  double total = 0;
  for (const double value : e.values) total += value;
  KERF_REQUIRE(total > 0, data, "whitening: every row is the same");
  Matrix<double> scaled(d, d), w(d, d);
  for (Index i = 0; i < d; ++i) {
    const double ridge = epsilon * total / static_cast<double>(d);
    const double factor = 1 / std::sqrt(e.values[i] + ridge);
    for (Index k = 0; k < d; ++k) scaled(i, k) = factor * e.vectors(i, k);
  }
  blas::product(true, false, 1.0, e.vectors.view(), scaled.view(), 0.0, w.view());
  return centred(w);
}

LinearStep Covariance::principal(Index components) const {
  const Eigen e = eigen();
  Matrix<double> leading(components, e.vectors.cols());
  for (Index i = 0; i < components; ++i) {
    // A sign that does not depend on LAPACK's whim: the largest coordinate is positive.
    const auto row = e.vectors.row(i);
    const double largest = *std::ranges::max_element(row, {}, [](double v) { return std::abs(v); });
    std::ranges::transform(row, leading.row(i).begin(),
                           [&](double v) { return largest < 0 ? -v : v; });
  }
  return centred(leading);
}

}  // namespace kerf::detail
