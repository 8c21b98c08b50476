// The fits that are more than a map and a solver: exact kernels, the choice of a map, of features.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "kerf/api/error.h"
#include "kerf/core/rows/row_filter.h"
#include "kerf/features/automatic.h"
#include "kerf/learn/choice/map_choice.h"
#include "kerf/learn/fit/trainer.h"
#include "kerf/learn/ridge/exact_ridge.h"
#include "kerf/model/model_file.h"

namespace kerf::detail {
namespace {

enum class Shape { smooth, linear };

struct Data {
  Matrix<float> x;
  Matrix<double> y;
  CsrMatrix sparse;
};

/// Rows with a smooth (or linear) target and little noise; the sparse twin has the same rows.
Data make_data(Index rows, Shape shape) {
  Data data{Matrix<float>(rows, 3), Matrix<double>(rows, 1), {}};
  data.sparse.cols = 3;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < 3; ++j) {
      const auto index = static_cast<std::uint64_t>(i * 3 + j);
      data.x(i, j) = static_cast<float>(rng::normal(rng::Key{15}, index));
      data.sparse.push(static_cast<std::int32_t>(j), data.x(i, j));
    }
    data.sparse.end_row();
    const double noise = 0.05 * rng::normal(rng::Key{16}, static_cast<std::uint64_t>(i));
    data.y(i, 0) =
        noise + (shape == Shape::linear ? data.x(i, 0) - 2 * data.x(i, 2)
                                        : std::sin(3 * data.x(i, 0)) * std::cos(2 * data.x(i, 1)));
  }
  return data;
}

FitResult fit_on(const RowsView& x, const Matrix<double>& y, const std::string& map,
                 const Params& params, const FitOptions& options = {}, Index memory = 0) {
  MemorySource source(x, y.view(), 100);
  const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
  return fit(source, summary, map, params, options, memory);
}

Matrix<double> predict(const Model& model, const RowsView& x) {
  const Predictor predictor(model);
  MemorySource source(x, {}, x.rows());
  RowBlock block;
  source.next(block);
  Matrix<double> scores;
  predictor.scores(block, scores);
  return scores;
}

ErrorKind kind_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "no error";
  return ErrorKind::numeric;
}

TEST(ExactMap, IsKernelRidgeOnTheScaledRowsAndSurvivesItsFile) {
  const Data train = make_data(150, Shape::smooth), test = make_data(170, Shape::smooth);
  const std::string path =
      (std::filesystem::temp_directory_path() / ("kerf_exact_" + std::to_string(::getpid())))
          .string();
  for (const bool is_sparse : {false, true}) {
    const RowsView x = is_sparse ? RowsView(train.sparse.view()) : RowsView(train.x.view());
    const RowsView fresh = is_sparse ? RowsView(test.sparse.view()) : RowsView(test.x.view());
    FitOptions options;
    options.scale = ScaleKind::none;
    options.clip = false;  // the oracle knows the kernel alone
    const auto [model, report] =
        fit_on(x, train.y, "exact", {{"kernel", "gaussian"}, {"bandwidth", "1.5"}}, options);
    const DualSolution oracle =
        fit_exact_ridge("gaussian", {{"bandwidth", "1.5"}}, x, train.y.view(), {}, {});
    EXPECT_EQ(report.lambda, oracle.choice.lambda);
    EXPECT_EQ(report.cv_error, oracle.choice.cv_error);
    Matrix<double> expected(fresh.rows(), 1);
    kernel_expansion(*find_kernel("gaussian").make({{"bandwidth", "1.5"}}), x,
                     oracle.model.weights.view(), oracle.model.intercept, fresh, expected.view());
    save_model(model, path);
    const Model loaded = load_model(path);
    const auto direct = predict(model, fresh), reloaded = predict(loaded, fresh);
    for (Index i = 0; i < fresh.rows(); ++i) {
      EXPECT_EQ(direct(i, 0), expected(i, 0));
      EXPECT_EQ(reloaded(i, 0), expected(i, 0));
    }
    Matrix<float> z;
    RowBlock block;
    MemorySource(fresh, {}, 7).next(block);
    Predictor(loaded).features(block, z);
    EXPECT_EQ(z.cols(), 150);
  }
  std::filesystem::remove(path);
}

TEST(ExactMap, RefusesBeforeItStarts) {
  const Data train = make_data(150, Shape::smooth);
  const auto fails = [&](const Params& params, Index memory) {
    return kind_of([&] { fit_on(train.x.view(), train.y, "exact", params, {}, memory); });
  };
  EXPECT_EQ(fails({}, 0), ErrorKind::usage);
  EXPECT_EQ(fails({{"kernel", "gausian"}}, 0), ErrorKind::usage);
  EXPECT_EQ(fails({{"kernel", "gaussian"}, {"depth", "2"}}, 0), ErrorKind::usage);
  EXPECT_EQ(fails({{"kernel", "ntk"}, {"features", "64"}}, 0), ErrorKind::usage);
  EXPECT_EQ(fails({{"kernel", "ntk"}}, 24 * 150 * 150), ErrorKind::memory);
}

// A narrow bump is out of reach of the wide kernels: on smooth data of high frequency a Gaussian of
// half the median distance or less, or a network with bias, must win over the bias-free NTK.
TEST(MapChoice, PrefersKernelsThatFit) {
  const Data data = make_data(600, Shape::smooth);
  FitOptions options;
  options.needs_features = true;
  const auto [model, report] =
      fit_on(data.x.view(), data.y, "auto", {{"features", "512"}}, options);
  ASSERT_TRUE(report.map_choice.has_value());
  const MapChoice& choice = *report.map_choice;
  EXPECT_EQ(model.recipe.map, choice.winner().map);
  EXPECT_EQ(model.recipe.options.at("features"), "512");
  EXPECT_EQ(choice.rounds.back().features > 0, true);
  EXPECT_FALSE(choice.reason.empty());
  EXPECT_GE(choice.trials.size(), 41u);
  double bias_free = 0;
  for (const auto& trial : choice.trials) {
    if (trial.candidate.label == "ntk, depth 1, bias 0") bias_free = trial.errors.front();
    EXPECT_GE(trial.errors.size(), 1u);
  }
  EXPECT_LT(choice.trials.front().errors.front(), 0.7 * bias_free);
  EXPECT_LT(*report.cv_error, 0.1);  // of a variance of 0.25
}

// Few rows are solved for with the kernel itself, unless something asks for features.
TEST(MapChoice, TakesTheKernelItselfForFewRows) {
  const Data data = make_data(200, Shape::smooth);
  const auto map_of = [&](const Params& params, const FitOptions& options) {
    return fit_on(data.x.view(), data.y, "auto", params, options).model.recipe.map;
  };
  const auto [model, report] = fit_on(data.x.view(), data.y, "auto", {{"depth", "1"}});
  EXPECT_EQ(model.recipe.map, "exact");
  const MapChoice& choice = *report.map_choice;
  EXPECT_EQ(choice.rounds.back().rows, 200);
  EXPECT_EQ(choice.rounds.back().features, 0);
  EXPECT_NEAR(*report.cv_error, choice.trials.front().errors.back(), 0.02 * *report.cv_error);
  // A number of features given means that features are made, so many of them.
  for (const char* features : {"64", "256"}) {
    const auto made =
        fit_on(data.x.view(), data.y, "auto", {{"kernel", "gaussian"}, {"features", features}});
    EXPECT_EQ(made.model.recipe.map, "rff");
    EXPECT_EQ(made.model.recipe.options.at("features"), features);
  }
  const Params gaussian{{"kernel", "gaussian"}};
  EXPECT_EQ(map_of(gaussian, {}), "exact");
  EXPECT_EQ(map_of({{"form", "phase"}, {"kernel", "gaussian"}}, {}), "rff");
  FitOptions options;
  options.solver = "cholesky";
  EXPECT_EQ(map_of(gaussian, options), "rff");
  options = {};
  options.needs_features = true;
  EXPECT_EQ(map_of(gaussian, options), "rff");
}

// The choice kept to no limit, and what did not fit was turned into unfinished steps of sgd.
TEST(MapChoice, KeepsToTheMemory) {
  const Data data = make_data(2100, Shape::smooth);
  constexpr Index kMega = Index{1} << 20;
  MemorySource source(data.x.view(), data.y.view(), 100);
  const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
  const auto candidates = map_candidates({}, summary, make_scaling(ScaleKind::automatic, summary));
  MapChoiceOptions options;
  Index last = 2;
  for (const Index memory : {30, 60, 120, 1000}) {
    options.memory_limit = memory * kMega;
    const Index rows = map_choice_rows(candidates, summary, 1, options);
    EXPECT_GE(rows, last);
    last = rows;
  }
  EXPECT_GE(last, 1200);
  options.memory_limit = kMega;
  EXPECT_EQ(kind_of([&] { map_choice_rows(candidates, summary, 1, options); }), ErrorKind::memory);
  // No number of features given: as many as fit, and the first line says so.
  const auto [model, report] =
      fit_on(data.x.view(), data.y, "auto", {{"kernel", "gaussian"}}, {}, 60 * kMega);
  EXPECT_LT(model.linear.weights.rows(), 4096);
  EXPECT_GT(model.linear.weights.rows(), 256);
  EXPECT_NE(report.solver, "sgd");
  EXPECT_LE(report.estimated_memory, 60 * kMega);
  EXPECT_NE(report.memory_note.find("instead of 4096"), std::string::npos) << report.memory_note;
  // One given: refused, with what would fit.
  try {
    fit_on(data.x.view(), data.y, "auto", {{"kernel", "gaussian"}, {"features", "4096"}}, {},
           60 * kMega);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.kind(), ErrorKind::memory);
    for (const char* words : {"60 MB is the limit given", "features = ", "solver = sgd"})
      EXPECT_NE(text.find(words), std::string::npos) << text;
    const std::string number = text.substr(text.find("features = ") + 11);
    const auto fitting = fit_on(data.x.view(), data.y, "rff",
                                {{"features", number.substr(0, number.find(' '))}}, {}, 60 * kMega);
    EXPECT_LE(fitting.report.estimated_memory, 60 * kMega);
  }
}

TEST(MapChoice, TakesTheUsersOptions) {
  const Data data = make_data(200, Shape::linear);
  MemorySource source(data.x.view(), data.y.view());
  const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
  const Scaling scaling = make_scaling(ScaleKind::automatic, summary);
  const auto candidates = [&](const Params& given) {
    return map_candidates(given, summary, scaling);
  };
  EXPECT_EQ(candidates({}).size(), 42u);
  EXPECT_EQ(candidates({{"features", "64"}, {"bias", "auto"}}).size(), 24u);
  const auto gaussian = candidates({{"kernel", "gaussian"}});
  ASSERT_EQ(gaussian.size(), 4u);
  for (const auto& candidate : gaussian) EXPECT_EQ(candidate.options.at("kernel"), "gaussian");
  // A given bias leaves one candidate of each depth and kernel.
  EXPECT_EQ(candidates({{"bias", "2"}}).size(), 6u);
  EXPECT_EQ(kind_of([&] {
              candidates({{"kernel", "gaussian"}, {"depth", "2"}});
            }),
            ErrorKind::usage);
  const auto result = fit_on(data.x.view(), data.y, "auto",
                             {{"kernel", "gaussian"}, {"bandwidth", "3"}, {"features", "64"}});
  EXPECT_EQ(result.report.map_choice->reason, "the only candidate");
  EXPECT_EQ(result.model.recipe.options.at("bandwidth"), "3");
}

// A linear model is not a kernel matrix of all rows: it has a number for each column, however many
// features are the default, and may grow none.
TEST(MapChoice, TakesTheColumnsThemselvesWhereTheyWin) {
  const Data data = make_data(300, Shape::linear), larger = make_data(2500, Shape::linear);
  for (const Data* rows : {&data, &larger})
    for (const Params& params : {Params{{"kernel", "linear"}}, Params{},
                                 Params{{"kernel", "linear"}, {"features", "auto"}}}) {
      const auto [model, report] = fit_on(rows->x.view(), rows->y, "auto", params);
      EXPECT_EQ(model.recipe.map, "linear");
      EXPECT_EQ(model.linear.weights.rows(), 3);
      // The noise's variance; its sample standard error is 8 % of it for 300 rows.
      EXPECT_NEAR(*report.cv_error, 0.0025, 5 * 0.08 * 0.0025);
    }
  FitOptions options;
  options.needs_features = true;
  EXPECT_NE(fit_on(data.x.view(), data.y, "auto", {}, options).model.recipe.map, "linear");
}

// The same rows: distances and features differ by rounding only.
TEST(MapChoice, SeesTheSameInSparseRows) {
  const Data data = make_data(150, Shape::smooth);
  FitOptions options;
  options.scale = ScaleKind::none;
  const Params params{{"features", "64"}};
  const auto dense = fit_on(data.x.view(), data.y, "auto", params, options);
  const auto sparse = fit_on(data.sparse.view(), data.y, "auto", params, options);
  EXPECT_TRUE(sparse.model.is_sparse);
  EXPECT_EQ(sparse.model.recipe.options, dense.model.recipe.options);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto &a = dense.report.map_choice->trials[i], &b = sparse.report.map_choice->trials[i];
    EXPECT_EQ(a.candidate.label, b.candidate.label);
    EXPECT_NEAR(a.errors.front(), b.errors.front(), 1e-6 * a.errors.front());
  }
}

TEST(MapChoice, WideRowsTakeFastTransforms) {
  for (const Index cols : {20, 150}) {
    Matrix<float> x(40, cols);
    rng::fill_normal(rng::Key{4}, 0, std::span(x.data(), 40 * cols));
    Matrix<double> y(40, 1);
    y.fill(1);
    MemorySource source(x.view(), y.view(), 40);
    DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
    const Scaling scaling = make_scaling(ScaleKind::none, summary);
    const auto map_of = [&] {
      return map_candidates({{"kernel", "gaussian"}}, summary, scaling).front().map;
    };
    EXPECT_EQ(map_of(), cols == 150 ? "orf" : "rff");
    summary.is_sparse = true;
    EXPECT_EQ(map_of(), "rff");
  }
}

TEST(FeaturesAuto, StopsWhenMoreFeaturesDoNotPay) {
  const Data data = make_data(300, Shape::linear);
  const auto result = fit_on(data.x.view(), data.y, "arccos", {{"features", "auto"}});
  const auto& growth = result.report.growth;
  ASSERT_GE(growth.size(), 2u);
  for (std::size_t i = 1; i < growth.size(); ++i)
    EXPECT_EQ(growth[i].features, 2 * growth[i - 1].features);
  // Every step but the last paid; the result is the best of them.
  double best = growth.front().cv_error;
  for (std::size_t i = 1; i + 1 < growth.size(); ++i)
    EXPECT_LT(growth[i].cv_error, 0.99 * growth[i - 1].cv_error);
  for (const auto& step : growth) best = std::min(best, step.cv_error);
  EXPECT_EQ(*result.report.cv_error, best);
  EXPECT_FALSE(result.report.growth_reason.empty());
}

TEST(FeaturesAuto, StopsAtTheMemoryAndRefusesAFixedLambda) {
  const Data data = make_data(2500, Shape::smooth);
  FitOptions options;
  const auto small =
      fit_on(data.x.view(), data.y, "arccos", {{"features", "auto"}}, options, Index{110} << 20);
  EXPECT_LE(small.model.linear.weights.rows(), 1024);
  // Not because the error stood still: 2,048 do not fit, but for stochastic gradients.
  EXPECT_TRUE(small.report.growth_reason.starts_with("2048 features"))
      << small.report.growth_reason;
  options.lambda = 1e-3;
  EXPECT_EQ(kind_of([&] {
              fit_on(data.x.view(), data.y, "arccos", {{"features", "auto"}}, options);
            }),
            ErrorKind::usage);
}

TEST(Holdout, CutsAStreamInTwoWhateverTheBlocks) {
  const Data data = make_data(1000, Shape::smooth);
  const auto values = [&](Index block, bool held_out) {
    MemorySource source(data.x.view(), data.y.view(), block);
    HoldoutSource part(source, 0.2, rng::Key{4}, held_out);
    const RowBlock rows = read_all(part);
    return std::vector<double>(rows.targets.data(), rows.targets.data() + rows.rows());
  };
  const auto out = values(1000, true), in = values(1000, false);
  EXPECT_EQ(out, values(7, true));
  EXPECT_EQ(in, values(64, false));
  EXPECT_EQ(out.size() + in.size(), 1000u);
  // Binomial: a standard deviation of 12.6; seven of them are a false alarm below 1e-11.
  EXPECT_NEAR(static_cast<double>(out.size()), 200, 7 * 12.7);
}

}  // namespace
}  // namespace kerf::detail
