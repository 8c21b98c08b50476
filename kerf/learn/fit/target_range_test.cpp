// Targets of any size that a double holds are fitted as those of size 1 are.
//
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "kerf/api/error.h"
#include "kerf/io/dataset/test_files.h"
#include "kerf/learn/fit/incremental.h"
#include "kerf/learn/fit/trainer.h"
#include "kerf/model/model_file.h"

namespace kerf::detail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Index kRows = 240;

struct Data {
  Matrix<float> x{kRows, 2};
  Matrix<double> y;

  explicit Data(std::vector<double> scales) : y(kRows, std::ssize(scales)) {
    for (Index i = 0; i < kRows; ++i) {
      for (Index j = 0; j < 2; ++j)
        x(i, j) =
            static_cast<float>(rng::normal(rng::Key{5}, static_cast<std::uint64_t>(2 * i + j)));
      for (Index t = 0; t < y.cols(); ++t)
        y(i, t) = (3 + std::sin(x(i, 0) + static_cast<double>(t)) * x(i, 1)) * scales[t];
    }
  }
};

FitResult fit_on(const Data& data, const std::string& map, const Params& params,
                 const FitOptions& options) {
  MemorySource source(data.x.view(), data.y.view(), 64);
  const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
  return fit(source, summary, map, params, options);
}

Matrix<double> predict(const Model& model, const Data& data) {
  RowBlock block;
  MemorySource(data.x.view(), {}, kRows).next(block);
  Matrix<double> scores;
  Predictor(model).scores(block, scores);
  return scores;
}

std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Powers of two, so that what is left to differ is the range and not the rounding.
class TargetsOfAnySize : public testing::TestWithParam<std::tuple<const char*, double>> {};

TEST_P(TargetsOfAnySize, GiveTheSameFit) {
  const auto [solver, scale] = GetParam();
  const bool exact = std::string(solver) == "exact";
  FitOptions options;
  Params params{{"features", std::string(solver) == "dual" ? "512" : "64"}};
  if (exact) params = {{"kernel", "gaussian"}};
  options = read_options<FitOptions>({{"solver", exact ? "auto" : solver}}, "fit");
  const std::string map = exact ? "exact" : "rff";
  const FitResult one = fit_on(Data({1}), map, params, options);
  const FitResult other = fit_on(Data({scale}), map, params, options);
  EXPECT_NEAR(*other.report.cv_error / scale / scale, *one.report.cv_error,
              1e-6 * *one.report.cv_error);
  EXPECT_EQ(other.report.lambda, one.report.lambda);
  EXPECT_EQ(*other.model.training.cv_error, *other.report.cv_error);
  const Data data({1});
  const Matrix<double> a = predict(one.model, data);
  // Through a file: what cannot be read is not written.
  const Matrix<double> b = predict(model_from_bytes(model_to_bytes(other.model), "test"), data);
  for (Index i = 0; i < kRows; ++i)
    EXPECT_NEAR(b(i, 0) / scale, a(i, 0), 1e-6 * std::abs(a(i, 0))) << i;
}

INSTANTIATE_TEST_SUITE_P(EverySolver, TargetsOfAnySize,
                         testing::Combine(testing::Values("cholesky", "dual", "pcg", "exact"),
                                          testing::Values(0x1p-333, 0x1p127, 0x1p330)));

TEST(ExtremeTargets, SideBySide) {
  FitOptions options;
  options.lambda = 1e-4;
  const FitResult same = fit_on(Data({1, 1}), "rff", {{"features", "64"}}, options);
  const FitResult both = fit_on(Data({0x1p100, 0x1p-300}), "rff", {{"features", "64"}}, options);
  const Data data({1, 1});
  const Matrix<double> a = predict(same.model, data), b = predict(both.model, data);
  for (Index i = 0; i < kRows; ++i) {
    EXPECT_NEAR(b(i, 0) * 0x1p-100, a(i, 0), 1e-5 * std::abs(a(i, 0)));
    EXPECT_NEAR(b(i, 1) * 0x1p300, a(i, 1), 1e-5 * std::abs(a(i, 1)));
  }
}

TEST(ExtremeTargets, HaveVariances) {
  FitOptions options;
  options.variance = true;
  const FitResult one = fit_on(Data({1}), "rff", {{"features", "64"}}, options);
  const FitResult small = fit_on(Data({0x1p-200}), "rff", {{"features", "64"}}, options);
  EXPECT_NEAR(small.model.variance->noise[0] * 0x1p400, one.model.variance->noise[0],
              1e-6 * one.model.variance->noise[0]);
}

TEST(ExtremeTargets, BlockByBlock) {
  const auto solve = [](double scale, Index block_rows) {
    const Data data({scale});
    MemorySource source(data.x.view(), data.y.view(), block_rows);
    const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
    IncrementalFit fit(summary, "rff", {{"features", "64"}}, {}, 0);
    RowBlock block;
    source.rewind();
    while (source.next(block)) fit.add(block);
    return fit.solve({}).model;
  };
  const Data data({1});
  const Matrix<double> a = predict(solve(1, 100), data);
  const Matrix<double> b = predict(solve(0x1p-300, 100), data);
  for (Index i = 0; i < kRows; ++i)
    EXPECT_NEAR(b(i, 0) * 0x1p300, a(i, 0), 1e-6 * std::abs(a(i, 0)));
}

TEST(ExtremeTargets, RefitFromKeptSums) {
  io::TestFolder folder;
  FitOptions options;
  options.solver = "cholesky";
  options.checkpoint = folder.path("sums");
  options.precision =
      Precision::double_;  // single sums a fit may refine, a refit has no rows for it
  const Data data({0x1p-300});
  const FitResult first = fit_on(data, "rff", {{"features", "64"}}, options);
  const FitResult again = refit(model_from_bytes(model_to_bytes(first.model), "test"), options);
  EXPECT_EQ(again.report.lambda, first.report.lambda);
  const Matrix<double> a = predict(first.model, data), b = predict(again.model, data);
  for (Index i = 0; i < kRows; ++i) EXPECT_NEAR(a(i, 0), b(i, 0), 1e-9 * std::abs(a(i, 0)));
}

TEST(ExtremeTargets, AreRefusedWhereTheirSquaresOverflow) {
  for (const double scale : {1e200, 1e-200})
    EXPECT_THAT(error_of([&] {
                  fit_on(Data({scale}), "rff", {{"features", "64"}}, {});
                }),
                HasSubstr("outside the range of double precision"));
}

TEST(TargetRange, LeavesOrdinaryTargetsAlone) {
  TargetRange range;
  for (const double y : {1e9, 1e9 + 5, 1e9 - 1000}) range.add(std::vector{y, y * 1e-6, 0.0});
  EXPECT_THAT(range.scales(), ElementsAre(1, 1, 1));
}

TEST(InputColumns, BelowSinglePrecisionAreNamed) {
  Data data({1});
  for (Index i = 0; i < kRows; ++i) data.x(i, 1) *= 1e-40f;
  EXPECT_THAT(error_of([&] {
                fit_on(data, "rff", {{"features", "64"}}, {});
              }),
              HasSubstr("input column 1 are about"));
}

TEST(SaveModel, LeavesTheOldFileWhereTheNewOneCouldNotBeRead) {
  io::TestFolder folder;
  const std::string path = folder.path("m.kerf");
  FitResult good = fit_on(Data({1}), "rff", {{"features", "64"}}, {});
  save_model(good.model, path);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    good.model.linear.weights(3, 0) = bad;
    EXPECT_THAT(error_of([&] { save_model(good.model, path); }), HasSubstr("'weights'"));
    EXPECT_TRUE(std::isfinite(load_model(path).linear.weights(3, 0)));
  }
}

}  // namespace
}  // namespace kerf::detail
