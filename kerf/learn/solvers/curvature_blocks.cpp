// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/solvers/curvature_blocks.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

constexpr Index kMostFeatures = 320;  // a block then costs about as much as 80 passes

/// The rows of a piece, [z, 1] sqrt(h) with the weights in h; rows without curvature are left out.
Index fill_rows(const FeatureCache& cache, const FeatureCache::Piece& piece,
                const Matrix<double>& curvatures, Index score, MatrixView<float> rows) {
  Index count = 0;
  for (Index i = 0; i < piece.z.rows; ++i) {
    const double h = curvatures(piece.first + i, score);
    if (!(h > 0)) continue;
    const double w = cache.weights()[piece.first + i];
    const double factor = std::sqrt(h / w);  // the rows of the cache carry sqrt(w)
    const auto to = rows.row(count++);
    std::ranges::transform(piece.z.row(i), to.begin(),
                           [&](float value) { return static_cast<float>(value * factor); });
    to.back() = static_cast<float>(std::sqrt(h));
  }
  return count;
}

}  // namespace

bool CurvatureBlocks::worthwhile(const FeatureCache& cache) {
  return cache.features() <= kMostFeatures && cache.form() == FeatureCache::Form::single_ &&
         cache.precision() == Precision::single_;
}

Index CurvatureBlocks::bytes(Index features, Index scores) {
  if (features > kMostFeatures) return 0;
  return 8 * (scores + FeatureCache::kLanes + 1) * (features + 1) * (features + 1);
}

/// block_ = sum w_i h_ik [z_i; 1] [z_i; 1]^T, upper triangle.
void CurvatureBlocks::sum_rows(Index score, FeatureCache& cache, const Matrix<double>& curvatures) {
  const Index size = cache.features() + 1;
  std::vector<char> used(FeatureCache::kLanes, 0);
  cache.for_each([&](const FeatureCache::Piece& piece) {
    const auto lane = static_cast<std::size_t>(piece.lane);
    thread_local Matrix<float> rows, product;
    rows.resize(piece.z.rows, size);
    product.resize(size, size);
    const Index count = fill_rows(cache, piece, curvatures, score, rows.view());
    if (count == 0) return;
    blas::gram_upper(rows.view().slice(0, count), product.view());
    Matrix<double>& sum = lanes_[lane];
    const bool first = !used[lane];
    if (first) sum.resize(size, size);
    used[lane] = 1;
    for (Index i = 0; i < size; ++i)
      for (Index j = i; j < size; ++j)
        sum(i, j) = (first ? 0.0 : sum(i, j)) + double{product(i, j)};
  });
  block_.resize(size, size);
  block_.fill(0);
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane)
    for (Index i = 0; used[lane] && i < size; ++i)
      for (Index j = i; j < size; ++j) block_(i, j) += lanes_[lane](i, j);
}

void CurvatureBlocks::make(Index score, FeatureCache& cache, const Matrix<double>& curvatures,
                           double n, double lambda) {
  sum_rows(score, cache, curvatures);
  const Index m = cache.features();
  double trace = 0;
  for (Index k = 0; k < (m + 1) * (m + 1); ++k) block_.data()[k] /= n;
  for (Index j = 0; j <= m; ++j) trace += block_(j, j);
  for (Index j = 0; j < m; ++j) block_(j, j) += 2 * lambda;
  // Rounding of single precision must not make it singular, nor rows that all lie behind the hinge.
  const double least = 1e-7 * trace / static_cast<double>(m + 1) + 1e-12;
  Matrix<double>& factor = factors_[score];
  factor.resize(m + 1, m + 1);
  for (double extra = least;; extra *= 10) {
    KERF_REQUIRE(extra <= 1e6 * (trace + 1), numeric,
                 "second derivatives of the loss are not finite");
    copy_rows(block_.view(), factor.view());
    for (Index j = 0; j <= m; ++j) factor(j, j) += extra;
    if (blas::cholesky(factor.view()) == 0) return;
  }
}

void CurvatureBlocks::solve(Index score, std::span<double> v) const {
  blas::cholesky_solve(factors_[score].view(), MatrixView<double>(v.data(), std::ssize(v), 1));
}

}  // namespace kerf::detail
