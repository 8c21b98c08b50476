// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "kerf/core/random/random.h"
#include "kerf/learn/metric/metric_choice.h"

namespace kerf::detail {
namespace {

struct Data {
  Matrix<double> x, y;
  MetricRows rows() const { return {x.view(), y.view(), {}}; }
};

template <class F>
Data made(Index rows, Index columns, std::uint64_t seed, double noise, F target,
          bool uniform = false) {
  Data data{Matrix<double>(rows, columns), Matrix<double>(rows, 1)};
  const rng::Key key{seed};
  for (Index i = 0; i < rows; ++i) {
    for (Index k = 0; k < columns; ++k) {
      const auto at = static_cast<std::uint64_t>(i * columns + k);
      data.x(i, k) = uniform ? rng::uniform(key, at) : rng::normal(key, at);
    }
    data.y(i, 0) = target(data.x.row(i)) +
                   noise * rng::normal(key.child("noise"), static_cast<std::uint64_t>(i));
  }
  return data;
}

double wave(std::span<const double> x) { return std::sin(2 * x[0]) + 0.5 * x[1] * x[2]; }

/// Oracle: M by finite differences of the fit's own predictions, which squared_errors() tells: with
/// targets t the squared error is (t - f)^2, and two targets give f.
double prediction(const MetricFit& fit, std::span<const double> x) {
  Matrix<double> row(1, static_cast<Index>(x.size())), zero(1, 1), one(1, 1);
  std::ranges::copy(x, row.row(0).begin());
  zero(0, 0) = 0;
  one(0, 0) = 1;
  const double a = fit.squared_errors({row.view(), zero.view(), {}})[0];
  const double b = fit.squared_errors({row.view(), one.view(), {}})[0];
  return (a - b + 1) / 2;
}

Matrix<double> moments_by_differences(const MetricFit& fit, const Data& data) {
  const Index n = data.x.rows(), d = data.x.cols();
  Matrix<double> moments(d, d);
  moments.fill(0);
  for (Index i = 0; i < n; ++i) {
    std::vector<double> gradient(d), x(data.x.row(i).begin(), data.x.row(i).end());
    for (Index k = 0; k < d; ++k) {
      constexpr double kStep = 1e-5;
      const double at = x[k];
      x[k] = at + kStep;
      const double above = prediction(fit, x);
      x[k] = at - kStep;
      gradient[k] = (above - prediction(fit, x)) / (2 * kStep);
      x[k] = at;
    }
    for (Index k = 0; k < d; ++k)
      for (Index l = 0; l < d; ++l) moments(k, l) += gradient[k] * gradient[l];
  }
  return moments;
}

// The derivative at a row itself, where Laplacians have none, is the mean of both sides: central
// differences agree with the closed form there, up to the step and rounding.
TEST(MetricFit, GradientsAreThoseOfDifferences) {
  const Data data = made(60, 3, 1, 0.1, wave);
  Metric diagonal, full;
  diagonal.factor = Matrix<double>(1, 3);
  full.factor = Matrix<double>(3, 3);
  for (Index k = 0; k < 3; ++k) {
    diagonal.factor(0, k) = 0.5 + static_cast<double>(k);
    for (Index l = 0; l < 3; ++l)
      full.factor(k, l) = k == l ? 1.2 : 0.3 * static_cast<double>(k + l);
  }
  for (const MetricKernel kernel : {MetricKernel::laplacian, MetricKernel::gaussian,
                                    MetricKernel::laplacian_l2, MetricKernel::anova})
    for (const Metric* metric : std::initializer_list<const Metric*>{nullptr, &diagonal, &full}) {
      if (metric == &full && !is_radial(kernel)) continue;
      const Metric none;
      const MetricFit fit(kernel, data.rows(), metric == nullptr ? none : *metric, {});
      ASSERT_TRUE(fit.solved());
      const Matrix<double> expected = moments_by_differences(fit, data);
      const Matrix<double> found = fit.gradient_moments(metric == &diagonal);
      for (Index k = 0; k < 3; ++k)
        for (Index l = 0; l < 3; ++l) {
          if (found.rows() == 1 && k != l) continue;
          EXPECT_NEAR(found(found.rows() == 1 ? 0 : k, l), expected(k, l),
                      1e-3 * std::sqrt(expected(k, k) * expected(l, l)))
              << name_of(kernel) << " " << k << " " << l;
        }
    }
}

// All weights times three change neither lambda nor the fit, and count each gradient three times.
TEST(MetricFit, CommonWeightsChangeNothing) {
  const Data data = made(40, 3, 2, 0.1, wave);
  const std::vector<double> weights(40, 3.0);
  const Metric none;
  for (const MetricKernel kernel : {MetricKernel::gaussian, MetricKernel::laplacian}) {
    const MetricFit plain(kernel, data.rows(), none, {});
    const MetricFit weighted(kernel, {data.x.view(), data.y.view(), weights}, none, {});
    const Matrix<double> a = plain.gradient_moments(true), b = weighted.gradient_moments(true);
    EXPECT_NEAR(weighted.error(), plain.error(), 1e-9 * plain.error());
    for (Index k = 0; k < 3; ++k) EXPECT_NEAR(b(0, k), 3 * a(0, k), 1e-6 * b(0, k));
  }
}

// Rows without weight, whatever their targets are, neither teach nor judge.
TEST(MetricChoice, RowsWithoutWeightDoNotCount) {
  Data data = made(300, 4, 7, 0.05, wave);
  std::vector<double> weights(300, 1.0);
  for (Index i = 0; i < 300; i += 3) weights[static_cast<std::size_t>(i)] = 0;
  const auto best = [&] {
    const MetricRows rows{data.x.view(), data.y.view(), weights};
    return metric_trials(rows.slice(0, 150), rows.slice(150, 300), MetricKind::automatic, {})
        .front()
        .mean();
  };
  const double before = best();
  for (Index i = 0; i < 300; i += 3) data.y(i, 0) = 1e6 * static_cast<double>(i);
  EXPECT_NEAR(best(), before, 1e-6 * before);
}

TEST(Metric, IsTheRootOfItsMoments) {
  Matrix<double> m(2, 2);
  m(0, 0) = 2, m(0, 1) = m(1, 0) = 1, m(1, 1) = 3;
  const Metric metric = metric_of(m.copy());
  double trace = 0;
  for (Index k = 0; k < 2; ++k)
    for (Index l = 0; l < 2; ++l) trace += metric.factor(k, l) * metric.factor(k, l);
  EXPECT_NEAR(trace, 2, 1e-12);
  for (Index k = 0; k < 2; ++k)
    for (Index l = 0; l < 2; ++l) {
      double square = 0;
      for (Index j = 0; j < 2; ++j) square += metric.factor(k, j) * metric.factor(j, l);
      EXPECT_NEAR(square, m(k, l) * 2 / 5, 1e-12);
    }
  Matrix<double> zero(2, 2);
  zero.fill(0);
  EXPECT_FALSE(metric_of(std::move(zero)).present());
}

MetricTrial best_of(const Data& data, MetricKind kind) {
  const Index learn = data.x.rows() / 2;
  auto trials =
      metric_trials(data.rows().slice(0, learn), data.rows().slice(learn, data.x.rows()), kind, {});
  return std::move(trials.front());
}

// Friedman's first function: five columns of 55 count.
TEST(MetricChoice, FindsTheColumnsOfFriedman) {
  const Data data = made(
      1000, 55, 3, 0.5,
      [](std::span<const double> x) {
        return 10 * std::sin(std::numbers::pi * x[0] * x[1]) + 20 * (x[2] - 0.5) * (x[2] - 0.5) +
               10 * x[3] + 5 * x[4];
      },
      true);
  const MetricTrial best = best_of(data, MetricKind::automatic);
  ASSERT_GT(best.steps, 0);
  const auto share = best.metric->importance();
  double others = 0;
  for (std::size_t k = 5; k < share.size(); ++k) {
    others += share[k];
    for (std::size_t l = 0; l < 5; ++l) EXPECT_GT(share[l], share[k]) << l << " " << k;
  }
  EXPECT_LT(others, 0.2);
}

// An interaction without main effects among 30 columns: neither distances nor single columns see it.
TEST(MetricChoice, FindsAnInteractionWithoutMainEffects) {
  const Data data = made(1200, 30, 4, 0.1, [](std::span<const double> x) { return x[7] * x[19]; });
  const MetricTrial best = best_of(data, MetricKind::automatic);
  ASSERT_GT(best.steps, 0);
  const auto share = best.metric->importance();
  EXPECT_GT(share[7] + share[19], 0.9);
  EXPECT_LT(best.mean(), 0.3);  // the variance is 1
}

// A function of one direction that no column has: the full metric finds it within five degrees.
TEST(MetricChoice, FindsTheDirectionOfARidgeFunction) {
  constexpr Index kColumns = 10;
  std::vector<double> direction(kColumns);
  double square = 0;
  for (std::size_t k = 0; k < direction.size(); ++k) {
    direction[k] = std::cos(static_cast<double>(3 * k + 1));
    square += direction[k] * direction[k];
  }
  for (double& value : direction) value /= std::sqrt(square);
  const auto along = [&](std::span<const double> x) {
    double sum = 0;
    for (std::size_t k = 0; k < x.size(); ++k) sum += direction[k] * x[k];
    return sum;
  };
  const Data data = made(1000, kColumns, 5, 0.05,
                         [&](std::span<const double> x) { return std::sin(2 * along(x)); });
  const MetricTrial best = best_of(data, MetricKind::full);
  ASSERT_GT(best.steps, 0);
  // The largest singular direction of A, by power iteration.
  std::vector<double> v(kColumns, 1.0);
  for (int round = 0; round < 200; ++round) {
    best.metric->apply(std::span(v));
    double norm = 0;
    for (const double value : v) norm += value * value;
    for (double& value : v) value /= std::sqrt(norm);
  }
  EXPECT_GT(std::abs(along(v)), std::cos(5 * std::numbers::pi / 180));
}

// Pure noise: rows that judge see no gain in any metric.
TEST(MetricChoice, NoiseHasNoMetric) {
  const Data data = made(400, 6, 6, 1, [](std::span<const double>) { return 0.0; });
  const auto trials = metric_trials(data.rows().slice(0, 200), data.rows().slice(200, 400),
                                    MetricKind::automatic, {});
  std::vector<double> without;
  for (const MetricTrial& trial : trials)
    if (trial.steps == 0) without = trial.errors;
  EXPECT_FALSE(clearly_less(trials.front().errors, without));
}

}  // namespace
}  // namespace kerf::detail
