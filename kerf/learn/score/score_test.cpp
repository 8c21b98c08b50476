// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kerf/learn/score/class_scores.h"
#include "kerf/learn/score/rank_scores.h"
#include "kerf/learn/score/target_scores.h"

namespace kerf::detail {
namespace {

using ::testing::DoubleEq;

/// Every pair of a row of each class, weighted.
double auc_by_pairs(const std::vector<RankedRow>& rows) {
  double won = 0, all = 0;
  for (const RankedRow& a : rows)
    for (const RankedRow& b : rows) {
      if (!a.positive || b.positive) continue;
      all += a.weight * b.weight;
      won += a.weight * b.weight * (a.score > b.score ? 1 : a.score == b.score ? 0.5 : 0);
    }
  return won / all;
}

std::vector<RankedRow> ranked(Index rows, bool weighted) {
  std::vector<RankedRow> out;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(rows); ++i) {
    const bool positive = rng::uniform(rng::Key{1}, i) < 0.3;
    const double score =
        std::round(3 * (rng::normal(rng::Key{2}, i) + (positive ? 1 : 0)));  // ties
    out.push_back({score, weighted ? rng::uniform(rng::Key{3}, i) : 1, positive});
  }
  return out;
}

TEST(RankScore, AucIsTheChanceOfPairs) {
  for (const bool weighted : {false, true}) {
    const auto rows = ranked(300, weighted);
    EXPECT_NEAR(rank_score(rows).auc, auc_by_pairs(rows), 1e-12);
  }
}

TEST(RankScore, AveragePrecisionByHand) {
  // From the top: hit, miss, hit and miss tied, hit.  P R: 1 1/3; 2/4 at 2/3; 3/5 at 1.
  const RankScore found =
      rank_score({{5, 1, true}, {4, 1, false}, {3, 1, true}, {3, 1, false}, {1, 1, true}});
  EXPECT_NEAR(found.average_precision, (1 + 0.5 + 0.6) / 3, 1e-12);
  EXPECT_DOUBLE_EQ(found.share, 0.6);
}

TEST(RankScore, OneClassAloneHasNoRanks) {
  const RankScore found = rank_score({{5, 1, true}, {4, 1, true}});
  EXPECT_EQ(found.auc, 0.5);
  EXPECT_EQ(found.average_precision, 1);
}

TEST(ClassScores, FromAConfusionMatrix) {
  Score score;
  score.task = Task::classification;
  score.weight = 10;
  score.confusion.resize(3, 3);
  score.confusion.fill(0);
  score.confusion(0, 0) = 5, score.confusion(0, 1) = 1;
  score.confusion(1, 1) = 2, score.confusion(1, 0) = 2;  // the third class has no rows
  finish_classes(score);
  EXPECT_DOUBLE_EQ(score.accuracy, 0.7);
  EXPECT_DOUBLE_EQ(score.balanced_accuracy, (5.0 / 6 + 0.5) / 2);
  EXPECT_DOUBLE_EQ(score.classes[0].precision, 5.0 / 7);
  EXPECT_DOUBLE_EQ(score.classes[1].f1, 2 * (2.0 / 3) * 0.5 / (2.0 / 3 + 0.5));
  EXPECT_EQ(score.classes[2].recall, 0);
  EXPECT_DOUBLE_EQ(score.constant_accuracy, 0.6);
  EXPECT_DOUBLE_EQ(score.constant_balanced_accuracy, 0.5);
  EXPECT_DOUBLE_EQ(score.constant_log_loss, -0.6 * std::log(0.6) - 0.4 * std::log(0.4));
}

TEST(Calibration, IsTheDistanceOfProbabilityAndAccuracy) {
  CalibrationBins bins;
  for (int i = 0; i < 10; ++i) bins.add(0.95, i < 8, 1);  // says 95 %, has 80 %
  for (int i = 0; i < 10; ++i) bins.add(0.55, i < 6, 1);  // says 55 %, has 60 %
  bins.add(1, true, 0);                                   // no bin of its own
  const Calibration found = bins.finish();
  EXPECT_NEAR(found.error, (0.15 + 0.05) / 2, 1e-12);
  EXPECT_EQ(found.bins.size(), 10U);
  EXPECT_NEAR(found.bins[9].accuracy, 0.8, 1e-12);
}

TEST(TargetScore, MediansAndConstants) {
  TargetTotals totals;
  const double targets[] = {1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 10}, off[] = {0, 1, -2, 4};
  for (Index i = 0; i < 4; ++i) totals.add(i, targets[i], targets[i] + off[i], 1);
  const TargetScore found = totals.finish(4);
  EXPECT_DOUBLE_EQ(found.mae, 7.0 / 4);
  EXPECT_DOUBLE_EQ(found.median_error, 1.5);
  EXPECT_DOUBLE_EQ(found.rmse, std::sqrt(21.0 / 4));
  EXPECT_NEAR(found.constant_rmse, std::sqrt(12.5), 1e-12);  // of 1, 2, 3, 10 around 4
  EXPECT_NEAR(found.constant_mae, (1.5 + 0.5 + 0.5 + 7.5) / 4, 1e-12);
  EXPECT_DOUBLE_EQ(found.constant_median_error, 1);
  EXPECT_NEAR(found.r2, 1 - 21.0 / 50, 1e-12);
}

TEST(TargetScore, RowsThatDoNotCountSpoilNoDigits) {
  TargetTotals totals;
  totals.add(0, 1e12, 0, 0);
  for (Index i = 1; i < 5; ++i) totals.add(i, static_cast<double>(i), 0, 1);
  EXPECT_NEAR(totals.finish(4).constant_rmse, std::sqrt(1.25), 1e-12);
}

TEST(TargetScore, WeightsAreRepetitions) {
  EXPECT_THAT(weighted_median({{1, 3}, {5, 1}}), DoubleEq(1));
  EXPECT_THAT(weighted_median({{1, 2}, {5, 2}}), DoubleEq(3));
  EXPECT_THAT(weighted_median({{1, 2}, {3, 0}, {5, 2}}), DoubleEq(3));
  EXPECT_THAT(weighted_median({{5, 1}, {1, 0}}), DoubleEq(5));
  EXPECT_THAT(weighted_median({}), DoubleEq(0));
}

TEST(KeptRows, AreAllOrAUniformSample) {
  KeptRows<Index> few(100), many(100);
  for (Index i = 0; i < 100; ++i) few.add(i, i);
  EXPECT_EQ(few.values().size(), 100U);
  double sum = 0;
  for (Index i = 0; i < 100000; ++i) many.add(i, i);
  const auto kept = many.values();
  EXPECT_GE(kept.size(), 30U);
  EXPECT_LE(kept.size(), 100U);
  for (const Index row : kept) sum += static_cast<double>(row);
  // Mean of a uniform sample: sd 1e5 / sqrt(12 k); five of them, one false alarm in a million.
  const auto k = static_cast<double>(kept.size());
  EXPECT_NEAR(sum / k, 5e4, 5 * 1e5 / std::sqrt(12 * k));
}

}  // namespace
}  // namespace kerf::detail
