// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/design/design.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "kerf/api/error.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

Matrix<float> normal_rows(Index rows, Index cols) {
  Matrix<float> z(rows, cols);
  rng::fill_normal(rng::Key{31}, 0, std::span(z.data(), rows * cols));
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
    const Index row = rows[i];
    for (Index j = 0; j < k; ++j) a(i, j) = kernel(row, rows[j]) + (i == j ? c : 0);
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

/// What each row would lower J by next, from the kernel itself: the rows chosen are taken out of it
/// one after the other, all in long double.
class Judge {
 public:
  Judge(const Matrix<float>& z, double c) : n_(z.rows()), c_(c) {
    for (Index i = 0; i < n_; ++i)
      for (Index j = 0; j < n_; ++j) {
        long double sum = 0;
        for (Index t = 0; t < z.cols(); ++t) sum += static_cast<long double>(z(i, t)) * z(j, t);
        kernel_.push_back(sum);
      }
  }
  long double gain(Index row) const {
    long double squares = 0;
    for (Index i = 0; i < n_; ++i) squares += at(i, row) * at(i, row);
    return squares / (at(row, row) + c_);
  }
  void take(Index row) {
    std::vector<long double> column;
    for (Index i = 0; i < n_; ++i) column.push_back(at(i, row));
    const long double s = at(row, row) + c_;
    for (Index i = 0; i < n_; ++i)
      for (Index j = 0; j < n_; ++j) kernel_[i * n_ + j] -= column[i] * column[j] / s;
  }

 private:
  long double at(Index i, Index j) const { return kernel_[i * n_ + j]; }
  Index n_;
  long double c_;
  std::vector<long double> kernel_;
};

/// Every row taken has the largest gain (to `tie`), of equal ones it is the first, and its gain is
/// told.
void expect_greedy(const Matrix<float>& z, Index budget, double c, double tie) {
  const Design design = greedy_design(z.view(), budget, c);
  ASSERT_EQ(std::ssize(design.rows), budget);
  Judge judge(z, c);
  std::set<Index> chosen;
  for (std::size_t step = 0; step < design.rows.size(); ++step) {
    long double best = 0;
    std::vector<long double> gains;
    for (Index j = 0; j < z.rows(); ++j) {
      gains.push_back(chosen.contains(j) ? -1 : judge.gain(j));
      best = std::max(best, gains.back());
    }
    const Index row = design.rows[step];
    const long double own = gains[row];
    const auto equal = [&](long double gain) { return gain >= best * (1 - 1e-12L); };
    EXPECT_GE(own, best * (1 - tie)) << "step " << step << ", ridge " << c;
    EXPECT_LE(row, std::ranges::find_if(gains, equal) - gains.begin())
        << "step " << step << ", ridge " << c << " " << own / best - 1;
    EXPECT_NEAR(design.gains[step], static_cast<double>(own), tie * static_cast<double>(best));
    chosen.insert(row);
    judge.take(row);
  }
}

/// Rows 5 i .. 5 i + 4 are one of 40 rows: unit features of points in three dimensions.
Matrix<float> copied_rows() {
  Matrix<float> z(200, 300);
  std::vector<float> directions(900);
  rng::fill_normal(rng::Key{8}, 0, directions);
  for (Index i = 0; i < 200; ++i)
    for (Index j = 0; j < 300; ++j) {
      double along = 0;
      for (Index k = 0; k < 3; ++k)
        along += directions[3 * j + k] *
                 rng::normal(rng::Key{7}, static_cast<std::uint64_t>(3 * (i / 5) + k));
      z(i, j) = static_cast<float>(std::max(along, 0.0) / std::sqrt(300.0));
    }
  return z;
}

// Products in single precision, taken from sums, left copies with gains that they had not: 19 of
// the 40 rows at the first of these.
TEST(Design, CopiesAreNotChosenBeforeRowsThatAreNew) {
  const Matrix<float> z = copied_rows();
  for (const double c : {4e-5, 4e-7}) {
    std::set<Index> kinds;
    for (const Index row : greedy_design(z.view(), 40, c).rows) kinds.insert(row / 5);
    EXPECT_EQ(kinds.size(), 40u) << c;
    expect_greedy(z, 60, c, 1e-5);
  }
}

TEST(Design, IllConditionedRowsAreChosenByTheirGains) {
  Matrix<float> z = normal_rows(60, 40);  // columns from 1 to 1e-6, and rows that nearly agree
  for (Index i = 0; i < 60; ++i)
    for (Index j = 0; j < 40; ++j)
      z(i, j) = static_cast<float>((z(i % 20, j) + 1e-4 * z(i, j)) * std::pow(10, -6.0 * j / 39));
  for (const double c : {1.0, 1e-3, 1e-6, 1e-8}) expect_greedy(z, 40, c, 1e-5);
}

TEST(Design, BudgetAboveTheRank) {
  const Matrix<float> z = normal_rows(60, 7);
  for (const double c : {3.0, 1e-3, 1e-6}) expect_greedy(z, 50, c, 1e-5);
}

TEST(Design, WhereOnlyRoundingIsLeftRowsGainNothing) {
  Matrix<float> z = normal_rows(30, 4);
  for (Index i = 0; i < 30; i += 3) std::ranges::fill(z.row(i), 0.0f);
  for (const double c : {1e-9, 1e-15, 1e-30, 1e-300}) {
    const Design design = greedy_design(z.view(), 30, c);
    EXPECT_EQ(std::set<Index>(design.rows.begin(), design.rows.end()).size(), 30u);
    double sum = 0;
    for (const double gain : design.gains) {
      EXPECT_GE(gain, 0) << c;
      sum += gain;
    }
    EXPECT_NEAR(sum, design.total, 1e-8 * design.total) << c;
    // From the first that gains nothing on, rows come in their order.
    const auto first = std::ranges::find(design.gains, 0.0) - design.gains.begin();
    EXPECT_TRUE(std::is_sorted(design.rows.begin() + first, design.rows.end())) << c;
    EXPECT_EQ(std::count(design.gains.begin() + first, design.gains.end(), 0.0), 30 - first) << c;
    EXPECT_LE(first, 20) << c;
  }
  z.fill(0);
  EXPECT_EQ(greedy_design(z.view(), 3, 1).rows, (std::vector<Index>{0, 1, 2}));
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
}  // namespace kerf::detail
