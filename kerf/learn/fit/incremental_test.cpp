// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/fit/incremental.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "kerf/api/error.h"
#include "kerf/model/model_file.h"

namespace kerf::detail {
namespace {

constexpr Index kRows = 300, kColumns = 3;

struct Data {
  Matrix<float> x{kRows, kColumns};
  Matrix<double> y{kRows, 1};
  std::vector<double> weights;

  Data() {
    for (Index i = 0; i < kRows; ++i) {
      for (Index j = 0; j < kColumns; ++j)
        x(i, j) = static_cast<float>(
            rng::normal(rng::Key{5}, static_cast<std::uint64_t>(i * kColumns + j)));
      y(i, 0) = std::sin(2.0 * x(i, 0)) + x(i, 1);
      weights.push_back(0.5 + static_cast<double>(i % 3));
    }
  }
  MemorySource source(Index block) const { return {x.view(), y.view(), block, weights}; }
};

FitOptions options_with(std::optional<double> lambda, std::string solver = kAutoSolver) {
  FitOptions options;
  options.lambda = lambda;
  options.solver = solver;
  options.scale = ScaleKind::none;
  options.precision = Precision::double_;
  return options;
}

const Params kBandwidth = {{"bandwidth", "1.5"}};

Params with_features(Index features) {
  Params params = kBandwidth;
  params["features"] = std::to_string(features);
  return params;
}

FitResult in_blocks(const Data& data, Index features, const FitOptions& options, Index block_rows) {
  MemorySource source = data.source(block_rows);
  const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
  IncrementalFit incremental(summary, "rff", with_features(features), options);
  RowBlock block;
  while (source.next(block)) {
    incremental.add(block);
    if (incremental.rows() >= 200) incremental.solve();  // a look on the way changes nothing
  }
  EXPECT_EQ(incremental.rows(), kRows);
  return incremental.solve();
}

/// Largest difference of the predictions of two models.
double distance(const Model& a, const Model& b, const Data& data) {
  Matrix<double> scores[2];
  for (int k = 0; k < 2; ++k) {
    const Model& model = k == 0 ? a : b;
    MemorySource source = data.source(kRows);
    RowBlock block;
    source.next(block);
    Predictor(model).scores(block, scores[k]);
  }
  double largest = 0;
  for (Index i = 0; i < kRows; ++i)
    largest = std::max(largest, std::abs(scores[0](i, 0) - scores[1](i, 0)));
  return largest;
}

/// The whole report and model of blocks against those of fit().
void expect_same(const FitResult& parts, const FitResult& whole) {
  const auto& [a, said] = parts;
  const auto& [b, expected] = whole;
  EXPECT_EQ(said.solver, expected.solver);
  EXPECT_EQ(said.lambda, expected.lambda);
  EXPECT_EQ(said.cv_error, expected.cv_error);
  EXPECT_EQ(said.validation, expected.validation);
  EXPECT_EQ(said.temperature, expected.temperature);
  EXPECT_EQ(said.scale, expected.scale);
  EXPECT_EQ(said.warnings, expected.warnings);
  EXPECT_EQ(said.notes, expected.notes);
  ASSERT_EQ(said.quality.has_value(), expected.quality.has_value());
  if (said.quality) {
    EXPECT_EQ(describe(*said.quality), describe(*expected.quality));
    EXPECT_EQ(said.quality->value, expected.quality->value);
    EXPECT_EQ(said.quality->chance, expected.quality->chance);
  }
  EXPECT_EQ(a.temperature, b.temperature);
  EXPECT_EQ(a.linear.intercept, b.linear.intercept);
  ASSERT_EQ(a.linear.weights.rows(), b.linear.weights.rows());
  for (Index j = 0; j < a.linear.weights.rows(); ++j)
    ASSERT_TRUE(std::ranges::equal(a.linear.weights.row(j), b.linear.weights.row(j))) << j;
  EXPECT_EQ(a.training.rows, b.training.rows);
  EXPECT_EQ(a.training.lambda, b.training.lambda);
  EXPECT_EQ(a.training.quality.has_value(), b.training.quality.has_value());
}

/// All rows at once, and in blocks that end anywhere: nobody looks on the way.
void compare(const Data& data, Task task, Index features, const FitOptions& options) {
  const std::vector<std::string> classes = task == Task::classification
                                               ? std::vector<std::string>{"no", "yes"}
                                               : std::vector<std::string>();
  MemorySource source = data.source(kRows);
  const DataSummary summary = summarise(source, task, classes, rng::Key{1});
  const FitResult whole = fit(source, summary, "rff", with_features(features), options);
  for (const Index block_rows : {7, 150}) {
    IncrementalFit incremental(summary, "rff", with_features(features), options);
    MemorySource blocks = data.source(block_rows);
    for (RowBlock block; blocks.next(block);) incremental.add(block);
    expect_same(incremental.solve(), whole);
  }
}

// The same rows in the same folds and blocks, by the same solvers: the same bits.
TEST(IncrementalFit, IsTheFitOfAllRows) {
  const Data numbers;
  Data classes;
  for (double& y : std::span(classes.y.data(), kRows)) y = y > 0 ? 1 : 0;
  for (const Task task : {Task::regression, Task::classification})
    for (const Index features : {40, 1000})
      for (const std::optional<double> lambda : {std::optional<double>(), std::optional(1e-3)})
        for (const Precision precision : {Precision::single_, Precision::double_}) {
          SCOPED_TRACE(fmt::format("{} features, lambda {}", features, lambda.value_or(0)));
          FitOptions options = options_with(lambda, features == 40 ? "cholesky" : kAutoSolver);
          options.precision = precision;
          compare(task == Task::regression ? numbers : classes, task, features, options);
        }
}

TEST(IncrementalFit, WarnsAsTheFitOfAllRows) {
  FitOptions options = options_with(1e-2, "cholesky");
  options.scale = ScaleKind::standard;
  Data outlier, constant, noise, alike, in_target;
  outlier.x(217, 1) = 1e12f;
  in_target.y(99, 0) = 1e9;
  outlier.x(5, 2) = -1e12f;
  for (Index i = 0; i < kRows; ++i) {
    constant.x(i, 1) = 7;
    noise.y(i, 0) = rng::normal(rng::Key{9}, static_cast<std::uint64_t>(i));
    alike.y(i, 0) = 3;
  }
  for (const Data* data : {&outlier, &constant, &alike, &in_target})
    compare(*data, Task::regression, 40, options);
  options.lambda.reset();
  compare(noise, Task::regression, 40, options);
  MemorySource source = outlier.source(kRows);
  const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
  const auto warnings = fit(source, summary, "rff", with_features(40), options).report.warnings;
  EXPECT_EQ(
      std::ranges::count_if(warnings, [](const auto& w) { return w.find("in row 217") != w.npos; }),
      1);
}

TEST(IncrementalFit, ScalesTargetsAsTheFitOfAllRows) {
  Data data;
  for (double& y : std::span(data.y.data(), kRows)) y *= 0x1p90;
  for (const Index features : {40, 1000})
    compare(data, Task::regression, features,
            options_with({}, features == 40 ? "cholesky" : kAutoSolver));
}

// |z| = 1 is rounded to 6e-8 when it is centred, around other rows in the two; the condition
// number is at most 1/lambda.
TEST(IncrementalFit, ALookOnTheWayChangesRoundingOnly) {
  const Data data;
  constexpr double lambda = 1e-3;
  for (const Index features : {40, 1000})
    for (const Index block_rows : {7, 150, 300}) {
      const FitOptions options = options_with(lambda);
      MemorySource source = data.source(kRows);
      const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
      const FitResult whole = fit(source, summary, "rff", with_features(features), options);
      const FitResult parts = in_blocks(data, features, options, block_rows);
      EXPECT_EQ(parts.report.solver, features == 40 ? "cholesky" : "dual");
      EXPECT_LT(distance(whole.model, parts.model, data), 6e-8 / lambda) << block_rows;
      EXPECT_EQ(parts.model.training.rows, kRows);
    }
}

TEST(IncrementalFit, ChoosesTheLambdaOfAllRows) {
  const Data data;
  MemorySource source = data.source(kRows);
  const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
  for (const std::string solver : {"cholesky", "dual"}) {
    const Index features = solver == "dual" ? 1000 : 40;
    const FitOptions options = options_with(std::nullopt, solver);
    const FitResult whole = fit(source, summary, "rff", with_features(features), options);
    const FitResult parts = in_blocks(data, features, options, 100);
    EXPECT_NEAR(parts.report.lambda / whole.report.lambda, 1, 1e-3);
    EXPECT_NEAR(*parts.report.cv_error / *whole.report.cv_error, 1, 1e-3);
  }
}

// Rows of the first folds that have none, or weigh nothing: another fold is held out, as in fit().
TEST(IncrementalFit, HoldsOutAFoldThatWeighsSomething) {
  Data data;
  for (double& y : std::span(data.y.data(), kRows)) y = y > 0 ? 1 : 0;
  const rng::Key key = FoldBuffers::key_of(1);
  for (Index i = 0; i < kRows; ++i)
    if (FoldBuffers::fold_of(key, i, 1, 5) == 0) data.weights[i] = 0;
  compare(data, Task::classification, 40, options_with({}, "cholesky"));
}

TEST(IncrementalFit, RefusesWhatNeedsAllRows) {
  const Data data;
  MemorySource source = data.source(kRows);
  const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
  EXPECT_THROW(IncrementalFit(summary, "rff", kBandwidth, options_with({}, "pcg")), Error);
  FitOptions balanced = options_with({});
  balanced.class_weight = ClassWeight::balanced;
  EXPECT_THROW(IncrementalFit(summary, "rff", kBandwidth, balanced), Error);

  IncrementalFit dual(summary, "rff", with_features(64), options_with({}, "dual"));
  EXPECT_THROW(dual.solve(), Error);  // no rows
  RowBlock block;
  source.next(block);
  EXPECT_THROW(dual.add(block), Error);  // more rows than features
  Matrix<float> narrow(4, 2);
  narrow.fill(1);
  MemorySource(narrow.view(), data.y.view().slice(0, 4)).next(block);
  EXPECT_THROW(dual.add(block), Error);
  EXPECT_THROW(
      IncrementalFit(summary, "rff", with_features(4096), options_with({}, "cholesky"), 1000),
      Error);
}

TEST(ModelBytes, ComeBackAsTheSameModel) {
  const Data data;
  const FitResult fitted = in_blocks(data, 40, options_with(1e-3), 300);
  const std::string bytes = model_to_bytes(fitted.model);
  const Model again = model_from_bytes(bytes, "test");
  EXPECT_EQ(model_to_bytes(again), bytes);
  EXPECT_EQ(distance(fitted.model, again, data), 0);
  EXPECT_THROW(model_from_bytes("", "test"), Error);
  EXPECT_THROW(model_from_bytes(bytes.substr(0, bytes.size() - 1), "test"), Error);
  EXPECT_THROW(model_from_bytes(bytes + "x", "test"), Error);
}

// Rows without weights count 1, before and after rows that have them.
TEST(IncrementalFit, MixesBlocksWithAndWithoutWeights) {
  Data data;
  for (std::size_t i = 0; i < data.weights.size(); ++i)
    if (i < 100 || i >= 200) data.weights[i] = 1;
  const FitOptions options = options_with(1e-3, "cholesky");
  const FitResult given = in_blocks(data, 20, options, 100);
  MemorySource source = data.source(100);
  const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
  IncrementalFit mixed(summary, "rff", with_features(20), options);
  RowBlock block;
  for (int k = 0; source.next(block); ++k) {
    if (k != 1) block.weights.clear();
    mixed.add(block);
  }
  EXPECT_LT(distance(given.model, mixed.solve().model, data), 1e-9);
}

// The rows of a fit count as those of earlier blocks do: same folds, same sums.
TEST(IncrementalFit, GoesOnFromAFitThatKeptItsSums) {
  const Data data;
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("kerf_incremental_" + std::to_string(::getpid())))
          .string();
  for (const std::optional<double> lambda :
       {std::optional<double>(1e-3), std::optional<double>()}) {
    std::filesystem::remove_all(folder);
    FitOptions options = options_with(lambda, "cholesky");
    MemorySource all = data.source(kRows);
    const DataSummary summary = summarise(all, Task::regression, {}, rng::Key{1});
    const FitResult whole = fit(all, summary, "rff", with_features(40), options);

    options.checkpoint = folder;
    MemorySource first(data.x.view().slice(0, 200), data.y.view().slice(0, 200), 200,
                       std::span(data.weights).first(200));
    const DataSummary of_first = summarise(first, Task::regression, {}, rng::Key{1});
    const FitResult begun = fit(first, of_first, "rff", with_features(40), options);
    IncrementalFit more(model_from_bytes(model_to_bytes(begun.model), "test"), options);
    RowBlock block;
    MemorySource(data.x.view().slice(200, kRows), data.y.view().slice(200, kRows), 100,
                 std::span(data.weights).subspan(200))
        .next(block);
    more.add(block);
    const FitResult parts = more.solve();
    EXPECT_EQ(parts.model.training.rows, kRows);
    EXPECT_NEAR(parts.report.lambda / whole.report.lambda, 1, 1e-3);
    EXPECT_LT(distance(whole.model, parts.model, data), 6e-8 / 1e-3);
    EXPECT_THROW(IncrementalFit(whole.model, options), Error);  // it kept none
    EXPECT_THROW(IncrementalFit(parts.model, options), Error);  // nor do blocks
    options.checkpoint.clear();
    EXPECT_THROW(IncrementalFit(begun.model, options), Error);
  }
  std::filesystem::remove_all(folder);
}

// Of classes, at a given lambda: sums of one fold and of all others, and the rows of that fold.
TEST(IncrementalFit, GoesOnWithProbabilities) {
  Data data;
  for (double& y : std::span(data.y.data(), kRows)) y = y > 0 ? 1 : 0;
  const std::string folder =
      (std::filesystem::temp_directory_path() / ("kerf_go_on_" + std::to_string(::getpid())))
          .string();
  for (const std::optional<double> lambda : {std::optional(1e-3), std::optional<double>()}) {
    std::filesystem::remove_all(folder);
    FitOptions options = options_with(lambda, "cholesky");
    MemorySource all = data.source(kRows);
    const std::vector<std::string> classes = {"no", "yes"};
    const DataSummary summary = summarise(all, Task::classification, classes, rng::Key{1});
    const FitResult whole = fit(all, summary, "rff", with_features(40), options);
    options.checkpoint = folder;
    MemorySource first(data.x.view().slice(0, 200), data.y.view().slice(0, 200), 200,
                       std::span<const double>(data.weights).first(200));
    const DataSummary of_first = summarise(first, Task::classification, classes, rng::Key{1});
    const FitResult begun = fit(first, of_first, "rff", with_features(40), options);
    IncrementalFit more(begun.model, options);
    RowBlock block;
    MemorySource(data.x.view().slice(200, kRows), data.y.view().slice(200, kRows), 100,
                 std::span<const double>(data.weights).subspan(200))
        .next(block);
    more.add(block);
    const FitReport report = more.solve().report;
    ASSERT_TRUE(report.temperature && report.quality);
    // Sums in double of other blocks; golden sections stop within 1e-3 of the logarithm.
    EXPECT_NEAR(*report.temperature / *whole.report.temperature, 1, 5e-3);
    EXPECT_EQ(describe(*report.quality), describe(*whole.report.quality));
  }
  std::filesystem::remove_all(folder);
}

TEST(ModelBytes, SayWhatTheFitWasAskedFor) {
  const Data data;
  MemorySource source = data.source(kRows);
  const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
  FitOptions options = options_with({}, "cholesky");
  options.folds = 3;
  options.map_seed = 9;
  const Params map_options = {{"features", "40"}};  // a bandwidth that is worked out
  const FitResult fitted = fit(source, summary, "rff", map_options, options, Index{1} << 30);
  const FitRequest asked = model_from_bytes(model_to_bytes(fitted.model), "test").training.asked;
  EXPECT_EQ(asked.map, "rff");
  EXPECT_EQ(asked.map_options, map_options);
  EXPECT_EQ(asked.fit_options, write_options(options));
  EXPECT_EQ(asked.map_seed, options.map_seed);
  EXPECT_EQ(asked.memory_limit, Index{1} << 30);
  EXPECT_EQ(fitted.model.recipe.seed, 9U);

  options = read_options<FitOptions>(asked.fit_options, "test");
  options.map_seed = asked.map_seed;
  const FitResult again =
      fit(source, summary, asked.map, asked.map_options, options, asked.memory_limit);
  EXPECT_EQ(distance(fitted.model, again.model, data), 0);

  Model old = model_from_bytes(model_to_bytes(fitted.model), "test");  // a file from before
  old.training.asked = {};
  EXPECT_FALSE(model_from_bytes(model_to_bytes(old), "test").training.asked.present());
}

TEST(IncrementalFit, RefusesWhatItWouldIgnore) {
  const Data data;
  MemorySource source = data.source(100);
  const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
  FitOptions options = options_with({});
  options.solver = "sgd";
  EXPECT_THROW(IncrementalFit(summary, "rff", with_features(20), options), Error);
  options = options_with({});
  options.loss = Loss::logistic;
  EXPECT_THROW(IncrementalFit(summary, "rff", with_features(20), options), Error);
  options = options_with({});
  options.checkpoint = "nowhere";
  EXPECT_THROW(IncrementalFit(summary, "rff", with_features(20), options), Error);
  options = options_with(1e-3, "cholesky");
  IncrementalFit incremental(summary, "rff", with_features(20), options);
  RowBlock block;
  source.next(block);
  block.weights[3] = -1;
  EXPECT_THROW(incremental.add(block), Error);
}

// Rows wait in blocks whose size does not depend on how many have come: 256 of 100,000 columns in each of
// 5 folds are 512 MB, those of the first block alone are 20.
TEST(IncrementalFit, MemoryIsThatOfWholeBlocksOfWideRows) {
  constexpr Index kWide = 100000;
  Matrix<float> x(10, kWide);
  Matrix<double> y(10, 1);
  x.fill(1);
  for (Index i = 0; i < 10; ++i) y(i, 0) = x(i, i) = static_cast<float>(i);
  MemorySource source(x.view(), y.view());
  const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
  const auto begin = [&](Index limit) {
    IncrementalFit(summary, "rff", with_features(32), options_with({}, "cholesky"), limit);
  };
  EXPECT_THROW(begin(300'000'000), Error);
  begin(900'000'000);
}

}  // namespace
}  // namespace kerf::detail
