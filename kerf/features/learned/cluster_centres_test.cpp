// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/learned/cluster_centres.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kerf/core/system/parallel.h"

namespace kerf::detail {
namespace {

/// `count` rows around each of `groups` far places, in turn.
Matrix<float> grouped_rows(Index groups, Index count, Index cols) {
  Matrix<float> x(groups * count, cols);
  rng::fill_normal(rng::Key{3}, 0, {x.data(), static_cast<std::size_t>(x.rows() * cols)});
  Matrix<float> places(groups, cols);
  rng::fill_normal(rng::Key{4}, 0, {places.data(), static_cast<std::size_t>(groups * cols)});
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < cols; ++j) x(i, j) = 0.1f * x(i, j) + 10 * places(i % groups, j);
  return x;
}

std::vector<float> numbers(const Matrix<float>& m) {
  return {m.data(), m.data() + m.rows() * m.cols()};
}

Matrix<float> copy(const Matrix<float>& x) {
  Matrix<float> out(x.rows(), x.cols());
  std::copy_n(x.data(), x.rows() * x.cols(), out.data());
  return out;
}

/// Lloyd's steps in all columns and double precision, from the rows that the seed draws: slow and
/// obvious.  `begin` are those rows.
Matrix<double> lloyd(const Matrix<float>& x, const Matrix<float>& begin, int steps) {
  Matrix<double> centres(begin.rows(), x.cols());
  std::copy_n(begin.data(), begin.rows() * x.cols(), centres.data());
  for (int step = 0; step < steps; ++step) {
    Matrix<double> sums(centres.rows(), x.cols());
    sums.fill(0);
    std::vector<double> count(centres.rows(), 0.0);
    for (Index i = 0; i < x.rows(); ++i) {
      Index best = 0;
      double least = INFINITY;
      for (Index c = 0; c < centres.rows(); ++c) {
        double square = 0;
        for (Index j = 0; j < x.cols(); ++j) square += std::pow(x(i, j) - centres(c, j), 2);
        if (square < least) {
          least = square;
          best = c;
        }
      }
      count[best] += 1;
      for (Index j = 0; j < x.cols(); ++j) sums(best, j) += x(i, j);
    }
    for (Index c = 0; c < centres.rows(); ++c)
      for (Index j = 0; j < x.cols(); ++j)
        if (count[c] > 0) centres(c, j) = sums(c, j) / count[c];
  }
  return centres;
}

// Few columns: nothing is projected, so three of Lloyd's steps are what must come out.
TEST(ClusterCentres, AreThoseOfLloydsSteps) {
  const Matrix<float> x = grouped_rows(12, 25, 5);
  const Matrix<float> centres = cluster_centres(copy(x), 8, rng::Key{1});
  Matrix<float> begin(8, 5);
  std::vector<Index> order(300);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
  for (std::size_t i = 0; i < 8; ++i) {
    std::swap(order[i], order[i + rng::below(rng::Key{1}.child("begin"), i, 300 - i)]);
    std::ranges::copy(x.row(order[i]), begin.row(static_cast<Index>(i)).begin());
  }
  const Matrix<double> expected = lloyd(x, begin, 3);
  for (Index c = 0; c < 8; ++c)
    for (Index j = 0; j < 5; ++j) EXPECT_NEAR(centres(c, j), expected(c, j), 1e-4) << c << ' ' << j;
}

// 40 groups that differ in two of 1,000 columns only, noise of a tenth of their distance in all:
// seen in 64 random directions the noise would hide them.
TEST(ClusterCentres, SeeDistancesInTheDimensionsThatMatter) {
  constexpr Index kGroups = 40, kRows = 30 * kGroups;
  Matrix<float> x(kRows, 1000);
  rng::fill_normal(rng::Key{3}, 0, {x.data(), static_cast<std::size_t>(kRows * 1000)});
  for (Index i = 0; i < kRows; ++i) {
    x(i, 300) += static_cast<float>(10 * (i % kGroups % 8));
    x(i, 700) += static_cast<float>(10 * (i % kGroups / 8));
  }
  const Matrix<float> centres = cluster_centres(copy(x), 4 * kGroups, rng::Key{1});
  const auto place = [&](auto row) {
    return std::pair(std::lround(row[300] / 10), std::lround(row[700] / 10));
  };
  // A centre of one group's rows lies at a place of the grid, within the noise of their mean.
  int off = 0;
  for (Index c = 0; c < centres.rows(); ++c) {
    const auto [a, b] = place(centres.row(c));
    if (std::hypot(centres(c, 300) - 10.0 * static_cast<double>(a),
                   centres(c, 700) - 10.0 * static_cast<double>(b)) > 3)
      ++off;
  }
  EXPECT_LE(off, 8);  // of 160; with a random basis 96 are
}

// Means that are 1e4 times the spread: inner products of the rows themselves would cancel.
TEST(ClusterCentres, DoNotDependOnWhereTheRowsLie) {
  const Matrix<float> x = grouped_rows(12, 25, 5);
  Matrix<float> far = copy(x);
  for (Index i = 0; i < far.rows(); ++i)
    for (Index j = 0; j < 5; ++j) far(i, j) += 65536;
  const Matrix<float> near_centres = cluster_centres(copy(x), 8, rng::Key{1});
  const Matrix<float> far_centres = cluster_centres(std::move(far), 8, rng::Key{1});
  for (Index c = 0; c < 8; ++c)
    for (Index j = 0; j < 5; ++j)
      EXPECT_NEAR(far_centres(c, j) - 65536, near_centres(c, j), 0.05) << c << ' ' << j;
}

TEST(ClusterCentres, AreTheSameBitsOnAnyNumberOfThreads) {
  const Matrix<float> x = grouped_rows(50, 20, 90);
  const int before = threads();
  set_threads(1);
  const auto one = numbers(cluster_centres(copy(x), 40, rng::Key{2}));
  set_threads(3);
  const auto three = numbers(cluster_centres(copy(x), 40, rng::Key{2}));
  set_threads(before);
  EXPECT_EQ(one, three);
}

TEST(ClusterCentres, AreTheRowsWhereThereAreFew) {
  const Matrix<float> x = grouped_rows(3, 2, 70);
  EXPECT_EQ(numbers(cluster_centres(copy(x), 6, rng::Key{1})), numbers(x));
  EXPECT_EQ(numbers(cluster_centres(copy(x), 9, rng::Key{1})), numbers(x));
}

// More centres than places: some keep no rows and must stay finite.
TEST(ClusterCentres, WithoutRowsStayWhereTheyWere) {
  Matrix<float> x(100, 3);
  for (Index i = 0; i < 100; ++i)
    for (Index j = 0; j < 3; ++j) x(i, j) = static_cast<float>(i % 2);
  for (const float v : numbers(cluster_centres(copy(x), 10, rng::Key{1})))
    EXPECT_TRUE(v == 0 || v == 1);
}

}  // namespace
}  // namespace kerf::detail
