// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/fit/calibrate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kerf/api/error.h"
#include "kerf/learn/score/evaluate.h"
#include "kerf/learn/solvers/solver.h"
#include "kerf/model/model_file.h"
#include "tests/oracle/fits.h"

namespace kerf::detail {
namespace {

using oracle::Data;

/// Noise whose size differs from row to row and is not Gaussian: no variance of a model knows it.
Data uneven_noise(Index rows, std::uint64_t seed) {
  Data data{oracle::three_inputs(rows, seed), Matrix<double>(rows, 2)};
  for (Index i = 0; i < rows; ++i)
    for (Index t = 0; t < 2; ++t) {
      const double u =
          rng::uniform(rng::Key{seed}.child("noise"), static_cast<std::uint64_t>(2 * i + t));
      data.y(i, t) = std::sin(data.x(i, 0)) - std::abs(data.x(i, 1)) * std::log(1 - u);
    }
  return data;
}

/// Four classes of a line; `spread`: of the noise that blurs them.
Data ring(Index rows, std::uint64_t seed, double spread = 1) {
  Data data{oracle::three_inputs(rows, seed), Matrix<double>(rows, 1)};
  for (Index i = 0; i < rows; ++i) {
    const double noise = rng::normal(rng::Key{seed}.child("noise"), static_cast<std::uint64_t>(i));
    data.y(i, 0) = std::abs(std::floor(data.x(i, 0) + spread * noise));
    data.y(i, 0) = std::min(data.y(i, 0), 3.0);
  }
  return data;
}

struct Asked {
  std::string map = "rff";
  Params map_options = {{"features", "32"}, {"bandwidth", "2"}};
  FitOptions options;
  bool classes = false;
};

FitResult fit_calibrated(const Data& data, Asked asked, std::vector<double> weights = {}) {
  MemorySource source(data.x.view(), data.y.view(), 100, WeightsView(weights));
  const DataSummary summary =
      asked.classes ? summarise(source, Task::classification, oracle::class_names(4), rng::Key{1})
                    : summarise(source, Task::regression, {}, rng::Key{1});
  asked.options.intervals = Intervals::conformal;
  const auto split = split_calibration(source, summary, asked.options, rng::Key{1}, {});
  FitResult result =
      fit(split->training, split->summary, asked.map, asked.map_options, asked.options);
  calibrate(*split, {}, result);
  EXPECT_EQ(result.model.conformal->rows() + split->summary.rows, data.x.rows());
  return result;
}

/// How far a coverage is from what it is promised to be.  Given the calibration rows the share of all
/// rows inside is Beta(k, n + 1 - k), k = ceil((n + 1) level): exactly, for continuous scores; the share
/// of m test rows has a binomial variance on top.
struct Deviation {
  double off, variance;
};
Deviation deviation(const Model& model, double level, double coverage, Index rows) {
  const auto n = static_cast<double>(model.conformal->rows());
  const double k = std::ceil((n + 1) * level - 1e-9), mean = k / (n + 1);
  const double beta = mean * (1 - mean) / (n + 2);
  return {coverage - mean, beta + (mean * (1 - mean) - beta) / static_cast<double>(rows)};
}

double coverage_of(const Score& score, double level, std::size_t target = 0) {
  for (const auto& one : score.sets)
    if (one.promised == level) return one.coverage;
  if (score.task == Task::regression)
    for (const auto& one : score.targets[target].intervals)
      if (one.kind == "conformal" && one.promised == level) return one.coverage;
  return NAN;
}

Score score_of(const Model& model, const Data& data) {
  MemorySource source(data.x.view(), data.y.view(), 100);
  return evaluate(model, source);
}

// Forty draws of training rows: the mean of what intervals cover and its spread are those of the Beta
// distribution.  Five standard errors of the mean: a false alarm once in two million; the sum of the
// squares has the variance of about 40 squared normals, of which it is allowed five roots as well.
TEST(Calibrate, CoverageIsBetaDistributed) {
  constexpr Index kDraws = 40, kTest = 1000;
  for (const bool variance : {false, true})
    for (const double level : {0.5, 0.9}) {
      double off = 0, sum = 0, squares = 0;
      for (Index draw = 0; draw < kDraws; ++draw) {
        Asked asked;
        asked.options.variance = variance;
        asked.options.lambda = 1e-3;
        const Model model =
            fit_calibrated(uneven_noise(300, static_cast<std::uint64_t>(1000 + draw)), asked).model;
        const Score score =
            score_of(model, uneven_noise(kTest, static_cast<std::uint64_t>(5000 + draw)));
        const Deviation one = deviation(model, level, coverage_of(score, level), kTest);
        off += one.off;
        sum += one.variance;
        squares += one.off * one.off / one.variance;
      }
      EXPECT_LT(std::abs(off), 5 * std::sqrt(sum)) << level;
      EXPECT_NEAR(squares, kDraws, 5 * std::sqrt(2.0 * kDraws)) << level;
    }
}

// Five standard errors in each of these: at most 30 chances of 6e-7.
TEST(Calibrate, HoldsForEverySolverAndForExactKernels) {
  std::vector<Asked> all;
  for (const char* solver : {"cholesky", "dual", "pcg", "sgd"}) {
    all.push_back({});
    all.back().options.solver = solver;
    if (solver == std::string_view("dual")) all.back().map_options["features"] = "700";
  }
  all.push_back({.map = "exact", .map_options = {{"kernel", "gaussian"}}, .options = {}});
  all.push_back({.map = "nystrom", .map_options = {{"features", "32"}}, .options = {}});
  const Data train = uneven_noise(600, 1), test = uneven_noise(4000, 2);
  for (const Asked& asked : all) {
    const Model model = fit_calibrated(train, asked).model;
    const Score score = score_of(model, test);
    for (const std::size_t target : {0, 1})
      for (const double level : {0.5, 0.8, 0.9, 0.95}) {
        const Deviation one = deviation(model, level, coverage_of(score, level, target), 4000);
        EXPECT_LT(std::abs(one.off), 5 * std::sqrt(one.variance))
            << asked.map << " " << asked.options.solver << " " << level;
      }
  }
}

// Scores of rows that are right are equal (0): the promise is kept from below, and where the level is
// beyond the accuracy exactly.
void expect_sets_hold(const Data& train, const Data& test, Loss loss) {
  Asked asked{.options = {}, .classes = true};
  asked.options.loss = loss;
  const Model model = fit_calibrated(train, asked).model;
  const Score score = score_of(model, test);
  ASSERT_EQ(score.sets.size(), 4U);
  for (const SetScore& one : score.sets) {
    const Deviation from = deviation(model, one.promised, one.coverage, test.x.rows());
    EXPECT_GT(from.off, -5 * std::sqrt(from.variance)) << one.promised;
    if (one.promised > score.accuracy + 0.05)
      EXPECT_LT(from.off, 5 * std::sqrt(from.variance)) << one.promised;
    EXPECT_GE(one.size, 1);
    EXPECT_GE(one.coverage, score.accuracy - 1e-12);
    if (one.promised < score.accuracy - 0.1)
      EXPECT_EQ(one.single, 1) << one.promised << " is far below the accuracy";
  }
}

TEST(Calibrate, SetsOfClassesHoldForEveryLoss) {
  for (const Loss loss : {Loss::squared, Loss::logistic, Loss::squared_hinge}) {
    expect_sets_hold(ring(800, 3), ring(4000, 4), loss);  // right in about half of the rows
    expect_sets_hold(ring(800, 3, 0.1), ring(4000, 4, 0.1), loss);  // in nearly all
  }
}

TEST(Calibrate, FilesKeepTheScores) {
  for (const bool classes : {false, true}) {
    const Model model = fit_calibrated(classes ? ring(200, 5) : uneven_noise(200, 5),
                                       {.options = {}, .classes = classes})
                            .model;
    const std::string bytes = model_to_bytes(model);
    const Model again = model_from_bytes(bytes, "in memory");
    ASSERT_TRUE(again.conformal.has_value());
    EXPECT_EQ(again.conformal->ranks, model.conformal->ranks);
    EXPECT_EQ(model_to_bytes(again), bytes);
    for (const double level : {0.5, 0.9})
      EXPECT_EQ(again.conformal->quantile(0, level), model.conformal->quantile(0, level));
  }
}

TEST(Calibrate, WeightsThatDifferAreRefused) {
  const Data data = uneven_noise(200, 6);
  std::vector<double> weights(200, 2.0);
  EXPECT_NO_THROW(fit_calibrated(data, {}, weights));
  weights[150] = 1;
  EXPECT_THROW(fit_calibrated(data, {}, weights), Error);
}

TEST(Calibrate, FewRowsWarnAndSayWhichLevelsCanBeHad) {
  const FitResult result = fit_calibrated(uneven_noise(40, 7), {});
  ASSERT_LT(result.model.conformal->rows(), 19);
  bool warned = false;
  for (const std::string& warning : result.report.warnings)
    warned = warned || warning.find("rows calibrate the intervals") != std::string::npos;
  EXPECT_TRUE(warned);
  const Score score = score_of(result.model, uneven_noise(50, 8));
  for (const auto& one : score.targets[0].intervals) EXPECT_LT(one.promised, 0.95);
}

}  // namespace
}  // namespace kerf::detail
