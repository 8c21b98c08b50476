// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/design.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "kerf/core/blas.h"
#include "kerf/core/error.h"

namespace kerf {
namespace {

Matrix<float> normal_rows(Index rows, Index cols) {
  Matrix<float> z(rows, cols);
  rng::fill_normal(rng::Key{31}, 0, std::span(z.data(), static_cast<std::size_t>(rows * cols)));
  for (Index i = 0; i < rows; ++i)  // rows of different lengths: some worth more than others
    for (float& value : z.row(i)) value *= 0.5f + static_cast<float>(i % 7);
  return z;
}

/// tr K_{:S} (K_SS + c I)^-1 K_{S:}, as it stands.
double explained(const Matrix<float>& z, const std::vector<Index>& rows, double c) {
  const auto k = static_cast<Index>(rows.size());
  const auto kernel = [&](Index i, Index j) {
    double sum = 0;
    for (Index t = 0; t < z.cols(); ++t) sum += double{z(i, t)} * z(j, t);
    return sum;
  };
  Matrix<double> a(k, k), cross(k, z.rows()), solved(k, z.rows());
  for (Index i = 0; i < k; ++i) {
    const Index row = rows[static_cast<std::size_t>(i)];
    for (Index j = 0; j < k; ++j)
      a(i, j) = kernel(row, rows[static_cast<std::size_t>(j)]) + (i == j ? c : 0);
    for (Index j = 0; j < z.rows(); ++j) cross(i, j) = solved(i, j) = kernel(row, j);
  }
  EXPECT_EQ(blas::cholesky(a.view()), 0);
  blas::cholesky_solve(a.view(), solved.view());
  double trace = 0;
  for (Index i = 0; i < k; ++i)
    for (Index j = 0; j < z.rows(); ++j) trace += cross(i, j) * solved(i, j);
  return trace;
}

TEST(Design, GreedyIsBruteForce) {
  for (const Index features : {5, 33}) {
    const Matrix<float> z = normal_rows(40, features);
    for (const double c : {0.3, 20.0}) {
      const Design design = greedy_design(z.view(), 12, c);
      std::vector<Index> chosen;
      double before = 0;
      for (Index step = 0; step < 12; ++step) {
        Index best = -1;
        double best_value = -1;
        for (Index j = 0; j < z.rows(); ++j) {
          if (std::ranges::find(chosen, j) != chosen.end()) continue;
          auto with = chosen;
          with.push_back(j);
          const double value = explained(z, with, c);
          if (value > best_value) best = j, best_value = value;
        }
        const auto at = static_cast<std::size_t>(step);
        // More rows than features are all explained: only rounding is left to choose by.
        if (step < features) {
          ASSERT_EQ(design.rows[at], best) << "step " << step << ", features " << features;
        }
        chosen.push_back(design.rows[at]);
        const double value = explained(z, chosen, c);
        EXPECT_NEAR(design.gains[at], value - before, 1e-5 * design.total);
        before = value;
      }
    }
  }
}

TEST(Design, CandidatesDoNotMatter) {
  const Matrix<float> z = normal_rows(700, 48);
  const Design all = greedy_design(z.view(), 40, 5.0, {}, 700);
  for (const Index candidates : {1, 3, 100}) {
    const Design few = greedy_design(z.view(), 40, 5.0, {}, candidates);
    EXPECT_EQ(few.rows, all.rows) << candidates;
    for (std::size_t t = 0; t < 40; ++t) EXPECT_NEAR(few.gains[t], all.gains[t], 1e-9 * all.total);
  }
}

TEST(Design, ChoosesEveryRowOnceAndExplainsNoMoreThanThereIs) {
  const Matrix<float> z = normal_rows(30, 8);
  const Design design = greedy_design(z.view(), 30, 1);
  EXPECT_EQ(std::set<Index>(design.rows.begin(), design.rows.end()).size(), 30u);
  double total = 0;
  for (const double gain : design.gains) total += gain;
  EXPECT_LE(total, design.total * (1 + 1e-5));
  EXPECT_THROW(greedy_design(z.view(), 31, 1), Error);
  EXPECT_THROW(greedy_design(z.view(), 3, 0), Error);
}

TEST(Design, RandomAndKmeansChooseDistinctRows) {
  Matrix<float> z = normal_rows(50, 4);
  for (Index i = 10; i < 50; ++i) std::ranges::copy(z.row(i % 10), z.row(i).begin());
  for (const Index budget : {1, 10, 50}) {
    const Design random = random_design(50, budget, rng::Key{1});
    const Design kmeans = kmeans_design(z.view(), budget, rng::Key{1});
    EXPECT_EQ(std::ssize(random.rows), budget);
    EXPECT_EQ(std::ssize(kmeans.rows), budget);
    EXPECT_EQ(std::ssize(std::set<Index>(random.rows.begin(), random.rows.end())), budget);
    EXPECT_EQ(std::ssize(std::set<Index>(kmeans.rows.begin(), kmeans.rows.end())), budget);
  }
  // Ten different rows: k-means++ finds one of each before it takes a copy.
  std::set<Index> kinds;
  for (const Index row : kmeans_design(z.view(), 10, rng::Key{2}).rows) kinds.insert(row % 10);
  EXPECT_EQ(kinds.size(), 10u);
}

}  // namespace
}  // namespace kerf
