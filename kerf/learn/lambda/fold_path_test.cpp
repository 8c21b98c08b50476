// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/lambda/fold_path.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kerf/core/random/random.h"
#include "kerf/learn/lambda/lambda_choice.h"

namespace kerf::detail {
namespace {

constexpr Index kFolds = 5;

/// Weighted rows with a falling spectrum, as kernels give, and targets of which each wants another
/// lambda.  far: every so many-th row is eight times as far from the others.
std::vector<NormalEquations> smooth_folds(Index rows, Index features, Index targets,
                                          Index far = 0) {
  Matrix<float> z(rows, features);
  Matrix<double> y(rows, targets);
  std::vector<double> weights;
  rng::fill_normal(rng::Key{1}, 0, std::span(z.data(), rows * features));
  for (Index i = 0; i < rows; ++i) {
    const float size = far > 0 && i % far == 0 ? 8 : 1;
    double signal = 0;
    for (Index j = 0; j < features; ++j) {
      z(i, j) = size * z(i, j) / static_cast<float>(1 + j) + 1;
      signal += z(i, j) * (j % 3 - 1.0);
    }
    for (Index t = 0; t < targets; ++t)
      y(i, t) = signal + std::pow(10.0, t - 1) *
                             rng::normal(rng::Key{9}, static_cast<std::uint64_t>(i * targets + t));
    weights.push_back(0.5 + rng::uniform(rng::Key{3}, static_cast<std::uint64_t>(i)));
  }
  const Origin origin{std::vector<float>(features, 0.5f), std::vector<double>(targets, 2.0)};
  std::vector<NormalEquations> folds;
  for (Index f = 0; f < kFolds; ++f) {
    const Index begin = f * rows / kFolds, end = (f + 1) * rows / kFolds;
    folds.emplace_back(origin, Precision::double_);
    folds.back().add(z.view().slice(begin, end), y.view().slice(begin, end),
                     WeightsView(weights).slice(begin, end));
  }
  return folds;
}

// After a few levels the errors at a pole are what lambda_choice.h promises.
TEST(FoldPath, KnowsTheErrorsAtEachPole) {
  const auto folds = smooth_folds(6000, 200, 3);
  FoldPath path(folds);
  for (const double pole : {1e-2, 1e-11, 1e-4}) {  // the second in double precision
    ASSERT_TRUE(path.set_pole(pole));
    for (int level = 0; level < 8; ++level) path.extend();
    const auto found = path.level().errors, exact = cross_validation_errors(folds, pole);
    for (std::size_t t = 0; t < 3; ++t) EXPECT_NEAR(found[t], exact[t], 1e-3 * exact[t]) << pole;
  }
}

// Folds unlike each other: few rows for the features, some of them far from all others.  Levels
// must go on to help: vectors that only repeat powers of C do not.
TEST(FoldPath, KnowsTheErrorsOfFewAndFarRows) {
  const auto folds = smooth_folds(800, 500, 1, 20);
  FoldPath path(folds);
  for (const double pole : {1e-2, 1e-4, 1e-6}) {
    ASSERT_TRUE(path.set_pole(pole));
    while (!path.is_full()) path.extend();
    const double exact = cross_validation_errors(folds, pole).front();
    EXPECT_NEAR(path.level().errors.front(), exact, 1e-3 * exact) << pole;
  }
}

// Lambdas at which the spaces would have to be large: by one Cholesky for each fold.
TEST(ChooseLambda, IsExactWhereSpacesDoNotDo) {
  constexpr Index kFeatures = 2048;
  const auto folds = smooth_folds(2100, kFeatures, 1, 20);
  const std::vector<double> grid{1e-12, 1e-5, 1e-1};
  const LambdaChoice choice = choose_lambda(folds, {grid, true}, {}).choice;
  ASSERT_EQ(choice.path.size(), grid.size());
  for (const auto& point : choice.path) {
    const double exact = cross_validation_errors(folds, point.lambda).front();
    EXPECT_NEAR(point.cv_error, exact, 1e-3 * exact) << point.lambda;
  }
}

TEST(FoldPath, GivesTheErrorsOfOneCholeskyForEachFoldAndLambda) {
  constexpr Index kFeatures = 2048;
  ASSERT_TRUE(FoldPath::pays(kFeatures, 3));
  const auto folds = smooth_folds(8400, kFeatures, 3);
  std::vector<double> grid;
  std::vector<std::vector<double>> exact;
  for (int k = -7; k <= 1; k += 2) {
    grid.push_back(std::pow(10.0, k));
    exact.push_back(cross_validation_errors(folds, grid.back()));
  }
  for (const bool per_target : {false, true}) {
    const auto [choice, model, factor] = choose_lambda(folds, {grid, per_target}, {});
    std::vector<std::size_t> best(3, 0);
    std::size_t best_of_all = 0;
    const auto mean = [&](std::size_t k) { return (exact[k][0] + exact[k][1] + exact[k][2]) / 3; };
    for (std::size_t k = 0; k < grid.size(); ++k) {
      if (mean(k) < mean(best_of_all)) best_of_all = k;
      for (std::size_t t = 0; t < 3; ++t)
        if (exact[k][t] < exact[best[t]][t]) best[t] = k;
    }
    EXPECT_EQ(choice.lambda, grid[best_of_all]);
    // Every lambda that was tried, not only the best: an error that is off elsewhere misleads.
    for (const auto& point : choice.path) {
      const auto k = static_cast<std::size_t>(std::ranges::find(grid, point.lambda) - grid.begin());
      ASSERT_LT(k, grid.size());
      EXPECT_NEAR(point.cv_error, mean(k), 1e-3 * mean(k)) << point.lambda;
    }
    EXPECT_EQ(choice.per_target.size(), per_target ? 3u : 0u);
    if (per_target)
      for (std::size_t t = 0; t < 3; ++t) EXPECT_EQ(choice.per_target[t], grid[best[t]]) << t;
    else
      EXPECT_NEAR(choice.cv_error, mean(best_of_all), 1e-3 * mean(best_of_all));
    // The model is that of Cholesky at the lambda chosen.
    std::vector<const NormalEquations*> parts;
    for (const auto& fold : folds) parts.push_back(&fold);
    const LinearModel direct = solve_ridge(parts, choice);
    double difference = 0, size = 0;
    for (Index j = 0; j < kFeatures; ++j)
      for (Index t = 0; t < 3; ++t) {
        difference += std::pow(direct.weights(j, t) - model.weights(j, t), 2);
        size += std::pow(direct.weights(j, t), 2);
      }
    EXPECT_LT(difference, 1e-14 * size);
  }
}

}  // namespace
}  // namespace kerf::detail
