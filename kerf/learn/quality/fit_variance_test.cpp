// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/quality/fit_variance.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "kerf/api/error.h"
#include "kerf/learn/fit/trainer.h"
#include "kerf/linalg/blas.h"
#include "kerf/model/model_file.h"
#include "tests/oracle/fits.h"

namespace kerf::detail {
namespace {

using oracle::Data;

Data make_data(Index rows, double noise) {
  Data data{Matrix<float>(rows, 2), Matrix<double>(rows, 2)};
  for (Index i = 0; i < rows; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    data.x(i, 0) = static_cast<float>(rng::normal(rng::Key{21}, index));
    data.x(i, 1) = static_cast<float>(rng::normal(rng::Key{22}, index));
    data.y(i, 0) = 10 + std::sin(data.x(i, 0)) + noise * rng::normal(rng::Key{23}, index);
    data.y(i, 1) = data.x(i, 1) + 3 * noise * rng::normal(rng::Key{24}, index);
  }
  return data;
}

Model fit_on(const Data& data, const Params& params, double lambda,
             Noise noise = Noise::leave_one_out) {
  MemorySource source(data.x.view(), data.y.view(), 50);
  const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
  FitOptions options;
  options.variance = true;
  options.noise = noise;
  if (lambda > 0) options.lambda = lambda;
  return fit(source, summary, "rff", params, options).model;
}

/// Features, predictions and variances of the rows.
void apply(const Model& model, const Matrix<float>& x, Matrix<float>& z, Matrix<double>& scores,
           Matrix<double>& variance) {
  const Predictor predictor(model);
  RowBlock block;
  MemorySource(x.view(), {}, x.rows()).next(block);
  predictor.scores(block, scores, variance);
  MemorySource(x.view(), {}, x.rows()).next(block);
  predictor.features(block, z);
}

// The oracle is the other side of the Woodbury identity, in double: a Gaussian process with kernel
// <z, z'> s^2/c + a large constant (the flat prior of the intercept) observed with noise s^2.
TEST(PredictiveVariance, IsThatOfAGaussianProcess) {
  const Data train = make_data(40, 0.3), test = make_data(55, 0.3);
  const double lambda = 0.01, c = 40 * lambda, flat = 1e6;
  const Model model =
      fit_on(train, {{"features", "60"}, {"bandwidth", "1"}}, lambda, Noise::likelihood);
  Matrix<float> z, zt;
  Matrix<double> scores, variance, unused;
  apply(model, test.x, zt, scores, variance);
  apply(model, train.x, z, unused, unused);
  const auto kernel = [&](const Matrix<float>& a, Index i, const Matrix<float>& b, Index j) {
    double sum = flat;
    for (Index k = 0; k < a.cols(); ++k) sum += double{a(i, k)} * b(j, k) / c;
    return sum;
  };
  Matrix<double> gram(40, 40), factor(40, 40);
  for (Index i = 0; i < 40; ++i)
    for (Index j = 0; j < 40; ++j) factor(i, j) = kernel(z, i, z, j) + (i == j ? 1 : 0);
  ASSERT_EQ(blas::cholesky(factor.view()), 0);
  for (Index t = 0; t < 2; ++t) {
    // s^2 = y^T (I + K)^-1 y / (n - 1): the flat direction takes the mean away.
    Matrix<double> solution(40, 1);
    for (Index i = 0; i < 40; ++i) solution(i, 0) = train.y(i, t);
    blas::cholesky_solve(factor.view(), solution.view());
    double noise = 0;
    for (Index i = 0; i < 40; ++i) noise += train.y(i, t) * solution(i, 0) / 39;
    // The flat prior's 1e6 is not infinite: relative errors of (10/1000)^2/39 and less.
    EXPECT_NEAR(model.variance->noise[t], noise, 1e-3 * noise);
    for (Index r = 40; r < 55; ++r) {
      Matrix<double> cross(40, 1), solved(40, 1);
      for (Index i = 0; i < 40; ++i) cross(i, 0) = solved(i, 0) = kernel(zt, r, z, i);
      blas::cholesky_solve(factor.view(), solved.view());
      double expected = 1 + kernel(zt, r, zt, r);
      for (Index i = 0; i < 40; ++i) expected -= cross(i, 0) * solved(i, 0);
      EXPECT_NEAR(variance(r, t), noise * expected, 2e-3 * noise * expected);
    }
  }
}

/// Ridge regression with an intercept on all rows but one: the error there, squared, over
/// 1 + 1/n + zc^T A^-1 zc.
double standardised_square(const Matrix<float>& z, const Matrix<double>& y, Index out, Index t,
                           double penalty) {
  const Index m = z.cols();
  Matrix<double> a(m + 1, m + 1), solution(m + 1, 1), at(m + 1, 1);
  a.fill(0);
  solution.fill(0);
  for (Index i = 0; i < z.rows(); ++i) {
    const auto value = [&](Index j) { return j == m ? 1.0 : double{z(i, j)}; };
    for (Index j = 0; j <= m; ++j) {
      if (i == out) at(j, 0) = value(j);
      if (i == out) continue;
      solution(j, 0) += value(j) * y(i, t);
      for (Index k = 0; k <= m; ++k) a(j, k) += value(j) * value(k);
    }
  }
  for (Index j = 0; j < m; ++j) a(j, j) += penalty;
  EXPECT_EQ(blas::cholesky(a.view()), 0);
  blas::cholesky_solve(a.view(), solution.view());
  double error = y(out, t), variance = 1;
  for (Index j = 0; j <= m; ++j) error -= at(j, 0) * solution(j, 0);
  blas::transposed_solve(a.view(), at.view());
  for (Index j = 0; j <= m; ++j) variance += at(j, 0) * at(j, 0);
  return error * error / variance;
}

TEST(PredictiveVariance, NoiseFitsTheErrorsOfRowsLeftOut) {
  const Data train = make_data(40, 0.3);
  const double lambda = 0.01;
  const Model model = fit_on(train, {{"features", "20"}, {"bandwidth", "1"}}, lambda);
  Matrix<float> z;
  Matrix<double> unused;
  apply(model, train.x, z, unused, unused);
  for (Index t = 0; t < 2; ++t) {
    double mean = 0;
    for (Index i = 0; i < 40; ++i) mean += standardised_square(z, train.y, i, t, 40 * lambda) / 40;
    EXPECT_NEAR(model.variance->noise[t], mean, 1e-6 * mean);
  }
}

// Gaussian noise around a smooth function: 90 % of 2,000 fresh targets, give or take five standard
// errors of sqrt(0.09/2000) and 1 % for the function's own uncertainty.
TEST(PredictiveVariance, CoversWhatItSaysOnDataOfItsKind) {
  const Data train = make_data(1000, 0.3), all = make_data(3000, 0.3);
  const Model model = fit_on(train, {{"features", "200"}, {"bandwidth", "2"}}, 0);
  EXPECT_NEAR(model.variance->noise[0], 0.09, 0.09 * 5 * std::sqrt(2.0 / 1000) + 0.005);
  Matrix<float> z;
  Matrix<double> scores, variance;
  apply(model, all.x, z, scores, variance);
  Index inside = 0;
  for (Index i = 1000; i < 3000; ++i)
    inside += std::abs(all.y(i, 0) - scores(i, 0)) <= 1.6449 * std::sqrt(variance(i, 0));
  EXPECT_NEAR(static_cast<double>(inside) / 2000, 0.9, 5 * std::sqrt(0.09 / 2000) + 0.01);
}

TEST(PredictiveVariance, SurvivesItsFileAndDoesNotDependOnBlocks) {
  const Data train = make_data(80, 0.3);
  const Model model = fit_on(train, {{"features", "24"}, {"bandwidth", "1"}}, 0.1);
  const std::string path =
      (std::filesystem::temp_directory_path() / ("kerf_variance_" + std::to_string(::getpid())))
          .string();
  save_model(model, path);
  const Model loaded = load_model(path);
  std::filesystem::remove(path);
  Matrix<float> z;
  Matrix<double> scores, a, b;
  apply(model, train.x, z, scores, a);
  apply(loaded, train.x, z, scores, b);
  for (Index i = 0; i < 80; ++i) EXPECT_EQ(a(i, 0), b(i, 0));
  Matrix<float> one(1, 2);
  std::ranges::copy(train.x.row(77), one.row(0).begin());
  apply(loaded, one, z, scores, b);
  EXPECT_EQ(a(77, 1), b(0, 1));
}

}  // namespace
}  // namespace kerf::detail
