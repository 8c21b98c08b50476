// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/solvers/newton.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "kerf/api/error.h"
#include "kerf/learn/fit/trainer.h"
#include "kerf/learn/score/evaluate.h"
#include "tests/oracle/fits.h"

namespace kerf::detail {
namespace {

using namespace oracle;

Score score_on(const Model& model, const Data& data) {
  MemorySource source(data.x.view(), data.y.view(), 100);
  return evaluate(model, source);
}

class Losses : public ::testing::TestWithParam<std::tuple<Loss, int>> {};

// Second differences of a step of 1e-4 lose half the digits: 1e-6 of values of size 1.
TEST_P(Losses, DerivativesAreThoseOfTheValue) {
  const auto [loss, count] = GetParam();
  const auto size = static_cast<std::size_t>(count);
  std::vector<double> f(size), u(size), g(size), h(size), ahead(size), behind(size);
  rng::fill_normal(rng::Key{2}, 0, f);
  rng::fill_normal(rng::Key{3}, 0, u);
  for (Index label = 0; label < std::max(count, 2); ++label) {
    loss_gradient(loss, label, f, g);
    loss_curvature(loss, label, f, u, h);
    const double e = 1e-5;
    auto plus = f, minus = f;
    double slope = 0, diagonal = 0;
    for (std::size_t k = 0; k < size; ++k) {
      plus[k] += e * u[k];
      minus[k] -= e * u[k];
      slope += g[k] * u[k];
    }
    EXPECT_NEAR((loss_value(loss, label, plus) - loss_value(loss, label, minus)) / (2 * e), slope,
                1e-7);
    loss_gradient(loss, label, plus, ahead);
    loss_gradient(loss, label, minus, behind);
    for (std::size_t k = 0; k < size; ++k)
      EXPECT_NEAR((ahead[k] - behind[k]) / (2 * e), h[k], 1e-6);
    for (std::size_t k = 0; k < size; ++k) {
      std::vector<double> one(size, 0.0), column(size);
      one[k] = 1;
      loss_curvature(loss, label, f, one, column);
      diagonal += column[k] / static_cast<double>(count);
    }
    curvature_diagonal(loss, label, f, h);
    EXPECT_NEAR(std::accumulate(h.begin(), h.end(), 0.0) / count, diagonal, 1e-12);
  }
}
INSTANTIATE_TEST_SUITE_P(All, Losses,
                         ::testing::Combine(::testing::Values(Loss::logistic, Loss::squared_hinge),
                                            ::testing::Values(1, 3)));

TEST(ClassificationLoss, SurvivesHugeScores) {
  const std::vector<double> f = {800, -900, 3};
  EXPECT_NEAR(loss_value(Loss::logistic, 0, f), 0, 1e-12);
  EXPECT_NEAR(loss_value(Loss::logistic, 1, f), 1700, 1e-9);
  const std::vector<double> one = {-1000};
  EXPECT_NEAR(loss_value(Loss::logistic, 1, one), 1000, 1e-9);
}

/// |gradient of F| at a model, relative to that at zero weights, by obvious sums in double.
double gradient_size(const Model& model, const Data& data, Loss loss, double lambda,
                     const std::vector<double>& class_weight) {
  const Matrix<float> z = features_of(model, data);
  const Index m = z.cols(), outputs = model.outputs(), scores = outputs == 2 ? 1 : outputs;
  const auto size_at = [&](double factor) {
    Matrix<double> g(scores, m + 1);
    g.fill(0);
    double n = 0;
    std::vector<double> f(scores), d(f.size());
    const auto w = [&](Index k, Index j) {  // two classes: f = the difference of the scores
      return factor * (scores == 1 ? model.linear.weights(j, 1) - model.linear.weights(j, 0)
                                   : model.linear.weights(j, k));
    };
    for (Index i = 0; i < z.rows(); ++i) {
      const auto label = static_cast<Index>(data.y(i, 0));
      const double weight = class_weight.empty() ? 1.0 : class_weight[label];
      n += weight;
      for (Index k = 0; k < scores; ++k) {
        const auto at = static_cast<std::size_t>(k);
        f[at] = factor * (scores == 1 ? model.linear.intercept[1] - model.linear.intercept[0]
                                      : model.linear.intercept[at]);
        for (Index j = 0; j < m; ++j) f[at] += w(k, j) * z(i, j);
      }
      loss_gradient(loss, label, f, d);
      for (Index k = 0; k < scores; ++k) {
        for (Index j = 0; j < m; ++j) g(k, j) += weight * d[k] * z(i, j);
        g(k, m) += weight * d[k];
      }
    }
    double sum = 0;
    for (Index k = 0; k < scores; ++k)
      for (Index j = 0; j <= m; ++j)
        sum += std::pow(g(k, j) / n + (j < m ? 2 * lambda * w(k, j) : 0.0), 2);
    return std::sqrt(sum);
  };
  return size_at(1) / size_at(0);
}

class NewtonSolver : public ::testing::TestWithParam<std::tuple<Loss, int>> {};

TEST_P(NewtonSolver, EndsWhereTheGradientIsZero) {
  const auto [loss, classes] = GetParam();
  const Data data = ring_of_classes(600, classes);
  FitOptions options;
  options.loss = loss;
  options.lambda = 1e-4;
  auto result = fit_classes(data, classes, options);
  EXPECT_EQ(result.report.solver, "newton");
  EXPECT_LT(gradient_size(result.model, data, loss, 1e-4, {}), 0.01);
  EXPECT_GT(score_on(result.model, data).accuracy, 0.8);
  options.class_weight = ClassWeight::balanced;
  std::vector<double> count(classes, 0.0);
  for (Index i = 0; i < 600; ++i) count[data.y(i, 0)] += 1;
  for (double& c : count) c = 600 / (classes * c);
  EXPECT_LT(gradient_size(fit_classes(data, classes, options).model, data, loss, 1e-4, count),
            0.01);
}
INSTANTIATE_TEST_SUITE_P(All, NewtonSolver,
                         ::testing::Combine(::testing::Values(Loss::logistic, Loss::squared_hinge),
                                            ::testing::Values(2, 4)));

/// (1/n) sum max(0, 1 - s f)^2 + lambda |w|^2 of one class against the rest; f = scores of class
/// `column`, less those of class `minus` if there is one.
double hinge_objective(const Model& model, const Data& data, Index label, Index column, Index minus,
                       double lambda) {
  const Matrix<double> f = scores_of(model, data);
  double sum = 0;
  for (Index i = 0; i < f.rows(); ++i) {
    const double sign = static_cast<Index>(data.y(i, 0)) == label ? 1 : -1;
    const double gap = std::max(0.0, 1 - sign * (f(i, column) - (minus < 0 ? 0 : f(i, minus))));
    sum += gap * gap / static_cast<double>(f.rows());
  }
  for (Index j = 0; j < model.linear.weights.rows(); ++j)
    sum += lambda * std::pow(model.linear.weights(j, column) -
                                 (minus < 0 ? 0 : model.linear.weights(j, minus)),
                             2);
  return sum;
}

// Scores of the squared hinge are minimised each for itself: as well as if the others were not
// there, up to the tolerance of 1e-5 of all losses that both fits have (5e-5: the decrement is an
// estimate); with few features (blocks) and many.
TEST(NewtonSolver, EveryClassIsMinimisedAsIfAlone) {
  constexpr Index kClasses = 6;
  const Data data = ring_of_classes(500, kClasses);
  const std::pair<const char*, double> cases[] = {{"64", 1e-3}, {"64", 1e-5}, {"400", 1e-3}};
  for (const auto& [features, lambda] : cases) {
    FitOptions options;
    options.loss = Loss::squared_hinge;
    options.lambda = lambda;
    const Model together = fit_classes(data, kClasses, options, features).model;
    double alone_total = 0;
    std::vector<double> excess;
    for (Index k = 0; k < kClasses; ++k) {
      Data two = ring_of_classes(500, kClasses);
      for (Index i = 0; i < 500; ++i) two.y(i, 0) = data.y(i, 0) == static_cast<double>(k) ? 1 : 0;
      const Model alone = fit_classes(two, 2, options, features).model;
      const double least = hinge_objective(alone, two, 1, 1, 0, lambda);
      alone_total += least;
      excess.push_back(hinge_objective(together, data, k, k, -1, lambda) - least);
    }
    for (const double e : excess)
      EXPECT_LT(std::abs(e), 5e-5 * alone_total) << features << " features, lambda " << lambda;
  }
}

// A tenth of the labels is wrong: no model knows the class better than -0.9 log 0.9 - 0.1 log 0.1 =
// 0.325 on average.  Uncalibrated, a squared hinge's scores taken as logits give much more.
TEST(NewtonSolver, ChoosesLambdaAndItsProbabilitiesAreCalibrated) {
  const Data train = ring_of_classes(3000, 3), more = ring_of_classes(6000, 3);
  Data test{Matrix<float>(3000, 3), Matrix<double>(3000, 1)};
  for (Index i = 0; i < 3000; ++i) {
    std::ranges::copy(more.x.row(3000 + i), test.x.row(i).begin());
    test.y(i, 0) = more.y(3000 + i, 0);
  }
  for (const Loss loss : {Loss::logistic, Loss::squared_hinge}) {
    FitOptions options;
    options.loss = loss;
    const auto [model, report] = fit_classes(train, 3, options, "256");
    ASSERT_TRUE(model.temperature.has_value());
    EXPECT_GE(report.path.size(), 3u);
    for (const auto& point : report.path) EXPECT_LE(*report.cv_error, point.cv_error);
    const Score score = score_on(model, test);
    EXPECT_GT(score.accuracy, 0.85);
    ASSERT_TRUE(score.log_loss.has_value());
    EXPECT_LT(*score.log_loss, 0.50);
    EXPECT_GT(*score.log_loss, 0.28);
  }
}

// Rows that can be told apart, and next to no penalty: the loss falls on and on towards 0.
TEST(NewtonSolver, SaysWhenItDidNotConverge) {
  Data data = ring_of_classes(300, 2);
  for (Index i = 0; i < 300; ++i) data.y(i, 0) = data.x(i, 0) > 0 ? 1 : 0;
  FitOptions options;
  options.loss = Loss::logistic;
  options.lambda = 1e-40;
  const auto stopped = fit_classes(data, 2, options).report;
  EXPECT_GT(stopped.residual, 1e-4);
  ASSERT_EQ(stopped.warnings.size(), 1u);
  EXPECT_NE(stopped.warnings[0].find("raise lambda"), std::string::npos) << stopped.warnings[0];
  options.lambda = 1e-4;
  const auto converged = fit_classes(data, 2, options).report;
  EXPECT_LE(converged.residual, 1e-5);
  EXPECT_TRUE(converged.warnings.empty());
}

TEST(NewtonSolver, IsForClasses) {
  const Data data = ring_of_classes(100, 2);
  MemorySource source(data.x.view(), data.y.view());
  const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
  FitOptions options;
  options.loss = Loss::logistic;
  EXPECT_THROW(fit(source, summary, "rff", {{"features", "8"}}, options), Error);
  options.solver = "cholesky";
  EXPECT_THROW(fit_classes(data, 2, options), Error);
}

// Early-stopped gradients end where the minimiser does, as far as accuracy tells.  A tenth of the
// labels is wrong, so that no model has more than 0.9 + what it learned by heart.
TEST(Sgd, ComesNearTheMinimiser) {
  const Data train = ring_of_classes(4000, 3);
  for (const Loss loss : {Loss::squared, Loss::logistic, Loss::squared_hinge}) {
    FitOptions options;
    options.loss = loss;
    const double best = score_on(fit_classes(train, 3, options, "256").model, train).accuracy;
    EXPECT_GT(best, 0.85);
    options.solver = "sgd";
    options.sgd.batch = 64;
    for (const Schedule schedule : {Schedule::adagrad, Schedule::inverse}) {
      options.sgd.schedule = schedule;
      const auto [model, report] = fit_classes(train, 3, options, "256");
      EXPECT_GE(report.passes, 3);
      EXPECT_GT(score_on(model, train).accuracy, best - 0.03)
          << name_of(loss) << static_cast<int>(schedule);
    }
  }
}

// Some of 60 folds of 60 rows are empty, the first one in a third of the seeds.
TEST(NewtonSolver, HoldsOutAFoldThatHasRows) {
  const Data data = ring_of_classes(60, 3);
  for (const Loss loss : {Loss::logistic, Loss::squared_hinge})
    for (Index seed = 1; seed <= 8; ++seed) {
      FitOptions options;
      options.loss = loss;
      options.folds = 60;
      options.seed = seed;
      const auto report = fit_classes(data, 3, options, "8").report;
      // The hinge of a row may be 0, the logistic loss of one is not.
      EXPECT_TRUE(loss == Loss::squared_hinge || *report.cv_error > 0) << seed;
      EXPECT_GT(report.temperature.value_or(1e3), 1e-3) << seed;
      EXPECT_LT(report.temperature.value_or(1e3), 999) << seed;
    }
}

TEST(Solvers, SayWhyNoneOfThemServes) {
  const Data data = ring_of_classes(200, 3);
  FitOptions options;
  options.loss = Loss::logistic;
  options.lambda_per_target = true;
  try {
    fit_classes(data, 3, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("cholesky is for the squared loss"), std::string::npos)
        << error.what();
  }
}

// The loss of rows that the fit has not seen is convex in t: where it is less than at t/2 and 2 t,
// the best t lies between the two.  200 rows give t to some 10 % (one standard deviation).
TEST(Probabilities, AreCalibratedWhereLambdaIsGiven) {
  const Data train = ring_of_classes(1000, 3), more = ring_of_classes(3000, 3);
  Data test{Matrix<float>(2000, 3), Matrix<double>(2000, 1)};
  for (Index i = 0; i < 2000; ++i) {
    std::ranges::copy(more.x.row(1000 + i), test.x.row(i).begin());
    test.y(i, 0) = more.y(1000 + i, 0);
  }
  struct Case {
    std::string solver;
    Loss loss;
    const char* features;
    double lambda;
  };
  const Case cases[] = {
      {"cholesky", Loss::squared, "256", 1e-4}, {"cholesky", Loss::squared, "256", 1e-2},
      {"pcg", Loss::squared, "256", 1e-4},      {"dual", Loss::squared, "1024", 1e-3},
      {"newton", Loss::logistic, "256", 1e-8},  {"newton", Loss::squared_hinge, "256", 1e-4},
      {"sgd", Loss::squared, "256", 1e-6},      {"sgd", Loss::logistic, "256", 1e-6},
      {"sgd", Loss::squared_hinge, "256", 1e-6}};
  for (const Case& c : cases) {
    FitOptions options;
    options.solver = c.solver;
    options.loss = c.loss;
    options.lambda = c.lambda;
    auto [model, report] = fit_classes(train, 3, options, c.features);
    const std::string name = fmt::format("{} {} {}", c.solver, name_of(c.loss), c.lambda);
    ASSERT_TRUE(model.temperature.has_value()) << name;
    EXPECT_EQ(model.temperature, report.temperature);
    EXPECT_EQ(report.lambda, c.lambda);
    const double t = *model.temperature, loss = score_on(model, test).log_loss.value_or(9);
    for (const double factor : {0.5, 2.0}) {
      model.temperature = factor * t;
      EXPECT_LT(loss, score_on(model, test).log_loss.value_or(0)) << name << " " << t;
    }
  }
}

// The same fold is held out, of the same sums but for the order in which they are added.
TEST(Probabilities, AreTheSameWhetherLambdaIsGivenOrChosen) {
  const Data data = ring_of_classes(1000, 3);
  for (const std::string solver : {"cholesky", "pcg", "newton"}) {
    FitOptions options;
    options.solver = solver;
    options.loss = solver == "newton" ? Loss::logistic : Loss::squared;
    const FitReport chosen = fit_classes(data, 3, options).report;
    options.lambda = chosen.lambda;
    const FitReport given = fit_classes(data, 3, options).report;
    EXPECT_NEAR(given.temperature.value_or(0), *chosen.temperature, 0.01 * *chosen.temperature);
    EXPECT_FALSE(given.cv_error.has_value());
  }
}

TEST(Probabilities, AreCalibratedWithEveryValidation) {
  const Data data = ring_of_classes(1000, 3);
  for (const Validation validation : {Validation::gcv, Validation::leave_one_out}) {
    FitOptions options;
    options.solver = "cholesky";
    options.validation = validation;
    const FitReport report = fit_classes(data, 3, options).report;
    options.validation = Validation::folds;
    options.lambda = report.lambda;
    EXPECT_NEAR(report.temperature.value_or(0), *fit_classes(data, 3, options).report.temperature,
                0.01);
  }
}

// Both see rows that were left out, one a fold of five and the other all five: 400 against 2,000 rows.
TEST(Pcg, CalibratesProbabilitiesAsCholeskyDoes) {
  const Data data = ring_of_classes(2000, 3);
  double found[2];
  for (const std::string solver : {"pcg", "cholesky"}) {
    FitOptions options;
    options.solver = solver;
    const auto [model, report] = fit_classes(data, 3, options);
    found[solver == "pcg"] = report.temperature.value_or(0);
    EXPECT_EQ(model.temperature, report.temperature);
  }
  EXPECT_GT(found[0], 2);
  EXPECT_NEAR(found[1], found[0], 0.25 * found[0]);
}

}  // namespace
}  // namespace kerf::detail
