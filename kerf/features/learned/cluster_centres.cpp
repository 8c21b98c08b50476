// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/learned/cluster_centres.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "kerf/core/system/parallel.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

constexpr Index kDimensions = 64;   // that distances are seen in
constexpr Index kBasisRows = 8192;  // behind their choice
constexpr int kPowerSteps = 2, kSteps = 3;
constexpr Index kTile = 64;  // rows that are compared with all centres at a time

Matrix<float> some_rows(const Matrix<float>& from, const std::vector<Index>& which) {
  Matrix<float> out(std::ssize(which), from.cols());
  for (Index i = 0; i < out.rows(); ++i) std::ranges::copy(from.row(which[i]), out.row(i).begin());
  return out;
}

/// a b^T by tiles of rows: the same bits at any number of threads.
Matrix<float> inner_products(const Matrix<float>& a, const Matrix<float>& b) {
  Matrix<float> out(a.rows(), b.rows());
  parallel_for(a.rows(), 4 * kTile, [&](Index begin, Index end) {
    blas::gemm(false, true, 1.0f, a.view().slice(begin, end), b.view(), 0.0f,
               out.view().slice(begin, end));
  });
  return out;
}

/// Takes the columns' means out, which would cancel in differences of distances, and returns them.
std::vector<float> centre_columns(Matrix<float>& rows) {
  std::vector<double> sum(rows.cols(), 0.0);
  for (Index i = 0; i < rows.rows(); ++i)
    for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += rows.row(i)[j];
  std::vector<float> mean;
  for (const double s : sum)
    mean.push_back(static_cast<float>(s / static_cast<double>(rows.rows())));
  parallel_for(rows.rows(), kTile, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      for (std::size_t j = 0; j < mean.size(); ++j) rows.row(i)[j] -= mean[j];
  });
  return mean;
}

/// Orthonormal rows that span the directions in which `rows` vary most.
Matrix<float> leading_basis(const Matrix<float>& rows, Index dimensions, rng::Key key) {
  std::vector<Index> which(std::min(rows.rows(), kBasisRows));
  for (std::size_t i = 0; i < which.size(); ++i)
    which[i] = static_cast<Index>(i) * rows.rows() / std::ssize(which);
  const Matrix<float> some = some_rows(rows, which);
  Matrix<double> basis(dimensions, rows.cols());
  rng::fill_normal(key, 0, {basis.data(), static_cast<std::size_t>(dimensions * rows.cols())});
  Matrix<float> single(dimensions, rows.cols());
  for (int step = 0; step <= kPowerSteps; ++step) {
    if (step > 0) {
      const Matrix<float> along = inner_products(some, single);
      blas::gemm(true, false, 1.0f, along.view(), some.view(), 0.0f, single.view());
      copy_rows(single.view(), basis.view());
    }
    blas::orthonormalise_rows(basis.view());
    copy_rows(basis.view(), single.view());
  }
  return single;
}

/// For each row the centre of the least |row - centre|^2, the largest <row, centre> - |centre|^2/2.
std::vector<Index> nearest(const Matrix<float>& rows, const Matrix<float>& centres) {
  const Index m = centres.rows();
  std::vector<float> half_square;
  for (Index c = 0; c < m; ++c) {
    const auto v = centres.row(c);
    half_square.push_back(std::inner_product(v.begin(), v.end(), v.begin(), 0.0f) / 2);
  }
  std::vector<Index> out(rows.rows());
  parallel_for(rows.rows(), kTile, [&](Index begin, Index end) {
    thread_local Matrix<float> scores;
    scores.resize(end - begin, m);
    blas::gemm(false, true, 1.0f, rows.view().slice(begin, end), centres.view(), 0.0f,
               scores.view());
    for (Index i = begin; i < end; ++i) {
      const float* score = scores.row(i - begin).data();
      Index best = 0;
      float most = score[0] - half_square[0];
      for (Index c = 1; c < m; ++c)
        if (const float value = score[c] - half_square[c]; value > most) {
          most = value;
          best = c;
        }
      out[i] = best;
    }
  });
  return out;
}

/// Every centre to the mean of the rows that joined it; a centre without rows stays.
void move_centres(const Matrix<float>& rows, const std::vector<Index>& joined,
                  Matrix<float>& centres) {
  std::vector<Index> end(static_cast<std::size_t>(centres.rows()) + 1, 0);
  for (const Index c : joined) ++end[static_cast<std::size_t>(c) + 1];
  std::partial_sum(end.begin(), end.end(), end.begin());
  std::vector<Index> members(joined.size());  // by centre, in order; end[c] moves to c's end
  for (std::size_t i = 0; i < joined.size(); ++i)
    members[end[static_cast<std::size_t>(joined[i])]++] = static_cast<Index>(i);
  parallel_for(centres.rows(), 16, [&](Index first, Index stop) {
    std::vector<double> sum(rows.cols());
    for (Index c = first; c < stop; ++c) {
      const Index begin = c == 0 ? 0 : end[static_cast<std::size_t>(c) - 1];
      const Index count = end[c] - begin;
      if (count == 0) continue;
      std::ranges::fill(sum, 0.0);
      for (Index k = begin; k < begin + count; ++k) {
        const auto row = rows.row(members[k]);
        for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += row[j];
      }
      for (std::size_t j = 0; j < sum.size(); ++j)
        centres.row(c)[j] = static_cast<float>(sum[j] / static_cast<double>(count));
    }
  });
}

}  // namespace

Matrix<float> cluster_centres(Matrix<float> rows, Index m, rng::Key key) {
  std::vector<Index> which(rows.rows());
  std::iota(which.begin(), which.end(), Index{0});
  if (rows.rows() <= m) return rows;
  const std::vector<float> mean = centre_columns(rows);
  for (std::size_t i = 0; i < static_cast<std::size_t>(m); ++i)
    std::swap(which[i], which[i + rng::below(key.child("begin"), i, which.size() - i)]);
  which.resize(m);
  Matrix<float> centres = some_rows(rows, which);
  const bool project = rows.cols() > kDimensions && rows.rows() > kDimensions;
  const Matrix<float> basis =
      project ? leading_basis(rows, kDimensions, key.child("basis")) : Matrix<float>();
  const Matrix<float> seen = project ? inner_products(rows, basis) : Matrix<float>();
  for (int step = 0; step < kSteps; ++step)
    move_centres(rows,
                 project ? nearest(seen, inner_products(centres, basis)) : nearest(rows, centres),
                 centres);
  for (Index c = 0; c < m; ++c)
    for (std::size_t j = 0; j < mean.size(); ++j) centres.row(c)[j] += mean[j];
  return centres;
}

}  // namespace kerf::detail
