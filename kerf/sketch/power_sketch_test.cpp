// SPDX-License-Identifier: Apache-2.0
#include "kerf/sketch/power_sketch.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kerf/api/error.h"
#include "kerf/core/rows/matrix.h"
#include "kerf/core/system/parallel.h"
#include "kerf/sketch/symmetric_powers.h"
#include "tests/oracle/statistics.h"

namespace kerf::detail {
namespace {

std::vector<float> unit_row(Index dim, std::uint64_t label) {
  std::vector<float> row(dim);
  rng::sphere(rng::Key{7}, label, row);
  return row;
}

/// Unit row with <x, y> = inner, y its partner.
std::vector<float> partner(const std::vector<float>& x, double inner, std::uint64_t label) {
  auto y = unit_row(static_cast<Index>(x.size()), label);
  const double along = oracle::dot(x, y);
  double norm = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    y[k] = static_cast<float>(y[k] - along * x[k]);
    norm += double{y[k]} * y[k];
  }
  for (std::size_t k = 0; k < x.size(); ++k)
    y[k] = static_cast<float>(inner * x[k] + std::sqrt((1 - inner * inner) / norm) * y[k]);
  return y;
}

std::vector<float> apply(const PowerSketch& sketch, const std::vector<float>& x) {
  std::vector<float> out(sketch.out_dim());
  sketch.apply(MatrixView<const float>(x.data(), 1, sketch.in_dim()),
               {out.data(), 1, sketch.out_dim()});
  return out;
}

// Every power on its own: mean <x, y>^j and at most the variance stated (5 standard errors).
TEST(PowerSketch, IsUnbiasedWithTheVarianceItStates) {
  const std::vector<Index> dims = {10, 24, 0, 16, 5};
  constexpr Index kDim = 6;
  const auto x = unit_row(kDim, 0);
  for (const double inner : {0.0, 0.6, 1.0}) {
    const auto y = partner(x, inner, 1);
    Index first = 0;
    for (Index power = 1; power <= 5; ++power) {
      const Index m = dims[power - 1];
      if (m == 0) continue;
      const auto part = [&](const std::vector<float>& z) { return std::span(z).subspan(first, m); };
      oracle::expect_moments(600, std::pow(inner, power),
                             power_sketch_variance(dims, power, inner, false),
                             oracle::Stated::at_most, [&](rng::Key key) {
                               const PowerSketch sketch(kDim, dims, key);
                               const auto zx = apply(sketch, x), zy = apply(sketch, y);
                               return oracle::dot(part(zx), part(zy));
                             });
      first += m;
    }
  }
}

/// The matrix of a sampled transform, from its columns.
std::vector<std::vector<double>> matrix_of(const SampledHadamard& transform) {
  std::vector<std::vector<double>> rows(transform.out_dim());
  for (Index k = 0; k < transform.in_dim(); ++k) {
    std::vector<float> unit(transform.in_dim()), column(rows.size());
    unit[k] = 1;
    transform.apply(unit, column);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].push_back(column[i]);
  }
  return rows;
}

/// The slow version: Q_j as a matrix of n_j rows over all 3^j products of coordinates.  Row i of Q_j
/// is (row i of A_j Q_{j-1}) (x) (row i of B_j).
TEST(PowerSketch, IsTheMatrixOfItsCard) {
  constexpr Index kDim = 3;
  const std::vector<Index> dims = {0, 5, 7, 4};
  const Index lengths[] = {8, 8, 4};  // n_2, n_3, n_4
  const rng::Key key{12};
  const auto x = unit_row(kDim, 4);
  const PowerSketch sketch(kDim, dims, key);
  const auto z = apply(sketch, x);
  using Order = SampledHadamard::Order;
  std::vector<std::vector<double>> below;
  std::vector<double> power(x.begin(), x.end());  // x (x) .. (x) x
  std::size_t first = 0;
  for (Index j = 2; j <= 4; ++j) {
    const rng::Key node = key.child(static_cast<std::uint64_t>(j));
    const Index n = lengths[j - 2], m = dims[j - 1];
    const double scale = 1 / std::sqrt(static_cast<double>(n));
    auto left = matrix_of(
        j == 2
            ? SampledHadamard(kDim, n, scale, Order::sorted, node.child("left").child("transform"))
            : SampledHadamard(lengths[j - 3], n, scale, Order::sorted, node.child("left")));
    const auto right = matrix_of(
        SampledHadamard(kDim, n, 1, Order::shuffled, node.child("right").child("transform")));
    std::vector<std::vector<double>> q(n);
    for (std::size_t i = 0; i < q.size(); ++i) {
      std::vector<double> row = left[i];
      if (j > 2) {
        row.assign(below[0].size(), 0.0);
        for (std::size_t k = 0; k < below.size(); ++k)
          for (std::size_t c = 0; c < row.size(); ++c) row[c] += left[i][k] * below[k][c];
      }
      for (const double a : row)
        for (const double b : right[i]) q[i].push_back(a * b);
    }
    std::vector<double> next;
    for (const double a : power)
      for (const float b : x) next.push_back(a * b);
    power = next;
    const auto sample = m < n ? balanced_sample(n, m, false, node.child("output"))
                              : std::vector<std::int32_t>{0, 1, 2, 3};
    for (Index c = 0; c < m; ++c) {
      const auto& row = q[sample[static_cast<std::size_t>(c)]];
      double expected = 0;
      for (std::size_t k = 0; k < power.size(); ++k) expected += row[k] * power[k];
      expected *= std::sqrt(static_cast<double>(n) / static_cast<double>(m));
      EXPECT_NEAR(z[first + static_cast<std::size_t>(c)], expected, 1e-5) << "power " << j;
    }
    first += static_cast<std::size_t>(m);
    below = q;
  }
}

TEST(PowerSketch, HashesRowsTooLongForATransform) {
  EXPECT_TRUE(PowerSketch::hashes((Index{1} << 24) + 1, {8, 8}));
  EXPECT_TRUE(PowerSketch::hashes(Index{1} << 30, {8, 8}));
}

// At x = y, where the sketch varies most, in sizes at which 5 standard errors are 0.2.
TEST(PowerSketch, HashesLongRowsToTheirLengths) {
  const std::vector<Index> dims = {64, 128, 64};
  constexpr Index kDim = 5000;
  ASSERT_TRUE(PowerSketch::hashes(kDim, dims));
  const auto x = unit_row(kDim, 2);
  for (const auto& [power, first, m] : {std::tuple(1, 0, 64), {2, 64, 128}, {3, 192, 64}}) {
    const double variance = power_sketch_variance(dims, power, 1, true);
    ASSERT_LT(5 * std::sqrt(variance / 120), 0.3);
    oracle::expect_moments(120, 1, variance, oracle::Stated::at_most, [&](rng::Key key) {
      const PowerSketch sketch(kDim, dims, key);
      const auto z = apply(sketch, x);
      const auto part = std::span(z).subspan(first, m);
      return oracle::dot(part, part);
    });
  }
}

TEST(PowerSketch, HashesLongRowsWithoutBias) {
  const std::vector<Index> dims = {8, 16, 8};
  constexpr Index kDim = 5000;
  ASSERT_TRUE(PowerSketch::hashes(kDim, dims));
  ASSERT_FALSE(PowerSketch::hashes(4096, dims));
  const auto x = unit_row(kDim, 2), y = partner(x, 0.7, 3);
  for (const auto& [power, first, m] : {std::tuple(1, 0, 8), {2, 8, 16}, {3, 24, 8}}) {
    const auto part = [first = first, m = m](const std::vector<float>& z) {
      return std::span(z).subspan(first, m);
    };
    oracle::expect_moments(60, std::pow(0.7, power), power_sketch_variance(dims, power, 0.7, true),
                           oracle::Stated::at_most, [&](rng::Key key) {
                             const PowerSketch sketch(kDim, dims, key);
                             const auto zx = apply(sketch, x), zy = apply(sketch, y);
                             return oracle::dot(part(zx), part(zy));
                           });
  }
}

// The chain by its definition: row by row of a Hadamard matrix, H_pq = (-1)^popcount(p & q), is in
// the tests of SampledHadamard; here what is made of it.  Power 2 of two coordinates by hand: with
// n_2 = 2 the sketch of e_1 is (+-1, +-1)/sqrt(2), of length 1 for every seed.
TEST(PowerSketch, KeepsTheLengthOfAPowerOfOneCoordinateExactly) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const PowerSketch sketch(2, {2, 2, 2, 2}, rng::Key{seed});
    const auto z = apply(sketch, {1, 0});
    for (std::size_t power = 0; power < 2; ++power)
      EXPECT_NEAR(
          oracle::dot(std::span(z).subspan(2 * power, 2), std::span(z).subspan(2 * power, 2)), 1,
          1e-6);
  }
}

TEST(PowerSketch, DenseAndSparseRowsAndAnyCutGiveTheSameBits) {
  constexpr Index kRows = 21;
  for (const Index dim : {7, 5000}) {
    const PowerSketch sketch(dim, {3, 5, 4}, rng::Key{1});
    Matrix<float> x(kRows, dim);
    rng::fill_normal(rng::Key{5}, 0, std::span(x.data(), kRows * dim));
    CsrMatrix sparse;
    sparse.cols = dim;
    for (Index i = 0; i < kRows; ++i) {
      for (Index j = 0; j < dim; ++j) {
        if ((i + j) % 3 == 0) x(i, j) = 0;
        if (x(i, j) != 0) sparse.push(static_cast<std::int32_t>(j), x(i, j));
      }
      sparse.end_row();
    }
    Matrix<float> whole(kRows, 12), cut(kRows, 12), from_sparse(kRows, 12);
    sketch.apply(x.view(), whole.view());
    sketch.apply(sparse.view(), from_sparse.view());
    for (Index i = 0; i < kRows; ++i)
      sketch.apply(MatrixView<const float>(x.row(i).data(), 1, dim), cut.view().slice(i, i + 1));
    for (Index k = 0; k < kRows * 12; ++k) {
      ASSERT_EQ(whole.data()[k], cut.data()[k]);
      ASSERT_EQ(whole.data()[k], from_sparse.data()[k]);
    }
  }
}

TEST(PowerSketch, RefusesNothing) {
  EXPECT_THROW(PowerSketch(3, {}, {}), Error);
  EXPECT_THROW(PowerSketch(3, {0, 0}, {}), Error);
  EXPECT_THROW(PowerSketch(3, {4, -1, 2}, {}), Error);
}

TEST(SymmetricPowers, AreThePowersOfTheInnerProduct) {
  for (const Index dim : {1, 2, 3, 7}) {
    constexpr Index kDegree = 5;
    const SymmetricPowers powers(dim, kDegree);
    const auto x = unit_row(dim, 10), y = unit_row(dim, 11);
    std::vector<std::vector<float>> zx, zy;
    std::vector<std::span<float>> px, py;
    for (Index j = 1; j <= kDegree; ++j) {
      const auto size = static_cast<std::size_t>(SymmetricPowers::dimension(dim, j, 1 << 20));
      zx.emplace_back(size);
      zy.emplace_back(size);
    }
    zx[2].clear();  // degree 3 is not wanted, but the ones above are made from it
    zy[2].clear();
    for (auto& z : zx) px.emplace_back(z);
    for (auto& z : zy) py.emplace_back(z);
    const std::vector<float> scale = {1, 2, 1, 0.5f, 1};
    powers.apply(x, scale, px);
    powers.apply(y, scale, py);
    for (std::size_t j = 0; j < kDegree; ++j) {
      const double expected =
          j == 2 ? 0
                 : scale[j] * scale[j] * std::pow(oracle::dot(x, y), static_cast<double>(j + 1));
      EXPECT_NEAR(oracle::dot(zx[j], zy[j]), expected, 2e-6)
          << "dim " << dim << " degree " << j + 1;
    }
  }
}

TEST(SymmetricPowers, CountTheirMonomials) {
  EXPECT_EQ(SymmetricPowers::dimension(16, 0, 100), 1);
  EXPECT_EQ(SymmetricPowers::dimension(16, 2, 1000), 136);
  EXPECT_EQ(SymmetricPowers::dimension(16, 4, 10000), 3876);
  EXPECT_EQ(SymmetricPowers::dimension(784, 3, 4096), 4096);
  EXPECT_EQ(SymmetricPowers::dimension(1, 40, 100), 1);
}

}  // namespace
}  // namespace kerf::detail
