// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/ridge/ridge.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kerf/api/error.h"
#include "kerf/core/random/random.h"
#include "kerf/core/system/parallel.h"
#include "kerf/learn/lambda/lambda_choice.h"

namespace kerf::detail {
namespace {

struct Problem {
  Matrix<float> z;
  Matrix<double> y;
  std::vector<double> weights;
};

Problem make_problem(Index rows, Index features, Index targets, bool weighted) {
  Problem p{Matrix<float>(rows, features), Matrix<double>(rows, targets), {}};
  rng::fill_normal(rng::Key{1}, 0, std::span(p.z.data(), rows * features));
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < features; ++j) p.z(i, j) += 3;  // a mean, for the intercept to matter
    for (Index t = 0; t < targets; ++t)
      p.y(i, t) = 100 + p.z(i, 0) * static_cast<double>(t + 1) +
                  rng::normal(rng::Key{2}, static_cast<std::uint64_t>(i * targets + t));
    if (weighted)
      p.weights.push_back(0.5 + rng::uniform(rng::Key{3}, static_cast<std::uint64_t>(i)));
  }
  return p;
}

Origin some_origin(const Problem& p) {
  return {std::vector<float>(p.z.cols(), 2.5f), std::vector<double>(p.y.cols(), 90.0)};
}

void add_rows(NormalEquations& sums, const Problem& p, Index begin, Index end) {
  Matrix<float> z(end - begin, p.z.cols());
  for (Index i = begin; i < end; ++i) std::ranges::copy(p.z.row(i), z.row(i - begin).begin());
  const std::span<const double> weights(p.weights);
  sums.add(z.view(), p.y.view().slice(begin, end),
           p.weights.empty() ? weights : weights.subspan(begin, end - begin));
}

/// The oracle: centred normal equations in double, by Gaussian elimination.
LinearModel naive_ridge(const Problem& p, const std::vector<Index>& rows, double lambda) {
  const Index m = p.z.cols(), targets = p.y.cols();
  double n = 0;
  std::vector<double> mean_z(m, 0.0), mean_y(targets, 0.0);
  const auto weight = [&](Index i) { return p.weights.empty() ? 1.0 : p.weights[i]; };
  for (const Index i : rows) n += weight(i);
  for (const Index i : rows) {
    for (Index j = 0; j < m; ++j) mean_z[j] += weight(i) * p.z(i, j) / n;
    for (Index t = 0; t < targets; ++t) mean_y[t] += weight(i) * p.y(i, t) / n;
  }
  Matrix<double> a(m, m + targets);
  a.fill(0);
  for (const Index i : rows)
    for (Index j = 0; j < m; ++j) {
      const double zj = weight(i) * (p.z(i, j) - mean_z[j]);
      for (Index k = 0; k < m; ++k) a(j, k) += zj * (p.z(i, k) - mean_z[k]);
      for (Index t = 0; t < targets; ++t) a(j, m + t) += zj * (p.y(i, t) - mean_y[t]);
    }
  for (Index j = 0; j < m; ++j) a(j, j) += n * lambda;
  for (Index j = 0; j < m; ++j)
    for (Index i = 0; i < m; ++i) {
      if (i == j) continue;
      const double factor = a(i, j) / a(j, j);
      for (Index k = j; k < m + targets; ++k) a(i, k) -= factor * a(j, k);
    }
  LinearModel model{Matrix<double>(m, targets), mean_y};
  for (Index t = 0; t < targets; ++t)
    for (Index j = 0; j < m; ++j) {
      model.weights(j, t) = a(j, m + t) / a(j, j);
      model.intercept[t] -= model.weights(j, t) * mean_z[j];
    }
  return model;
}

std::vector<Index> range(Index begin, Index end) {
  std::vector<Index> rows;
  for (Index i = begin; i < end; ++i) rows.push_back(i);
  return rows;
}

class Ridge : public ::testing::TestWithParam<std::tuple<bool, Precision>> {};

TEST_P(Ridge, EqualsTheOracleForAnyCutIntoBlocks) {
  const auto [weighted, precision] = GetParam();
  const Problem p = make_problem(300, 7, 2, weighted);
  const LinearModel exact = naive_ridge(p, range(0, 300), 0.01);
  for (const Index block : {1, 64, 300}) {
    NormalEquations sums(some_origin(p), precision);
    for (Index i = 0; i < 300; i += block) add_rows(sums, p, i, std::min<Index>(i + block, 300));
    const NormalEquations* parts[] = {&sums};
    const LinearModel model = solve_ridge(parts, 0.01);
    const double tolerance =
        precision == Precision::single_ ? 1e-4 : 1e-5;  // cross terms are single
    for (Index t = 0; t < 2; ++t) {
      for (Index j = 0; j < 7; ++j)
        EXPECT_NEAR(model.weights(j, t), exact.weights(j, t), tolerance);
      EXPECT_NEAR(model.intercept[t], exact.intercept[t], 20 * tolerance);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, Ridge,
                         ::testing::Combine(::testing::Bool(),
                                            ::testing::Values(Precision::single_,
                                                              Precision::double_)));

TEST(NormalEquations, TilesEqualTheObviousSumsAndMergingEqualsAdding) {
  const Problem p = make_problem(40, 1100, 1, false);  // three tiles a side, the last one short
  NormalEquations all(some_origin(p), Precision::single_), head(some_origin(p), Precision::single_),
      tail(some_origin(p), Precision::single_);
  add_rows(all, p, 0, 40);
  add_rows(head, p, 0, 13);
  add_rows(tail, p, 13, 40);
  head.merge(tail);
  Matrix<double> g(1100, 1100), merged(1100, 1100), b(1100, 2);
  g.fill(0);
  merged.fill(0);
  all.add_gram_to(g.view());
  head.add_gram_to(merged.view());
  rng::fill_normal(rng::Key{8}, 0, std::span(b.data(), 2200));
  const Matrix<double> product = all.gram_times(b.view());
  for (const Index i : {0, 1, 511, 512, 600, 1023, 1024, 1099}) {
    double times = 0;
    for (Index j = 0; j < 1100; ++j) {
      double exact = 0;
      for (Index r = 0; r < 40; ++r) exact += (p.z(r, i) - 2.5) * (p.z(r, j) - 2.5);
      if (i <= j) {
        ASSERT_NEAR(g(i, j), exact, 1e-4);
        ASSERT_NEAR(merged(i, j), g(i, j), 1e-4);
      }
      times += (i <= j ? g(i, j) : g(j, i)) * b(j, 1);
    }
    EXPECT_NEAR(product(i, 1), times, 1e-9);
    EXPECT_EQ(all.diagonal(i), g(i, i));
  }
}

TEST(NormalEquations, DoNotDependOnTheNumberOfThreads) {
  const Problem p = make_problem(200, 700, 3, true);
  const auto gram = [&](int count) {
    const int before = threads();
    set_threads(count);
    NormalEquations sums(some_origin(p), Precision::single_);
    add_rows(sums, p, 0, 200);
    set_threads(before);
    std::vector<double> values(700 * 700, 0.0);
    sums.add_gram_to({values.data(), 700, 700});
    for (Index j = 0; j < 700; ++j) values.push_back(sums.cross(j, 1));
    return values;
  };
  EXPECT_EQ(gram(1), gram(2));
}

TEST(CrossValidation, EqualsTrainingOnTheOtherFolds) {
  const Problem p = make_problem(90, 5, 2, true);
  std::vector<NormalEquations> folds;
  for (Index f = 0; f < 3; ++f) {
    folds.emplace_back(some_origin(p), Precision::double_);
    add_rows(folds.back(), p, f * 30, f * 30 + 30);
  }
  double error = 0, weight = 0;
  for (Index f = 0; f < 3; ++f) {
    auto rest = range(0, f * 30);
    for (const Index i : range(f * 30 + 30, 90)) rest.push_back(i);
    const LinearModel model = naive_ridge(p, rest, 0.2);
    for (Index i = f * 30; i < f * 30 + 30; ++i)
      for (Index t = 0; t < 2; ++t) {
        double predicted = model.intercept[t];
        for (Index j = 0; j < 5; ++j) predicted += p.z(i, j) * model.weights(j, t);
        error += p.weights[i] * std::pow(p.y(i, t) - predicted, 2) / 2;
        if (t == 0) weight += p.weights[i];
      }
  }
  double mean = 0;
  for (const double found : cross_validation_errors(folds, 0.2)) mean += found / 2;
  EXPECT_NEAR(mean, error / weight, 1e-5 * error / weight);
}

std::vector<NormalEquations> make_folds(const Problem& p, Index count, Precision precision) {
  std::vector<NormalEquations> folds;
  const Index each = p.z.rows() / count;
  for (Index f = 0; f < count; ++f) {
    folds.emplace_back(some_origin(p), precision);
    add_rows(folds.back(), p, f * each, (f + 1) * each);
  }
  return folds;
}

TEST(FoldToHoldOut, WeighsSomethingAndSoDoTheOthers) {
  const auto folds_of = [](const std::vector<double>& weights) {
    Problem p = make_problem(std::ssize(weights), 2, 1, false);
    p.weights = weights;
    return make_folds(p, std::ssize(weights), Precision::single_);
  };
  EXPECT_EQ(fold_to_hold_out(folds_of({1, 1, 1})), 0);
  EXPECT_EQ(fold_to_hold_out(folds_of({0, 0, 1, 2})), 2);
  EXPECT_EQ(fold_to_hold_out(folds_of({0, 1, 0})), std::nullopt);
  EXPECT_EQ(fold_to_hold_out(folds_of({1})), std::nullopt);
  EXPECT_THROW(fold_that_judges(folds_of({0, 1, 0})), Error);
}

/// The mean over targets.
double cross_validation_error(std::span<const NormalEquations> folds, double lambda) {
  double sum = 0;
  for (const double error : cross_validation_errors(folds, lambda)) sum += error;
  return sum / static_cast<double>(folds.front().targets());
}

TEST(ChooseLambda, TakesTheBestOfThePathAndBeatsItsNeighbours) {
  const Problem p = make_problem(60, 40, 1, false);  // few rows: too small a lambda overfits
  const auto folds = make_folds(p, 5, Precision::single_);
  const LambdaChoice choice = choose_lambda(folds, {}, {}).choice;
  for (const auto& point : choice.path) EXPECT_LE(choice.cv_error, point.cv_error);
  EXPECT_LE(choice.cv_error, cross_validation_error(folds, choice.lambda * 10));
  EXPECT_LE(choice.cv_error, cross_validation_error(folds, choice.lambda / 10));
}

TEST(ChooseLambda, ReadsAGrid) {
  EXPECT_EQ(parse_lambda_grid("1e-2,1,0.1"), (std::vector<double>{0.01, 0.1, 1}));
  EXPECT_TRUE(parse_lambda_grid("").empty());
  for (const char* wrong : {"1,,2", "a", "1,-2", ","})
    EXPECT_THROW(parse_lambda_grid(wrong), Error) << wrong;
}

TEST(Ridge, SaysWhenTheSystemIsSingular) {
  Problem p = make_problem(4, 10, 1, false);
  NormalEquations sums(some_origin(p), Precision::single_);
  add_rows(sums, p, 0, 4);
  const NormalEquations* parts[] = {&sums};
  try {
    solve_ridge(parts, 0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::numeric);
    EXPECT_NE(std::string(error.what()).find("raise lambda"), std::string::npos);
  }
}

std::vector<Index> all_rows_but(Index rows, Index left_out) {
  std::vector<Index> kept;
  for (Index i = 0; i < rows; ++i)
    if (i != left_out) kept.push_back(i);
  return kept;
}

double weight_of(const Problem& p, const std::vector<Index>& rows) {
  double sum = 0;
  for (const Index i : rows) sum += p.weights.empty() ? 1 : p.weights[i];
  return sum;
}

TEST(SpectralPath, LeaveOneOutIsThatOfOneFitForEachRow) {
  for (const bool weighted : {false, true}) {
    const Problem p = make_problem(40, 6, 2, weighted);
    NormalEquations sums(some_origin(p), Precision::double_);
    add_rows(sums, p, 0, 40);
    const SpectralPath path(std::span(&sums, 1));
    const std::vector<double> lambdas = {0, 1e-8, 0.01, 1, 100};
    std::vector<std::vector<double>> errors(lambdas.size(), std::vector<double>(2, 0.0));
    path.add_leave_one_out(p.z.view(), p.y.view(), p.weights, lambdas, errors);
    const double n = weight_of(p, all_rows_but(40, -1));
    for (std::size_t l = 0; l < lambdas.size(); ++l) {
      double expected[2] = {0, 0};
      for (Index i = 0; i < 40; ++i) {
        const auto kept = all_rows_but(40, i);
        const double w = p.weights.empty() ? 1 : p.weights[i];
        const LinearModel model = naive_ridge(p, kept, n * lambdas[l] / weight_of(p, kept));
        for (Index t = 0; t < 2; ++t) {
          double f = model.intercept[t];
          for (Index j = 0; j < 6; ++j) f += model.weights(j, t) * p.z(i, j);
          expected[t] += w * (p.y(i, t) - f) * (p.y(i, t) - f) / n;
        }
      }
      for (std::size_t t = 0; t < 2; ++t)
        EXPECT_NEAR(errors[l][t], expected[t], 1e-9 * expected[t]) << lambdas[l];
    }
  }
}

/// Weights of 50 rows: none, some, the same a thousand times larger, some of them 0.
std::vector<double> gcv_weights(int kind) {
  std::vector<double> weights;
  for (std::uint64_t i = 0; kind > 0 && i < 50; ++i) {
    const double w = 0.5 + rng::uniform(rng::Key{3}, i);
    weights.push_back(kind == 1 ? w : kind == 2 ? 1000 * w : i % 5 == 0 ? 0 : w);
  }
  return weights;
}

class Gcv : public ::testing::TestWithParam<int> {};

TEST_P(Gcv, IsItsDefinition) {
  Problem p = make_problem(50, 7, 1, false);
  p.weights = gcv_weights(GetParam());
  NormalEquations sums(some_origin(p), Precision::double_);
  add_rows(sums, p, 0, 50);
  const SpectralPath path(std::span(&sums, 1));
  const double n = weight_of(p, all_rows_but(50, -1)), rows = GetParam() == 3 ? 40 : 50;
  for (const double lambda : {1e-6, 0.1, 10.0}) {
    const LinearModel model = naive_ridge(p, all_rows_but(50, -1), lambda);
    double squares = 0, trace = 0;
    for (Index i = 0; i < 50; ++i) {
      double f = model.intercept[0];
      for (Index j = 0; j < 7; ++j) f += model.weights(j, 0) * p.z(i, j);
      const double w = p.weights.empty() ? 1 : p.weights[i];
      squares += w * (p.y(i, 0) - f) * (p.y(i, 0) - f);
      // The hat matrix's diagonal, by what the fit at row i gains when its target rises by one.
      Problem raised = make_problem(50, 7, 1, false);
      raised.weights = p.weights;
      raised.y(i, 0) += 1;
      const LinearModel moved = naive_ridge(raised, all_rows_but(50, -1), lambda);
      double g = moved.intercept[0];
      for (Index j = 0; j < 7; ++j) g += moved.weights(j, 0) * p.z(i, j);
      trace += g - f;
    }
    const double expected = squares / n / ((1 - trace / rows) * (1 - trace / rows));
    EXPECT_NEAR(path.gcv(lambda)[0], expected, 1e-9 * expected);
  }
}
INSTANTIATE_TEST_SUITE_P(Weights, Gcv, ::testing::Range(0, 4));

}  // namespace
}  // namespace kerf::detail
