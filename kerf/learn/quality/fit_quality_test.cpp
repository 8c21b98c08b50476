// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/quality/fit_quality.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kerf/core/random/random.h"
#include "kerf/learn/fit/incremental.h"
#include "kerf/learn/rows/fold_buffers.h"

namespace kerf::detail {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Index kRows = 300;

struct Data {
  Matrix<float> x{kRows, 2};
  Matrix<double> y{kRows, 1};
};

/// A target that the columns tell (`signal` 1) or not (0), with noise.
Data make_data(double signal, Task task = Task::regression) {
  Data data;
  rng::fill_normal(rng::Key{5}, 0, std::span(data.x.data(), 2 * kRows));
  for (Index i = 0; i < kRows; ++i)
    data.y(i, 0) = signal * (data.x(i, 0) + std::sin(data.x(i, 1))) +
                   0.3 * rng::normal(rng::Key{6}, static_cast<std::uint64_t>(i));
  for (Index i = 0; task == Task::classification && i < kRows; ++i)
    data.y(i, 0) = data.y(i, 0) > 0.2 ? 1 : 0;
  return data;
}

FitResult fit_on(const Data& data, Task task, FitOptions options, const char* map = "rff",
                 const char* features = "64") {
  MemorySource source(data.x.view(), data.y.view());
  const bool classes = task == Task::classification;
  const auto summary = summarise(
      source, task, classes ? std::vector<std::string>{"a", "b"} : std::vector<std::string>{},
      rng::Key{1});
  Params params;
  if (std::string(map) == "rff") params["features"] = features;
  if (std::string(map) == "exact") params["kernel"] = "gaussian";
  return fit(source, summary, map, params, options);
}

TEST(FitQuality, EverySolverSaysHowGoodItIsBesideAConstant) {
  for (const Task task : {Task::regression, Task::classification})
    for (const std::string solver : {"cholesky", "pcg", "sgd"}) {
      FitOptions options;
      options.solver = solver;
      const auto [model, report] = fit_on(make_data(1, task), task, options);
      ASSERT_TRUE(report.quality.has_value()) << solver;
      const FitQuality& quality = *report.quality;
      EXPECT_EQ(quality.metric, task == Task::regression ? "r2" : "accuracy");
      EXPECT_TRUE(quality.left_out());
      // The signal explains 1.4 / 1.5 of the variance; sgd and 60 rows held out come near.
      EXPECT_GT(quality.value, task == Task::regression ? 0.8 : 0.78);
      EXPECT_LE(quality.value, 1);
      EXPECT_EQ(quality.constant > 0.4, task == Task::classification);
      EXPECT_THAT(report.warnings, Not(Contains(HasSubstr("no better"))));
      ASSERT_TRUE(model.training.quality.has_value());
      EXPECT_EQ(model.training.quality->value, quality.value);
    }
}

TEST(FitQuality, EverySolverNamesTheRowsThatJudge) {
  for (const Task task : {Task::regression, Task::classification})
    for (const std::string solver : {"cholesky", "dual", "pcg", "sgd"})
      for (const bool given : {false, true}) {
        FitOptions options;
        options.solver = solver;
        if (given) options.lambda = 1e-3;
        const auto report =
            fit_on(make_data(1, task), task, options, "rff", solver == "dual" ? "512" : "64")
                .report;
        ASSERT_TRUE(report.quality.has_value()) << solver;
        EXPECT_NE(report.quality->how, "") << solver << " " << given;
        EXPECT_TRUE(report.quality->left_out()) << solver << " " << given;
      }
}

// A target that is told, noise in units a thousand times as large, and one that does not vary.
TEST(FitQuality, R2OfSeveralTargetsIsTheMeanOfTheirs) {
  const Data told = make_data(1), noise = make_data(0);
  Matrix<double> y(kRows, 3);
  for (Index i = 0; i < kRows; ++i)
    y(i, 0) = told.y(i, 0), y(i, 1) = 1000 * noise.y(i, 0), y(i, 2) = 0.1;
  for (const std::string solver : {"cholesky", "dual", "pcg", "sgd"})
    for (const bool given : {false, true}) {
      FitOptions options;
      options.solver = solver;
      if (given) options.lambda = 1e-2;
      MemorySource source(told.x.view(), y.view());
      const auto summary = summarise(source, Task::regression, {}, rng::Key{1});
      const auto report =
          fit(source, summary, "rff", {{"features", solver == "dual" ? "512" : "64"}}, options)
              .report;
      ASSERT_TRUE(report.quality.has_value()) << solver;
      double mean = 0;
      for (const Data* one : {&told, &noise}) {
        FitOptions alone = options;
        alone.lambda = report.lambda;
        const double r2 =
            fit_on(*one, Task::regression, alone, "rff", solver == "dual" ? "512" : "64")
                .report.quality->value;
        mean += r2 / 2;
      }
      // The same lambda, but other rows judge where it was chosen.
      EXPECT_NEAR(report.quality->value, mean, given && solver != "sgd" ? 1e-4 : 0.1)
          << solver << " " << given;
    }
}

TEST(FitQuality, AFitThatLearnsNothingSaysSo) {
  for (const char* map : {"rff", "exact", "auto"})
    for (const Task task : {Task::regression, Task::classification}) {
      const auto result = fit_on(make_data(0, task), task, {}, map);
      EXPECT_THAT(result.report.warnings, Contains(HasSubstr("better than a constant"))) << map;
    }
}

TEST(FitQuality, OfBalancedClassesAConstantHasOneOverTheirNumber) {
  Data data = make_data(1, Task::classification);
  for (Index i = 0; i < kRows; i += 2) data.y(i, 0) = 0;  // uneven
  FitOptions options;
  options.class_weight = ClassWeight::balanced;
  const auto report = fit_on(data, Task::classification, options).report;
  EXPECT_EQ(report.quality->constant, 0.5);
  EXPECT_THAT(describe(*report.quality), HasSubstr("a single class has 50 %"));
}

TEST(FitQuality, RoundingIsNoGain) {
  FitResult result;
  result.model.task = Task::regression;
  result.report.quality = FitQuality{"r2", 7.772e-16, 0, 0.01, "leave-one-out"};
  judge_fit(result, ClassWeight::none);
  EXPECT_THAT(result.report.warnings, Contains(HasSubstr("no better than a constant")));
}

TEST(FitQuality, R2OfFoldsIsThatOfTheMeanSquaredErrorOverTheirConstant) {
  const Data data = make_data(1);
  FitOptions options;
  options.solver = "cholesky";
  const auto report = fit_on(data, Task::regression, options).report;
  // With five folds of random rows the constant's error is the variance, but for O(1/rows).
  double mean = 0, variance = 0;
  for (Index i = 0; i < kRows; ++i) mean += data.y(i, 0) / kRows;
  for (Index i = 0; i < kRows; ++i) variance += std::pow(data.y(i, 0) - mean, 2) / kRows;
  EXPECT_NEAR(report.quality->value, 1 - *report.cv_error / variance, 0.01);
}

/// The features and the scale do not depend on the rows, so that a weight of 0 leaves a row out.
FitResult fit_weighted(const Data& data, const std::vector<double>& weights,
                       const FitOptions& options, Index copies = 1, const char* features = "16") {
  MemorySource source(data.x.view(), data.y.view(), 100, weights);
  auto summary = summarise(source, Task::regression, {}, rng::Key{1});
  summary.copies = copies;
  return fit(source, summary, "rff", {{"features", features}, {"bandwidth", "2"}}, options);
}

Matrix<double> predictions(const Model& model, const Data& data) {
  RowBlock block;
  MemorySource(data.x.view(), data.y.view()).next(block);
  Matrix<double> scores;
  Predictor(model).scores(block, scores);
  return scores;
}

FitOptions given_lambda(double lambda, const std::string& solver) {
  FitOptions options;
  options.lambda = lambda;
  options.solver = solver;
  options.scale = ScaleKind::none;
  return options;
}

/// 1 - squared error over that of the mean of the rows that are trained on, of groups of `together`
/// rows, each left out of a fit of all others, in the plainest way.
double r2_of_groups_left_out(const Data& data, std::vector<double> weights, FitOptions options,
                             Index together, const char* features = "16") {
  double n = 0;
  for (const double w : weights) n += w;
  const double shift = n * *options.lambda;
  double error = 0, constant = 0;
  for (Index first = 0; first < kRows; first += together) {
    std::vector<double> others = weights;
    double rest = n, sum = 0;
    for (Index i = first; i < first + together; ++i) rest -= weights[i], others[i] = 0;
    for (Index i = 0; i < kRows; ++i) sum += others[i] * data.y(i, 0);
    options.lambda = shift / rest;
    const Matrix<double> scores =
        predictions(fit_weighted(data, others, options, 1, features).model, data);
    for (Index i = first; i < first + together; ++i) {
      error += weights[i] * std::pow(data.y(i, 0) - scores(i, 0), 2);
      constant += weights[i] * std::pow(data.y(i, 0) - sum / rest, 2);
    }
  }
  return 1 - error / constant;
}

std::vector<double> some_weights() {
  std::vector<double> weights;
  for (Index i = 0; i < kRows; ++i) weights.push_back(0.5 + static_cast<double>(i % 3));
  return weights;
}

// Sums of single precision are off by about 1e-6, and these systems have a condition of some thousands.
TEST(FitQuality, GivenLambdaIsJudgedByRowsLeftOut) {
  const Data data = make_data(1);
  const auto weights = some_weights();
  for (const double lambda : {1e-3, 1e-1}) {
    const FitOptions options = given_lambda(lambda, "cholesky");
    const auto report = fit_weighted(data, weights, options).report;
    ASSERT_TRUE(report.quality.has_value());
    EXPECT_TRUE(report.quality->left_out());
    EXPECT_EQ(report.quality->how, "leave-one-out");
    EXPECT_NEAR(report.quality->value, r2_of_groups_left_out(data, weights, options, 1), 1e-4);
  }
}

TEST(FitQuality, CopiesOfAnExampleAreLeftOutTogether) {
  const Data data = make_data(1);
  const auto weights = some_weights();
  const FitOptions options = given_lambda(1e-2, "cholesky");
  const auto report = fit_weighted(data, weights, options, 3).report;
  EXPECT_NEAR(report.quality->value, r2_of_groups_left_out(data, weights, options, 3), 1e-4);
}

// The Gram matrix is in double, of features in single precision.
TEST(FitQuality, CopiesAreLeftOutTogetherAmongTheRowsToo) {
  const Data data = make_data(1);
  const auto weights = some_weights();
  for (const double lambda : {1e-4, 1e-2}) {
    FitOptions options = given_lambda(lambda, "dual");
    const auto report = fit_weighted(data, weights, options, 3, "512").report;
    ASSERT_TRUE(report.quality.has_value());
    EXPECT_EQ(report.quality->how, "leave-one-out");
    EXPECT_NEAR(report.quality->value, r2_of_groups_left_out(data, weights, options, 3, "512"),
                1e-4);
  }
}

// Mirror images of noise tell of each other, and of nothing else.
TEST(FitQuality, CopiesOfNoiseAreNoBetterThanAConstant) {
  for (const Task task : {Task::regression, Task::classification})
    for (const char* map : {"exact", "rff", "auto"}) {
      Data data = make_data(0, task);
      for (Index i = 0; i < kRows; i += 2) {
        data.y(i + 1, 0) = data.y(i, 0);
        for (Index j = 0; j < 2; ++j) data.x(i + 1, j) = data.x(i, j) + 1e-3f;
      }
      MemorySource source(data.x.view(), data.y.view());
      const bool classes = task == Task::classification;
      auto summary = summarise(
          source, task, classes ? std::vector<std::string>{"a", "b"} : std::vector<std::string>{},
          rng::Key{1});
      summary.copies = 2;
      FitOptions options;
      options.lambda = 1e-6;
      Params params;
      if (std::string(map) == "rff") params = {{"features", "512"}};
      if (std::string(map) == "exact") params = {{"kernel", "gaussian"}};
      const auto report = fit(source, summary, map, params, options).report;
      EXPECT_THAT(report.warnings, Contains(HasSubstr("better than a constant"))) << map;
    }
}

// One fold's rows judge, by iterations that stop at 1e-3 of the right-hand side.
TEST(FitQuality, GivenLambdaOfIterationsIsJudgedByAFold) {
  const Data data = make_data(1);
  const auto weights = some_weights();
  const FitOptions options = given_lambda(1e-2, "pcg");
  const auto [model, report] = fit_weighted(data, weights, options);
  ASSERT_TRUE(report.quality.has_value());
  EXPECT_EQ(report.quality->how, "one fold of 5 held out");
  const rng::Key key = FoldBuffers::key_of(options.seed);
  std::vector<double> others = weights;
  double sum = 0, rest = 0;
  for (Index i = 0; i < kRows; ++i) {
    if (FoldBuffers::fold_of(key, i, 1, 5) == 0) others[i] = 0;
    sum += others[i] * data.y(i, 0), rest += others[i];
  }
  const Matrix<double> scores =
      predictions(fit_weighted(data, others, given_lambda(1e-2, "cholesky")).model, data);
  double error = 0, constant = 0;
  for (Index i = 0; i < kRows; ++i) {
    if (others[i] > 0) continue;
    error += weights[i] * std::pow(data.y(i, 0) - scores(i, 0), 2);
    constant += weights[i] * std::pow(data.y(i, 0) - sum / rest, 2);
  }
  EXPECT_NEAR(report.quality->value, 1 - error / constant, 5e-3);
}

TEST(FitQuality, NoiseWithAGivenLambdaIsNoBetterThanAConstant) {
  for (const std::string solver : {"cholesky", "pcg", "sgd"}) {
    FitOptions options = given_lambda(1e-3, solver);
    const auto report = fit_on(make_data(0), Task::regression, options).report;
    ASSERT_TRUE(report.quality.has_value()) << solver;
    EXPECT_TRUE(report.quality->left_out()) << solver;
    EXPECT_THAT(report.warnings, Contains(HasSubstr("better than a constant"))) << solver;
  }
}

// What a model that follows every row leaves of it is rounding: no figure is better than a wrong one.
TEST(FitQuality, RowsThatSumsCannotLeaveOutAreNotJudged) {
  const Data data = make_data(1);
  MemorySource source(data.x.view(), data.y.view());
  const auto summary = summarise(source, Task::regression, {}, rng::Key{1});
  const auto report = fit(source, summary, "rff", {{"features", "1024"}, {"bandwidth", "0.1"}},
                          given_lambda(1e-6, "cholesky"))
                          .report;
  EXPECT_THAT(report.warnings, Contains(HasSubstr("rows left out cannot be judged")));
  EXPECT_FALSE(report.quality->left_out());
}

TEST(FitQuality, BlockByBlockToo) {
  const Data data = make_data(1, Task::classification);
  for (const char* features : {"32", "512"}) {  // sums, and rows kept
    MemorySource source(data.x.view(), data.y.view());
    const auto summary = summarise(source, Task::classification, {"a", "b"}, rng::Key{1});
    IncrementalFit fit(summary, "rff", {{"features", features}}, {});
    RowBlock block;
    while (source.next(block)) fit.add(block);
    const auto report = fit.solve().report;
    ASSERT_TRUE(report.quality.has_value());
    EXPECT_EQ(report.quality->metric, "accuracy");
    EXPECT_GT(report.quality->value, report.quality->constant + 0.1);
  }
}

TEST(DataWarnings, NameTheColumnTheValueAndTheRowOfAnOutlier) {
  Data data = make_data(1);
  EXPECT_THAT(fit_on(data, Task::regression, {}).report.warnings,
              Not(Contains(HasSubstr("standard deviation"))));
  data.x(17, 1) = 1e12f;
  const auto report = fit_on(data, Task::regression, {}).report;
  EXPECT_THAT(report.warnings,
              Contains(HasSubstr("column 1: a few values such as 1e+12 in row 17")));
}

TEST(DataWarnings, NameTheValueAndTheRowOfAnOutlierInTheTarget) {
  Data data = make_data(1);
  EXPECT_THAT(fit_on(data, Task::regression, {}).report.warnings,
              Not(Contains(HasSubstr("the target"))));
  data.y(23, 0) = -1e9;
  EXPECT_THAT(fit_on(data, Task::regression, {}).report.warnings,
              Contains(HasSubstr("the target: a few values such as -1e+09 in row 23")));
}

TEST(DataWarnings, WhatDoesNotVaryIsTold) {
  Data data = make_data(1);
  for (Index i = 0; i < kRows; ++i) data.x(i, 1) = 7;
  EXPECT_THAT(fit_on(data, Task::regression, {}).report.notes,
              Contains(HasSubstr("1 of 2 columns never vary in double precision: column 1")));
  for (Index i = 0; i < kRows; ++i) data.x(i, 0) = -2;
  EXPECT_THAT(fit_on(data, Task::regression, {}).report.warnings,
              Contains(HasSubstr("no input column varies")));
  data = make_data(1);
  data.y.fill(2.5);
  EXPECT_THAT(fit_on(data, Task::regression, {}).report.warnings,
              Contains(HasSubstr("the target is the same in every row")));
}

}  // namespace
}  // namespace kerf::detail
