// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/fit/trainer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "kerf/api/error.h"
#include "kerf/core/system/parallel.h"
#include "kerf/model/model_file.h"
#include "tests/oracle/fits.h"

namespace kerf::detail {
namespace {

using namespace oracle;

/// y = sin(3 x_0) + cos(2 x_1) + noise of variance 0.09, or whether that is positive as a class.
Data make_data(Index rows, bool classes) {
  Data data{three_inputs(rows, 5), Matrix<double>(rows, 1)};
  for (Index i = 0; i < rows; ++i) {
    const double value = std::sin(3 * data.x(i, 0)) + std::cos(2 * data.x(i, 1));
    const double noise = 0.3 * rng::normal(rng::Key{6}, static_cast<std::uint64_t>(i));
    data.y(i, 0) = classes ? (value > 0 ? 1 : 0) : value + noise;
  }
  return data;
}

FitResult fit_on(const Data& data, Task task, const std::string& map, const Params& params,
                 const FitOptions& options = {}, Index block = 100) {
  MemorySource source(data.x.view(), data.y.view(), block);
  const auto classes = task == Task::classification ? std::vector<std::string>{"no", "yes"}
                                                    : std::vector<std::string>{};
  const DataSummary summary = summarise(source, task, classes, rng::Key{1});
  return fit(source, summary, map, params, options);
}

double mean_squared_error(const Matrix<double>& scores, const Data& data) {
  double error = 0;
  for (Index i = 0; i < data.x.rows(); ++i) error += std::pow(scores(i, 0) - data.y(i, 0), 2);
  return error / static_cast<double>(data.x.rows());
}

// Nothing can do better than the noise, 0.09.  A mean of n squares of Gaussian noise has a standard
// error of sqrt(2/n) of itself: what cross-validation says on 2,000 rows and what 1,000 fresh rows
// show may differ by five of those, and by the bit that a model of all rows is better.
TEST(Trainer, LearnsARegressionAndCrossValidationTellsHowWell) {
  const Data train = make_data(2000, false), all = make_data(3000, false);
  const auto [model, report] =
      fit_on(train, Task::regression, "rff", {{"features", "1000"}, {"bandwidth", "0.8"}});
  Data fresh{Matrix<float>(1000, 3), Matrix<double>(1000, 1)};
  for (Index i = 0; i < 1000; ++i) {
    std::ranges::copy(all.x.row(2000 + i), fresh.x.row(i).begin());
    fresh.y(i, 0) = all.y(2000 + i, 0);
  }
  const double error = mean_squared_error(scores_of(model, fresh), fresh);
  ASSERT_TRUE(report.cv_error.has_value());
  EXPECT_LT(error, 0.18);
  EXPECT_GT(error, 0.09 * (1 - 5 * std::sqrt(2.0 / 1000)));
  EXPECT_NEAR(error, *report.cv_error, 5 * std::sqrt(2.0 / 1000 + 2.0 / 2000) * *report.cv_error);
  EXPECT_GT(report.path.size(), 3u);
}

TEST(Trainer, LearnsClassesWithBalancedWeights) {
  const Data train = make_data(1500, true);
  FitOptions options;
  options.class_weight = ClassWeight::balanced;
  const auto result = fit_on(train, Task::classification, "arccos", {{"features", "400"}}, options);
  const auto best = best_class(scores_of(result.model, train));
  Index right = 0;
  for (Index i = 0; i < 1500; ++i) right += best[i] == static_cast<Index>(train.y(i, 0));
  EXPECT_GT(static_cast<double>(right) / 1500, 0.93);
}

// Sums are added in another order for another block size only if blocks are cut elsewhere; the
// buffers make blocks of the same rows whatever the source's cut, so that even the weights agree.
TEST(Trainer, DoesNotDependOnBlocksOrThreads) {
  const Data train = make_data(700, false);
  const auto weights = [&](Index block, int count) {
    const int before = threads();
    set_threads(count);
    auto result = fit_on(train, Task::regression, "rff", {{"features", "64"}}, {}, block);
    set_threads(before);
    const auto& w = result.model.linear.weights;
    return std::vector<double>(w.data(), w.data() + w.rows());
  };
  EXPECT_EQ(weights(700, 2), weights(13, 2));
  const auto one = weights(700, 1), two = weights(700, 2);
  for (std::size_t j = 0; j < one.size(); ++j)
    EXPECT_NEAR(one[j], two[j], 1e-6 * (1 + std::abs(one[j])));
}

TEST(Trainer, RefusesWhatCannotWorkBeforeItStarts) {
  const Data train = make_data(50, false);
  const auto kind_of = [&](const std::string& map, const Params& params, Index limit) {
    MemorySource source(train.x.view(), train.y.view());
    const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
    try {
      fit(source, summary, map, params, {}, limit);
    } catch (const Error& error) {
      return std::optional(error.kind());
    }
    return std::optional<ErrorKind>();
  };
  EXPECT_EQ(kind_of("rff", {{"features", "10000000"}}, 1 << 30), ErrorKind::memory);
  EXPECT_EQ(kind_of("rff", {{"features", "4096"}}, 1 << 20), ErrorKind::memory);
  EXPECT_EQ(kind_of("rff", {{"features", "-3"}}, 0), ErrorKind::usage);
  EXPECT_EQ(kind_of("rff", {{"features", "7"}}, 0), ErrorKind::usage);
  EXPECT_EQ(kind_of("rff", {{"fetures", "8"}}, 0), ErrorKind::usage);
  EXPECT_EQ(kind_of("rtf", {}, 0), ErrorKind::usage);
  EXPECT_EQ(kind_of("rff", {{"features", "8"}}, 0), std::nullopt);
}

TEST(Trainer, StopsWhenProgressThrows) {
  const Data train = make_data(500, false);
  MemorySource source(train.x.view(), train.y.view(), 50);
  const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
  int calls = 0;
  const auto stop = [&](const ProgressEvent&) {
    if (++calls == 3) throw Error(ErrorKind::interrupted, "stopped");
  };
  EXPECT_THROW(fit(source, summary, "rff", {{"features", "16"}}, {}, 0, stop), Error);
  EXPECT_EQ(calls, 3);
}

class ModelFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const Data train = make_data(300, true);
    model_ = fit_on(train, Task::classification, "arccos", {{"features", "24"}}).model;
    model_.training.command = "kerf fit \"a b\".csv";
    save_model(model_, path_);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& content) const {
    std::ofstream(path_, std::ios::binary)
        .write(content.data(), static_cast<std::streamsize>(content.size()));
  }

  const std::string path_ =
      (std::filesystem::temp_directory_path() / ("kerf_model_" + std::to_string(::getpid())))
          .string();
  Model model_;
};

TEST_F(ModelFile, ReloadedPredictsTheSameBits) {
  const Data test = make_data(40, true);
  const Model loaded = load_model(path_);
  const auto a = scores_of(model_, test), b = scores_of(loaded, test);
  for (Index i = 0; i < 40; ++i)
    for (Index t = 0; t < 2; ++t) ASSERT_EQ(a(i, t), b(i, t));
  EXPECT_EQ(loaded.classes, model_.classes);
  EXPECT_EQ(loaded.training.command, model_.training.command);
  EXPECT_EQ(loaded.recipe.options, model_.recipe.options);
}

TEST_F(ModelFile, AnyFlippedByteIsAnError) {
  const std::string good = bytes();
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x41);
    write(bad);
    ASSERT_THROW(load_model(path_), Error) << "byte " << i;
  }
}

TEST_F(ModelFile, AnyTruncationIsAnError) {
  const std::string good = bytes();
  for (std::size_t size = 0; size < good.size(); size += 7) {
    write(good.substr(0, size));
    ASSERT_THROW(load_model(path_), Error) << "size " << size;
  }
  write(good + "x");
  EXPECT_THROW(load_model(path_), Error);
}

// What data-dependent maps learned is folded into the weights, and a saved model predicts the same
// bits.  The noise is 0.09 (see above); 1,000 rows and five standard errors on top of it.
TEST(Trainer, KeepsWhatADataDependentMapLearned) {
  const Data data = make_data(1000, false);
  for (const char* map : {"nystrom", "tefm"}) {
    const bool nystrom = std::string(map) == "nystrom";
    const auto [model, report] =
        fit_on(data, Task::regression, map, {{"features", "300"}, {"bandwidth", "0.8"}});
    EXPECT_EQ(model.linear.weights.rows(), nystrom ? 300 : 1200);
    ASSERT_TRUE(model.recipe.state);
    EXPECT_EQ(model.recipe.state->size(), nystrom ? 1U : 0U);
    const Matrix<double> scores = scores_of(model, data);
    EXPECT_LT(mean_squared_error(scores, data), 0.09 * (1 + 5 * std::sqrt(2.0 / 1000)));
    const Model loaded = model_from_bytes(model_to_bytes(model), "memory");
    const Matrix<double> again = scores_of(loaded, data);
    for (Index i = 0; i < scores.rows(); ++i) ASSERT_EQ(again(i, 0), scores(i, 0)) << map;
  }
}

// A given lambda takes the penalty and kernel columns as they are, a grid of one lambda whitens every
// row: two ways to the same function.
TEST(Trainer, PenaltyStandsForWhitenedLandmarks) {
  const Data data = make_data(1000, false);
  const Params narrow = {{"features", "60"}, {"bandwidth", "0.4"}};
  FitOptions given, grid;
  given.solver = grid.solver = "cholesky";
  given.lambda = 1e-3;
  grid.lambda_grid = "1e-3";
  const auto by_penalty = fit_on(data, Task::regression, "nystrom", narrow, given);
  const auto whitened = fit_on(data, Task::regression, "nystrom", narrow, grid);
  EXPECT_EQ(by_penalty.model.recipe.state->size(), 1U);
  const Matrix<double> a = scores_of(by_penalty.model, data), b = scores_of(whitened.model, data);
  for (Index i = 0; i < a.rows(); ++i) ASSERT_NEAR(a(i, 0), b(i, 0), 1e-4);
}

TEST(Trainer, RefusesAModelWhoseLearnedStateWasForged) {
  const Data data = make_data(200, false);
  Model model =
      fit_on(data, Task::regression, "nystrom", {{"features", "30"}, {"bandwidth", "0.8"}}).model;
  const auto forge = [&](Index rows, Index cols) {
    auto state = std::make_shared<MapState>();
    (*state)["landmarks"] = Matrix<float>(rows, cols);
    (*state)["landmarks"].fill(1);
    model.recipe.state = state;
    EXPECT_THROW(Predictor{model_from_bytes(model_to_bytes(model), "memory")}, Error)
        << rows << " x " << cols;
  };
  forge(30, 2);
  forge(31, 3);
  forge(29, 3);  // fewer landmarks than weights
  forge(0, 3);
  auto state = std::make_shared<MapState>();
  (*state)["other"] = Matrix<float>(1, 1);
  (*state)["other"].fill(0);
  model.recipe.state = state;
  EXPECT_THROW(Predictor{model}, Error);
}

TEST(Trainer, RefusesWeightsThatAreNone) {
  const Data data = make_data(50, false);
  std::vector<double> weights(50, 1.0);
  weights[7] = -1;
  MemorySource source(data.x.view(), data.y.view(), 50, weights);
  EXPECT_THROW(summarise(source, Task::regression, {}, rng::Key{1}), Error);
  std::ranges::fill(weights, 0.0);
  MemorySource zeros(data.x.view(), data.y.view(), 50, weights);
  const DataSummary summary = summarise(zeros, Task::regression, {}, rng::Key{1});
  EXPECT_THROW(fit(zeros, summary, "rff", {{"features", "8"}}, {}), Error);
}

TEST(Trainer, ExactKernelTakesTheGridAndRefusesWhatItCannotDo) {
  const Data data = make_data(60, false);
  FitOptions options;
  options.lambda_grid = "0.5,0.6";
  const auto result = fit_on(data, Task::regression, "exact", {{"kernel", "gaussian"}}, options);
  EXPECT_GE(result.report.lambda, 0.5);
  EXPECT_EQ(result.model.training.validation, "leave-one-out");
  options.solver = "pcg";
  EXPECT_THROW(fit_on(data, Task::regression, "exact", {{"kernel", "gaussian"}}, options), Error);
}

}  // namespace
}  // namespace kerf::detail
