// Where the time of a fit goes, how long it is expected to take, and what it tells meanwhile.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "kerf/api/error.h"
#include "kerf/insight/plan/plan.h"
#include "kerf/learn/fit/trainer.h"
#include "kerf/learn/solvers/fit_memory.h"
#include "tests/oracle/fits.h"

namespace kerf::detail {
namespace {

using namespace oracle;

struct Told {
  std::string stage, unit;
  Index done, total;
  double left;
};

FitResult fit_of(const Data& data, const std::string& map, const Params& map_options,
                 const FitOptions& options, std::vector<Told>* told = nullptr) {
  MemorySource source(data.x.view(), data.y.view(), 100);
  const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
  const auto keep = [told](const ProgressEvent& event) {
    if (told != nullptr)
      told->push_back({std::string(event.stage), std::string(event.unit), event.done, event.total,
                       event.seconds_left});
  };
  return fit(source, summary, map, map_options, options, 0, keep);
}

double sum_of(const FitReport::Seconds& seconds) {
  double sum = 0;
  for (const auto& part : seconds.parts()) sum += part.seconds;
  return sum;
}

// The choice of the kernel was most of the time and in none of the parts; pcg's features were in two.
TEST(Accounting, EverySecondIsInOnePart) {
  const Data data = smooth_targets(600, 1);
  for (const char* solver : {"cholesky", "pcg", "sgd"}) {
    FitOptions options;
    options.solver = solver;
    const auto seconds = fit_of(data, "rff", {{"features", "64"}}, options).report.seconds;
    EXPECT_NEAR(sum_of(seconds), seconds.total, 1e-9 + 1e-6 * seconds.total) << solver;
    EXPECT_GT(seconds.total, 0);
  }
  const auto chosen = fit_of(data, "auto", {}, {}).report.seconds;
  EXPECT_NEAR(sum_of(chosen), chosen.total, 1e-9 + 1e-6 * chosen.total);
  EXPECT_GT(chosen.choose, 0.2 * chosen.total);
}

TEST(Accounting, LambdasAndCandidatesAreCountedUpwards) {
  const Data data = smooth_targets(600, 1);
  std::vector<Told> told;
  FitOptions options;
  options.solver = "cholesky";
  fit_of(data, "rff", {{"features", "64"}}, options, &told);
  fit_of(data, "auto", {{"features", "64"}}, {}, &told);
  Index lambdas = -1, candidates = 0;
  std::string before;
  for (const Told& event : told) {
    if (event.stage == "choosing lambda") {
      EXPECT_EQ(event.unit, "lambdas");
      if (before == event.stage) EXPECT_GE(event.done, lambdas);
      lambdas = event.done;
    }
    candidates += event.unit == "candidates" ? 1 : 0;
    EXPECT_TRUE(event.total == 0 || event.done <= event.total) << event.stage;
    before = event.stage;
  }
  EXPECT_GT(lambdas, 0);
  EXPECT_GT(candidates, 5);
  // From the first pass on it is known what is left of the whole fit.
  const auto features =
      std::ranges::find_if(told, [](const Told& event) { return event.stage == "features"; });
  ASSERT_NE(features, told.end());
  EXPECT_GE(features->left, 0);
}

TEST(Accounting, PlanExpectsWhatTheFitExpects) {
  DataSummary summary;
  summary.rows = 100000;
  summary.cols = 10;
  summary.targets = 1;
  const FeatureMapEntry& rff = find_feature_map("rff");
  const Params params = rff.complete({{"features", "1024"}, {"bandwidth", "1"}});
  Speeds speeds = assumed_speeds();
  speeds.feature_row = 1e-5;
  speeds.read_row = 1e-6;
  for (const std::optional<double> lambda : {std::optional<double>(), std::optional(1e-4)}) {
    FitOptions options;
    options.lambda = lambda;
    const Problem problem = problem_of(summary, rff, params, options, Index{1} << 33);
    const auto expected = choose_solver(problem).entry->seconds(problem, speeds);
    EXPECT_DOUBLE_EQ(fit_cost(summary, rff, params, options, speeds, Index{1} << 33).seconds,
                     expected.total());
    EXPECT_GE(expected.pass, 1.1);  // features and reading
    EXPECT_GT(expected.rest, 0);
  }
}

TEST(Accounting, SpeedsAreMeasuredOnceAndPlausible) {
  const Speeds& speeds = measured_speeds();
  EXPECT_EQ(&speeds, &measured_speeds());
  for (const double speed : {speeds.sums, speeds.sums_double, speeds.factor, speeds.thin}) {
    EXPECT_GT(speed, 1e6);
    EXPECT_LT(speed, 1e15);
  }
}

// lambda_per_target cannot be refined; the warning was to raise a lambda that nobody had given.
TEST(Accounting, TakesDoubleWhereItsOwnLambdaAsksForIt) {
  Data data{Matrix<float>(1500, 2), Matrix<double>(1500, 2)};
  for (Index i = 0; i < data.x.rows(); ++i) {
    for (Index j = 0; j < 2; ++j)
      data.x(i, j) = static_cast<float>(
          2 * rng::uniform(rng::Key{3}, static_cast<std::uint64_t>(2 * i + j)) - 1);
    data.y(i, 0) = std::sin(2 * data.x(i, 0)) + std::pow(data.x(i, 1), 2);
    data.y(i, 1) = data.x(i, 0) * data.x(i, 1);
  }
  FitOptions options;
  options.solver = "cholesky";
  options.lambda_per_target = true;
  const auto has = [](const std::vector<std::string>& lines, const char* words) {
    return std::ranges::any_of(
        lines, [&](const std::string& line) { return line.find(words) != std::string::npos; });
  };
  const Params params{{"features", "256"}, {"bandwidth", "1.75"}};
  const FitReport report = fit_of(data, "rff", params, options).report;
  EXPECT_TRUE(has(report.notes, "fitted again with precision = double"));
  EXPECT_FALSE(has(report.warnings, "precision"));
  EXPECT_FALSE(has(report.warnings, "raise lambda"));
  // A lambda that was given is the user's to raise.
  options.lambda_per_target = false;
  options.lambda = 1e-7;
  EXPECT_FALSE(has(fit_of(data, "rff", params, options).report.notes, "fitted again"));
}

TEST(Accounting, AResumedFitSaysSo) {
  const auto folder = std::filesystem::temp_directory_path() / "kerf-accounting-test";
  std::filesystem::remove_all(folder);
  const Data data = smooth_targets(600, 1);
  for (const char* solver : {"cholesky", "pcg"}) {
    FitOptions options;
    options.solver = solver;
    options.checkpoint = (folder / solver).string();
    const auto resumed = [&] {
      const auto notes = fit_of(data, "rff", {{"features", "64"}}, options).report.notes;
      return std::ranges::any_of(notes, [](const std::string& note) {
        return note.find("went on from checkpoint") != std::string::npos;
      });
    };
    EXPECT_FALSE(resumed()) << solver;
    EXPECT_TRUE(resumed()) << solver;
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace kerf::detail
