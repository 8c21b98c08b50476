// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/ridge/sparse_ridge.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kerf/core/random/random.h"
#include "kerf/learn/choice/sparse_choice.h"
#include "kerf/learn/fit/trainer.h"

namespace kerf::detail {
namespace {

/// Text-like rows: common and rare columns, a few numbers a row, and a linear truth with noise.
struct Words {
  CsrMatrix x;
  Matrix<double> y;  // class numbers
};

Words words(Index rows, Index columns, Index entries, std::uint64_t seed) {
  Words data{{}, Matrix<double>(rows, 1)};
  data.x.cols = columns;
  const rng::Key key{seed};
  std::uint64_t drawn = 0;
  std::vector<double> scores;
  for (Index i = 0; i < rows; ++i) {
    std::vector<std::int32_t> chosen;
    double score = 0;
    for (Index k = 0; k < entries; ++k) {
      // Density proportional to 1 / column^0.9, about as words are.
      const double u = rng::uniform(key, drawn++);
      const auto column = static_cast<std::int32_t>(std::min(
          static_cast<double>(columns - 1), static_cast<double>(columns) * std::pow(u, 10)));
      chosen.push_back(column);
      score += rng::normal(key.child("truth"), static_cast<std::uint64_t>(column));
    }
    std::ranges::sort(chosen);
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    for (const std::int32_t column : chosen)
      data.x.push(column, static_cast<float>(0.5 + rng::uniform(key, drawn++)));
    data.x.end_row();
    scores.push_back(score);
  }
  auto sorted = scores;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < scores.size(); ++i)  // two classes of one size
    data.y(static_cast<Index>(i), 0) = scores[i] > sorted[scores.size() / 2] ? 1 : 0;
  return data;
}

/// The minimiser by plain elimination.
std::vector<double> oracle(const SparseRidgeProblem& p, double lambda, Index without) {
  const Index d = p.x.cols;
  std::vector<double> mean(d, 0.0);
  Matrix<double> a(d, d + 1);
  a.fill(0);
  double n = 0, y_mean = 0;
  const auto weight = [&](Index i) {
    return p.fold[static_cast<std::size_t>(i)] == without ? 0.0 : p.weights[i];
  };
  const auto dense = [&](Index i) {
    std::vector<double> row(d, 0.0);
    const SparseRow from = p.x.row(i);
    for (std::size_t k = 0; k < from.values.size(); ++k) row[from.columns[k]] = from.values[k];
    return row;
  };
  for (Index i = 0; i < p.x.rows; ++i) {
    n += weight(i);
    y_mean += weight(i) * p.y(i, 0);
    const auto row = dense(i);
    for (std::size_t j = 0; j < row.size(); ++j) mean[j] += weight(i) * row[j];
  }
  for (double& m : mean) m /= n;
  y_mean /= n;
  for (Index i = 0; i < p.x.rows; ++i) {
    auto row = dense(i);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] -= mean[j];
    for (Index j = 0; j < d; ++j) {
      const double left = weight(i) * row[j];
      for (Index k = 0; k < d; ++k) a(j, k) += left * row[k];
      a(j, d) += left * (p.y(i, 0) - y_mean);
    }
  }
  for (Index j = 0; j < d; ++j) a(j, j) += n * lambda;
  for (Index j = 0; j < d; ++j)
    for (Index i = 0; i < d; ++i) {
      if (i == j) continue;
      const double factor = a(i, j) / a(j, j);
      for (Index k = j; k <= d; ++k) a(i, k) -= factor * a(j, k);
    }
  std::vector<double> w;
  double b = y_mean;
  for (Index j = 0; j < d; ++j) {
    w.push_back(a(j, d) / a(j, j));
    b -= w.back() * mean[j];
  }
  w.push_back(b);
  return w;
}

TEST(SparseRidge, IsTheMinimiserAndLeavesFoldsOut) {
  const Words data = words(80, 30, 6, 1);
  for (const bool weighted : {false, true}) {
    std::vector<double> weights;
    for (Index i = 0; weighted && i < 80; ++i) weights.push_back(i % 7 == 0 ? 0 : 0.5 + 0.01 * i);
    SparseRidgeProblem problem{data.x.view(), data.y.view(), weights, {}, 4, false};
    for (Index i = 0; i < 80; ++i) problem.fold.push_back(i % 4);
    const auto fit = fit_sparse_ridge(problem, {1e-3, 1e-2}, {});
    const auto expected = oracle(problem, fit.choice.lambda, -1);
    // The residual is 1e-6 of the right-hand side, whose norm is below 20; n lambda is at least 0.06.
    for (Index j = 0; j < 30; ++j) EXPECT_NEAR(fit.model.weights(j, 0), expected[j], 4e-4) << j;
    EXPECT_NEAR(fit.model.intercept[0], expected.back(), 4e-4);
    const auto without = oracle(problem, fit.choice.lambda, 2);
    for (Index i = 2; i < 80; i += 4) {
      double score = without.back();
      const SparseRow row = data.x.view().row(i);
      for (std::size_t k = 0; k < row.values.size(); ++k)
        score += row.values[k] * without[row.columns[k]];
      EXPECT_NEAR(fit.left_out(i, 0), score, 1e-2);
    }
  }
}

TEST(SparseRidge, TwoClassesAreOneProblem) {
  const Words data = words(120, 40, 6, 2);
  Matrix<double> y(120, 2);
  for (Index i = 0; i < 120; ++i) y(i, 0) = 0.5 - data.y(i, 0), y(i, 1) = data.y(i, 0) - 0.5;
  SparseRidgeProblem problem{data.x.view(), y.view(), {}, {}, 5, false};
  for (Index i = 0; i < 120; ++i) problem.fold.push_back(i % 5);
  const auto both = fit_sparse_ridge(problem, {}, {});
  problem.mirrored = true;
  const auto one = fit_sparse_ridge(problem, {}, {});
  EXPECT_EQ(one.choice.lambda, both.choice.lambda);
  for (Index j = 0; j < 40; ++j)
    EXPECT_NEAR(one.model.weights(j, 1), both.model.weights(j, 1), 1e-9) << j;
  EXPECT_NEAR(one.choice.cv_error, both.choice.cv_error, 1e-9);
}

FitResult fit_words(const Words& data, Index rows, const FitOptions& options,
                    const std::string& map = kAutoMap, const Params& map_options = {}) {
  const RowsView x = data.x.view();
  MemorySource source(x.slice(0, rows), data.y.view().slice(0, rows));
  const auto summary = summarise(source, Task::classification, {"no", "yes"}, rng::Key{1});
  return fit(source, summary, map, map_options, options);
}

TEST(WideSparseRows, TakeALinearModelByDefault) {
  constexpr Index kTrained = 1600, kAll = 2600;
  const Words data = words(kAll, 12000, 30, 3);
  const auto [model, report] = fit_words(data, kTrained, {});
  EXPECT_EQ(model.recipe.map, "linear");
  EXPECT_EQ(report.solver, "sparse");
  EXPECT_NE(report.scale, ScaleKind::rms);  // which ruins words
  ASSERT_TRUE(report.quality.has_value());
  EXPECT_EQ(report.quality->metric, "accuracy");
  EXPECT_GT(report.quality->value, report.quality->constant + 0.1);
  // Other rows: what the folds promised, within five standard errors.
  RowBlock block;
  MemorySource(data.x.view(), data.y.view(), kAll).next(block);
  Matrix<double> scores;
  Predictor(model).scores(block, scores);
  double right = 0;
  const auto guess = best_class(scores);
  for (Index i = kTrained; i < kAll; ++i)
    right += static_cast<double>(guess[i]) == data.y(i, 0) ? 1 : 0;
  EXPECT_NEAR(right / (kAll - kTrained), report.quality->value,
              5 * std::sqrt(0.25 / kTrained + 0.25 / (kAll - kTrained)));
}

TEST(WideSparseRows, AGivenLambdaHasCalibratedProbabilitiesToo) {
  FitOptions options;
  options.lambda = 1e-2;
  options.solver = "sparse";
  const auto [model, report] =
      fit_words(words(400, 9000, 20, 4), 400, options, "linear", {{"features", "9000"}});
  EXPECT_EQ(report.lambda, 1e-2);
  EXPECT_FALSE(report.cv_error.has_value());
  ASSERT_TRUE(report.quality.has_value());
  EXPECT_TRUE(report.quality->left_out());
  EXPECT_TRUE(report.temperature.has_value());
}

}  // namespace
}  // namespace kerf::detail
