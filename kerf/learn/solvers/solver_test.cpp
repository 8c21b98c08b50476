// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/solvers/solver.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kerf/api/error.h"
#include "kerf/core/system/parallel.h"
#include "kerf/learn/fit/trainer.h"
#include "kerf/learn/rows/fold_buffers.h"
#include "kerf/linalg/blas.h"
#include "kerf/linalg/row_products.h"
#include "tests/oracle/fits.h"

namespace kerf::detail {
namespace {

using namespace oracle;

/// The oracle: predictions of ridge regression on the features, all in double.
class Reference {
 public:
  Reference(const Matrix<float>& z, const Matrix<double>& y)
      : z_(z.rows(), z.cols()), y_(y.rows(), y.cols()), gram_(z.cols(), z.cols()) {
    centre(z, z_, mean_z_);
    centre(y, y_, mean_y_);
    blas::gemm(true, false, 1.0, z_.view(), z_.view(), 0.0, gram_.view());
    Matrix<double> copy(z.cols(), z.cols());
    std::copy_n(gram_.data(), z.cols() * z.cols(), copy.data());
    std::vector<double> values(z.cols());
    blas::symmetric_eigen(copy.view(), values);
    largest_ = values.back();
  }

  /// The lambda at which the system has this condition number.
  double lambda_for(double condition) const {
    return largest_ / (static_cast<double>(z_.rows()) * condition);
  }

  Matrix<double> predictions(double lambda) const {
    Matrix<double> a(gram_.rows(), gram_.cols()), w(gram_.rows(), y_.cols()),
        out(y_.rows(), y_.cols());
    std::copy_n(gram_.data(), gram_.rows() * gram_.cols(), a.data());
    for (Index j = 0; j < a.rows(); ++j) a(j, j) += lambda * static_cast<double>(z_.rows());
    EXPECT_EQ(blas::cholesky(a.view()), 0);
    blas::gemm(true, false, 1.0, z_.view(), y_.view(), 0.0, w.view());
    blas::cholesky_solve(a.view(), w.view());
    blas::gemm(false, false, 1.0, z_.view(), w.view(), 0.0, out.view());
    for (Index i = 0; i < out.rows(); ++i)
      for (Index t = 0; t < out.cols(); ++t) out(i, t) += mean_y_[t];
    return out;
  }

 private:
  template <class T>
  static void centre(const Matrix<T>& from, Matrix<double>& to, std::vector<double>& mean) {
    mean.assign(from.cols(), 0.0);
    for (Index i = 0; i < from.rows(); ++i)
      for (Index j = 0; j < from.cols(); ++j)
        mean[j] += from(i, j) / static_cast<double>(from.rows());
    for (Index i = 0; i < from.rows(); ++i)
      for (Index j = 0; j < from.cols(); ++j) to(i, j) = from(i, j) - mean[j];
  }
  Matrix<double> z_, y_, gram_;
  std::vector<double> mean_z_, mean_y_;
  double largest_ = 0;
};

/// Of predictions, relative to how far the exact ones are spread around their mean (the targets'
/// mean of 5 is no merit of a solver).
double relative_difference(const Model& model, const Data& data, const Matrix<double>& exact) {
  const Matrix<double> scores = scores_of(model, data);
  double difference = 0, size = 0;
  for (Index t = 0; t < exact.cols(); ++t) {
    double mean = 0;
    for (Index i = 0; i < exact.rows(); ++i)
      mean += exact(i, t) / static_cast<double>(exact.rows());
    for (Index i = 0; i < exact.rows(); ++i) {
      difference += std::pow(scores(i, t) - exact(i, t), 2);
      size += std::pow(exact(i, t) - mean, 2);
    }
  }
  return std::sqrt(difference / size);
}

struct Case {
  std::string solver;
  Precision precision;
  double condition;
};

class EverySolver : public ::testing::TestWithParam<Case> {};

// Single-precision sums are good for condition numbers up to 1e5, double ones up to 1e10 (docs).
TEST_P(EverySolver, AgreesWithADoubleReference) {
  const auto& [solver, precision, condition] = GetParam();
  const bool dual = solver == "dual";
  const Data data = smooth_targets(dual ? 150 : 3000, 3);
  FitOptions options;
  options.solver = solver;
  options.precision = precision;
  options.lambda = 1;
  const std::string features = dual ? "200" : "128";
  const Model any = fit_targets(data, features, options).model;
  const Reference reference(features_of(any, data), data.y);
  options.lambda = reference.lambda_for(condition);
  const auto [model, report] = fit_targets(data, features, options);
  EXPECT_LT(relative_difference(model, data, reference.predictions(*options.lambda)), 1e-4);
  if (solver == "pcg") {
    EXPECT_LE(report.residual, precision == Precision::single_ ? 1e-6 : 1e-10);
    EXPECT_LE(report.passes, precision == Precision::single_ ? 25 : 45);
  }
}
INSTANTIATE_TEST_SUITE_P(All, EverySolver,
                         ::testing::Values(Case{"cholesky", Precision::single_, 1e5},
                                           Case{"cholesky", Precision::double_, 1e10},
                                           Case{"dual", Precision::single_, 1e5},
                                           Case{"dual", Precision::double_, 1e10},
                                           Case{"pcg", Precision::single_, 1e3},
                                           Case{"pcg", Precision::single_, 1e5},
                                           Case{"pcg", Precision::double_, 1e10}));

TEST(Pcg, GivesTheSameInEveryFormOfTheFeatures) {
  const Data data = smooth_targets(3000, 2);
  FitOptions options;
  options.solver = "pcg";
  options.lambda = 1e-4;
  const auto full = fit_targets(data, "128", options);
  ASSERT_EQ(full.report.notes.front(), "features kept");
  const Index all = full.report.estimated_memory, single = 4 * 3000 * 128;
  const auto half = fit_targets(data, "128", options, all - single / 4);
  const auto again = fit_targets(data, "128", options, all - single);
  EXPECT_EQ(half.report.notes.front(), "features kept in 16 bits");
  EXPECT_EQ(again.report.notes.front(), "features made again for each pass");
  const Reference reference(features_of(full.model, data), data.y);
  const Matrix<double> exact = reference.predictions(1e-4);
  for (const auto* result : {&full, &half, &again})
    EXPECT_LT(relative_difference(result->model, data, exact), 1e-4);
}

/// Rows of the data, with those of one fold or without them.
Data fold_of(const Data& data, Index fold, bool with) {
  const rng::Key key = rng::Key{1}.child("fold");
  std::vector<Index> rows;
  for (Index i = 0; i < data.x.rows(); ++i)
    if ((FoldBuffers::fold_of(key, i, 1, 5) == fold) == with) rows.push_back(i);
  Data part{Matrix<float>(std::ssize(rows), 3), Matrix<double>(std::ssize(rows), data.y.cols())};
  for (Index i = 0; i < part.x.rows(); ++i) {
    std::ranges::copy(data.x.row(rows[i]), part.x.row(i).begin());
    std::ranges::copy(data.y.row(rows[i]), part.y.row(i).begin());
  }
  return part;
}

// The oracle: cholesky in double precision on four folds, its error on the fifth.  Systems of the
// choice are solved until the residual is 1e-3: that part of the fit, which is about three times
// the error itself here, is missing, and the error is off by the square of it and by the product
// with what is left, a part of 1e-2 at most.
TEST(Pcg, JudgesLambdaByTheErrorOnTheFoldHeldOut) {
  const Data data = smooth_targets(1500, 2), rest = fold_of(data, 0, false),
             out = fold_of(data, 0, true);
  FitOptions options;
  options.solver = "pcg";
  options.lambda_grid = "1e-5,1e-3,1e-1";
  options.scale = ScaleKind::none;
  const auto judged = fit_targets(data, "256", options).report;
  ASSERT_EQ(judged.path.size(), 3u);
  options.solver = "cholesky";
  options.precision = Precision::double_;
  options.lambda_grid.clear();
  double least = 1e300, best = 0;
  for (const auto& [lambda, cv_error] : judged.path) {
    options.lambda = lambda;
    const Matrix<double> scores = scores_of(fit_targets(rest, "256", options).model, out);
    double error = 0;
    for (Index i = 0; i < out.y.rows(); ++i)
      for (Index t = 0; t < 2; ++t)
        error += std::pow(scores(i, t) - out.y(i, t), 2) / static_cast<double>(2 * out.y.rows());
    EXPECT_NEAR(cv_error, error, 0.01 * error) << lambda;
    if (error < least) least = error, best = lambda;
  }
  EXPECT_EQ(judged.lambda, best);
}

// Some of 60 folds of 60 rows are empty, the first one in a third of the seeds.
TEST(HeldOutFold, HasRows) {
  const Data data = smooth_targets(60, 1);
  for (const std::string solver : {"pcg", "sgd"})
    for (Index seed = 1; seed <= 8; ++seed) {
      FitOptions options;
      options.solver = solver;
      options.folds = 60;
      options.seed = seed;
      const auto report = fit_targets(data, "8", options).report;
      ASSERT_TRUE(report.cv_error.has_value());
      EXPECT_TRUE(std::isfinite(*report.cv_error) && *report.cv_error > 0) << seed;
    }
}

TEST(HeldOutFold, IsAskedForWhereNoRowsOfWeightAreLeft) {
  const Data data = smooth_targets(60, 1);
  std::vector<double> weights(60, 0.0);
  weights[7] = 1;
  MemorySource source(data.x.view(), data.y.view(), 100, weights);
  const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
  const std::pair<std::string, const char*> cases[] = {{"pcg", "give lambda"},
                                                       {"sgd", "fewer folds"}};
  for (const auto& [solver, words] : cases) {
    FitOptions options;
    options.solver = solver;
    options.folds = 60;
    try {
      fit(source, summary, "rff", {{"features", "8"}}, options);
      ADD_FAILURE() << words;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }
}

TEST(Sgd, TellsTheMeanErrorOverTargets) {
  const Data one = smooth_targets(400, 1);
  Data three{Matrix<float>(400, 3), Matrix<double>(400, 3)};
  for (Index i = 0; i < 400; ++i) {
    std::ranges::copy(one.x.row(i), three.x.row(i).begin());
    std::ranges::fill(three.y.row(i), one.y(i, 0));
  }
  FitOptions options;
  options.solver = "sgd";
  options.sgd.learning_rate = 0.1;
  const double alone = *fit_targets(one, "64", options).report.cv_error;
  EXPECT_NEAR(*fit_targets(three, "64", options).report.cv_error, alone, 1e-5 * alone);
}

// A step along the gradient of the penalty overshot and overflowed: weights stayed where the first
// batches had left them, as if lambda were 0.
TEST(Sgd, ObeysALambdaOfAnySize) {
  const Data data = smooth_targets(600, 1);
  FitOptions options;
  options.solver = "sgd";
  options.sgd.epochs = 30;
  const auto spread = [&](Schedule schedule, double lambda) {
    options.sgd.schedule = schedule;
    options.lambda = lambda;
    const Matrix<double> scores = scores_of(fit_targets(data, "64", options).model, data);
    const auto all = std::span(scores.data(), scores.rows());
    return std::ranges::max(all) - std::ranges::min(all);
  };
  for (const Schedule schedule : {Schedule::adagrad, Schedule::inverse, Schedule::constant}) {
    // Weights are the gradient, below 10 here, over 2 lambda; predictions at most 8 times that.
    EXPECT_LT(spread(schedule, 1e20), 1e-18);
    EXPECT_LT(spread(schedule, 1e300), 1e-18);
    EXPECT_GT(spread(schedule, 0), 2);
    // Where the penalty rules, a hundred times of it is a hundredth of the weights.
    const double some = spread(schedule, 1e2), more = spread(schedule, 1e4);
    EXPECT_GT(some, 30 * more);
    EXPECT_LT(some, 300 * more);
  }
}

TEST(Pcg, DoesNotDependOnTheNumberOfThreads) {
  const Data data = smooth_targets(1000, 2);
  FitOptions options;
  options.solver = "pcg";
  options.lambda = 1e-3;
  const auto weights = [&](int count) {
    const int before = threads();
    set_threads(count);
    const auto result = fit_targets(data, "64", options);
    set_threads(before);
    const auto& w = result.model.linear.weights;
    return std::vector<double>(w.data(), w.data() + w.rows() * w.cols());
  };
  const auto one = weights(1), two = weights(2);
  for (std::size_t j = 0; j < one.size(); ++j) EXPECT_NEAR(one[j], two[j], 1e-8);
}

TEST(RowProducts, SixteenBitsAreWithinHalfAStepOfTheRowsScale) {
  for (const std::size_t count : {1u, 7u, 8u, 63u, 200u}) {
    std::vector<float> row(count), back(count);
    rng::fill_normal(rng::Key{3}, 0, row);
    std::vector<std::int16_t> kept(count);
    const float scale = encode16(row, kept.data());
    decode16(kept.data(), scale, back);
    float largest = 0;
    for (const float value : row) largest = std::max(largest, std::abs(value));
    EXPECT_NEAR(scale, largest / 32767, 1e-6 * scale);
    for (std::size_t j = 0; j < count; ++j)
      ASSERT_LE(std::abs(row[j] - back[j]), 0.5001f * scale + 1e-7f * std::abs(row[j]));
  }
  std::vector<float> zeros(5, 0.0f);
  std::vector<std::int16_t> kept(5, 1);
  EXPECT_EQ(encode16(zeros, kept.data()), 0);
  EXPECT_EQ(kept, std::vector<std::int16_t>(5, 0));
}

TEST(RowProducts, EqualTheObviousSums) {
  for (const Index rows : {1, 4, 6, 64})
    for (const Index vectors : {1, 3, 4, 9}) {
      Matrix<float> z(rows, 37), v(vectors, 37), p(rows, vectors), g(vectors, 37);
      rng::fill_normal(rng::Key{1}, 0, std::span(z.data(), rows * 37));
      rng::fill_normal(rng::Key{2}, 0, std::span(v.data(), vectors * 37));
      rows_times(z.view(), v.view(), p.view());
      times_rows(p.view(), z.view(), g.view());
      for (Index k = 0; k < vectors; ++k) {
        std::vector<double> sum(37, 0.0);
        for (Index i = 0; i < rows; ++i) {
          double dot = 0;
          for (Index j = 0; j < 37; ++j) dot += double{z(i, j)} * v(k, j);
          ASSERT_NEAR(p(i, k), dot, 1e-4);
          for (Index j = 0; j < 37; ++j) sum[j] += dot * z(i, j);
        }
        for (Index j = 0; j < 37; ++j) ASSERT_NEAR(g(k, j), sum[j], 1e-3);
      }
    }
}

}  // namespace
}  // namespace kerf::detail
