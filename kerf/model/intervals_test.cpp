// SPDX-License-Identifier: Apache-2.0
#include "kerf/model/intervals.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kerf/api/error.h"
#include "kerf/model/model_file.h"
#include "tests/oracle/fits.h"

namespace kerf::detail {
namespace {

Matrix<double> uniform_scores(Index rows, Index targets, std::uint64_t seed) {
  Matrix<double> all(rows, targets);
  for (Index i = 0; i < rows * targets; ++i)
    all.data()[i] = rng::uniform(rng::Key{seed}, static_cast<std::uint64_t>(i));
  return all;
}

/// Slow and obvious: the smallest score that is at least as large as (n + 1) level thousandths of them.
double slow_quantile(const Matrix<double>& all, Index target, Index thousandths) {
  double best = INFINITY;
  for (Index i = 0; i < all.rows(); ++i) {
    Index below = 0;
    for (Index j = 0; j < all.rows(); ++j) below += all(j, target) <= all(i, target) ? 1 : 0;
    if (1000 * below >= thousandths * (all.rows() + 1)) best = std::min(best, all(i, target));
  }
  return best;
}

TEST(ConformalScores, QuantilesAreThoseOfTheOracle) {
  for (const Index rows : {1, 9, 10, 19, 99, 100, 257}) {
    const Matrix<double> all = uniform_scores(rows, 2, 7);
    const ConformalScores kept = ConformalScores::of(all.copy());
    ASSERT_EQ(kept.rows(), rows);
    for (const Index thousandths : {1, 100, 290, 500, 700, 800, 900, 950, 990, 999})
      for (const Index target : {0, 1}) {
        const double slow = slow_quantile(all, target, thousandths),
                     level = static_cast<double>(thousandths) / 1000;
        EXPECT_EQ(kept.reaches(level), std::isfinite(slow)) << rows << " " << level;
        EXPECT_EQ(rows >= rows_needed(level), std::isfinite(slow)) << rows << " " << level;
        if (std::isfinite(slow)) EXPECT_EQ(kept.quantile(target, level), slow) << level;
      }
  }
}

TEST(ConformalScores, OfManyRowsWhatIsKeptIsLittleAndNeverTooSmall) {
  const Index rows = 100000;
  const Matrix<double> all = uniform_scores(rows, 1, 8);
  const ConformalScores kept = ConformalScores::of(all.copy());
  EXPECT_LE(std::ssize(kept.ranks), ConformalScores::kMostKept);
  EXPECT_EQ(kept.rows(), rows);
  kept.check(1, 1);
  std::vector<double> sorted(all.data(), all.data() + rows);
  std::ranges::sort(sorted);
  // Between two that are kept lie fewer than rows / 2048.
  for (const double level : {0.01, 0.5, 0.8, 0.9, 0.95}) {
    const auto rank = static_cast<Index>(std::ceil(static_cast<double>(rows + 1) * level - 1e-6));
    EXPECT_GE(kept.quantile(0, level), sorted[rank - 1]);
    EXPECT_LE(kept.quantile(0, level), sorted[rank - 1 + rows / 2048 + 1]);
  }
  EXPECT_EQ(kept.quantile(0, 0.9999), sorted[99990]);  // the largest are all kept
}

TEST(ConformalScores, TooFewRowsAreRefusedWithHowManyAreNeeded) {
  const ConformalScores kept = ConformalScores::of(uniform_scores(8, 1, 9));
  EXPECT_NO_THROW(kept.quantile(0, 0.88));
  try {
    kept.quantile(0, 0.9);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("needs 9 calibration rows, and the model has 8"),
              std::string::npos)
        << error.what();
  }
  for (const double level : {0.0, 1.0, -0.5, 90.0, std::nan("")})
    EXPECT_THROW(kept.quantile(0, level), Error);
}

TEST(ConformalScores, WhatCannotComeFromRowsIsRefused) {
  const auto good = [] { return ConformalScores::of(uniform_scores(5, 1, 10)); };
  EXPECT_NO_THROW(good().check(1, 1));
  EXPECT_THROW(good().check(2, 1), Error);
  EXPECT_THROW(good().check(1, 0.01), Error);
  const auto refused = [&](auto spoil) {
    ConformalScores scores = good();
    spoil(scores);
    EXPECT_THROW(scores.check(1, 1), Error);
  };
  refused([](auto& s) { s.ranks[1] = s.ranks[0]; });
  refused([](auto& s) { s.ranks[0] = 0; });
  refused([](auto& s) { s.ranks.pop_back(); });
  refused([](auto& s) { s.ranks.clear(); });
  refused([](auto& s) { std::swap(s.scores(1, 0), s.scores(3, 0)); });
  refused([](auto& s) { s.scores(0, 0) = -1; });
  refused([](auto& s) { s.scores(4, 0) = std::nan(""); });
}

TEST(NormalQuantile, IsThatOfTables) {
  EXPECT_NEAR(normal_quantile(0.5), 0.6744897501960817, 1e-14);
  EXPECT_NEAR(normal_quantile(0.8), 1.2815515655446004, 1e-14);
  EXPECT_NEAR(normal_quantile(0.9), 1.6448536269514722, 1e-14);
  EXPECT_NEAR(normal_quantile(0.95), 1.959963984540054, 1e-14);
  EXPECT_NEAR(normal_quantile(1e-9), 1.2533141373155003e-9, 1e-18);
}

TEST(ClassSets, HoldTheClassPredictedAndThoseThatAreLikelyEnough) {
  Model model = oracle::fit_classes(oracle::ring_of_classes(60, 3), 3, {}).model;
  Matrix<double> scores(9, 1);  // 0.1, ..., 0.9
  for (Index i = 0; i < 9; ++i) scores(i, 0) = 0.1 * static_cast<double>(i + 1);
  model.conformal = ConformalScores::of(std::move(scores));
  Matrix<double> p(2, 3);
  std::ranges::copy(std::vector<double>{0.5, 0.35, 0.15, 0.34, 0.33, 0.33}, p.data());
  const std::vector<Index> best = {0, 0};
  const auto row = [](const Matrix<double>& m, Index i) {
    return std::vector<double>(m.row(i).begin(), m.row(i).end());
  };
  const Matrix<double> sets = class_sets(model, 0.7, p, best);  // 1 - p <= 0.7
  EXPECT_EQ(row(sets, 0), (std::vector<double>{1, 1, 0}));
  EXPECT_EQ(row(sets, 1), (std::vector<double>{1, 1, 1}));
  const Matrix<double> few = class_sets(model, 0.1, p, best);
  EXPECT_EQ(row(few, 1), (std::vector<double>{1, 0, 0}));
}

}  // namespace
}  // namespace kerf::detail
