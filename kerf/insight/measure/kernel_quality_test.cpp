// SPDX-License-Identifier: Apache-2.0
#include "kerf/insight/measure/kernel_quality.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kerf/api/error.h"
#include "kerf/core/random/random.h"
#include "kerf/core/system/parallel.h"
#include "kerf/features/feature_map.h"
#include "kerf/insight/measure/diagnose.h"
#include "kerf/linalg/blas.h"
#include "kerf/linalg/feature_gram.h"
#include "kerf/linalg/lanczos.h"
#include "tests/oracle/compare_spectra.h"
#include "tests/oracle/rows.h"

namespace kerf::detail {
namespace {

/// A kernel matrix as data have it: eigenvalues that fall quickly, k(x, x) = 1.
Matrix<double> rbf(const Matrix<float>& x) {
  Matrix<double> k(x.rows(), x.rows()), rows(x.rows(), x.cols());
  std::copy_n(x.data(), x.rows() * x.cols(), rows.data());
  find_kernel("gaussian").make({{"bandwidth", "2"}})->gram(rows.view(), rows.view(), k.view());
  return k;
}

Matrix<double> copy(const Matrix<double>& a) {
  Matrix<double> out(a.rows(), a.cols());
  std::copy_n(a.data(), a.rows() * a.cols(), out.data());
  return out;
}

Matrix<float> features(const Matrix<float>& x, Index count, std::uint64_t seed) {
  const FeatureMapEntry& entry = find_feature_map("rff");
  const auto map = entry.make(
      x.cols(), entry.complete({{"bandwidth", "2"}, {"features", std::to_string(count)}}),
      rng::Key{seed});
  Matrix<float> z(x.rows(), count);
  map->transform(x.view(), z.view());
  return z;
}

TEST(Lanczos, FindsTheEndsOfADenseSpectrum) {
  for (const Index n : {1, 2, 7, 60, 300, 700}) {  // more than the 400 steps it may take, too
    const Matrix<double> k = symmetric_feature_gram(oracle::normal_matrix(n, 2 * n, 5).view());
    Matrix<double> vectors = copy(k);
    std::vector<double> all(n);
    blas::symmetric_eigen(vectors.view(), all);
    const auto product = [&](std::span<const double> v, std::span<double> out) {
      symmetric_product(k.view(), v, out);
    };
    const auto ends = extreme_eigenvalues(n, product, SpectrumEnd::both);
    EXPECT_TRUE(ends.converged);
    EXPECT_NEAR(ends.largest, all.back(), 1e-6 * all.back());
    EXPECT_NEAR(ends.smallest, all.front(), 1e-4 * all.front() + 1e-9 * all.back());
    const auto leading = leading_eigenvalues(n, product, 3);
    ASSERT_GE(std::ssize(leading), std::min<Index>(n, 3));
    for (std::size_t i = 0; i < leading.size(); ++i)
      EXPECT_NEAR(leading[i], all[all.size() - 1 - i], 1e-6 * all.back());
  }
}

TEST(Lanczos, SaysWhenItDidNotConverge) {
  const Matrix<double> k = symmetric_feature_gram(oracle::normal_matrix(200, 400, 5).view());
  const auto product = [&](std::span<const double> v, std::span<double> out) {
    symmetric_product(k.view(), v, out);
  };
  EXPECT_FALSE(extreme_eigenvalues(200, product, SpectrumEnd::both, {1e-9, 8}).converged);
}

TEST(Lanczos, ProductsAreThoseOfTheDefinitionForAnyThreads) {
  const Index n = 130;
  Matrix<double> u = symmetric_feature_gram(oracle::normal_matrix(n, n, 1).view());
  std::vector<double> v(n), out(n), transposed(n), again(n);
  rng::fill_normal(rng::Key{2}, 0, v);
  upper_product(u.view(), v, out);
  upper_transposed_product(u.view(), v, transposed);
  for (Index i = 0; i < n; ++i) {
    double plain = 0, other = 0;
    for (Index j = i; j < n; ++j) plain += u(i, j) * v[j];
    for (Index j = 0; j <= i; ++j) other += u(j, i) * v[j];
    EXPECT_NEAR(out[i], plain, 1e-11);
    EXPECT_NEAR(transposed[i], other, 1e-11);
  }
  const int before = threads();
  set_threads(before == 1 ? 2 : 1);
  upper_transposed_product(u.view(), v, again);
  set_threads(before);
  EXPECT_EQ(transposed, again);
}

// Every number against the dense oracle (spectral.h) or its definition, in double.
TEST(KernelQuality, EqualsTheDenseOracle) {
  for (const Index n : {3, 40, 250}) {
    const Matrix<float> x = oracle::normal_matrix(n, 3, 11);
    const Matrix<double> k = rbf(x);
    for (const double lambda : {1e-1, 1e-4}) {
      const double ridge = lambda * static_cast<double>(n);
      const ExactSide exact(copy(k), ridge);
      for (const Index m : {16, 512}) {
        const Matrix<float> z = features(x, m, 3);
        const Matrix<double> ka = symmetric_feature_gram(z.view());
        const auto oracle = compare_spectra(k.view(), ka.view(), ridge);
        const auto found = exact.compare(z.view());
        EXPECT_TRUE(found.converged);
        const auto& q = found.spectral;
        EXPECT_NEAR(q.epsilon, oracle.epsilon, 1e-6 * oracle.largest);
        EXPECT_NEAR(q.condition_number / oracle.condition_number, 1, 1e-5);
        EXPECT_NEAR(q.smallest, oracle.smallest, 1e-6);
        EXPECT_NEAR(q.statistical_dimension, oracle.statistical_dimension, 1e-8);
        EXPECT_NEAR(q.relative_frobenius, oracle.relative_frobenius, 1e-12);
        EXPECT_NEAR(q.spectral_error, oracle.spectral_error, 1e-7);
        double sum = 0, squares = 0, most = 0;
        for (Index i = 0; i < n; ++i)
          for (Index j = 0; j < n; ++j) {
            const double error = std::abs(ka(i, j) - k(i, j));
            sum += error;
            squares += error * error;
            most = std::max(most, error);
          }
        const double count = static_cast<double>(n * n);
        EXPECT_NEAR(found.entries.mean, sum / count, 1e-12);
        EXPECT_NEAR(found.entries.rms, std::sqrt(squares / count), 1e-12);
        EXPECT_EQ(found.entries.max, most);
        const double there = ka(found.entries.max_row, found.entries.max_col) -
                             k(found.entries.max_row, found.entries.max_col);
        EXPECT_EQ(std::abs(there), most);
      }
    }
  }
}

TEST(KernelQuality, CorrelationIsPearsons) {
  const Matrix<float> x = oracle::normal_matrix(20, 2, 4), z = features(x, 32, 1);
  const Matrix<double> k = rbf(x), ka = symmetric_feature_gram(z.view());
  double mk = 0, ma = 0, vk = 0, va = 0, c = 0;
  for (Index i = 0; i < 400; ++i) mk += k.data()[i] / 400, ma += ka.data()[i] / 400;
  for (Index i = 0; i < 400; ++i) {
    const double a = k.data()[i] - mk, b = ka.data()[i] - ma;
    vk += a * a;
    va += b * b;
    c += a * b;
  }
  EXPECT_NEAR(ExactSide(copy(k), 1).compare(z.view()).entries.correlation, c / std::sqrt(vk * va),
              1e-12);
}

TEST(KernelQuality, FeaturesThatSayNothingHaveNoCorrelation) {
  const Matrix<float> x = oracle::normal_matrix(20, 2, 4);
  Matrix<float> zeros(20, 3);
  zeros.fill(0);
  const ExactSide exact(rbf(x), 1);
  EXPECT_EQ(exact.compare(zeros.view()).entries.correlation, 0);
  Matrix<double> constant(20, 20);
  constant.fill(1);
  EXPECT_EQ(ExactSide(std::move(constant), 1).compare(zeros.view()).entries.correlation, 1);
}

// The inequality itself: bounds of the risk with Ka from dense matrices.
TEST(KernelQuality, RiskBoundHolds) {
  const Index n = 60;
  const Matrix<float> x = oracle::normal_matrix(n, 2, 9);
  const Matrix<double> k = rbf(x);
  int checked = 0;
  for (const double lambda : {1e-1, 1e-2}) {
    const double ridge = lambda * n, noise = 0.3;
    const ExactSide exact(copy(k), ridge);
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const Matrix<float> z = features(x, 512, seed);
      const auto found = exact.compare(z.view());
      if (found.spectral.epsilon >= 1) continue;
      ++checked;
      const auto bound = [&](const Matrix<double>& kernel) {
        Matrix<double> a = copy(kernel), f(n, 1);
        for (Index i = 0; i < n; ++i) a(i, i) += ridge, f(i, 0) = std::sin(2 * x(i, 0)) + x(i, 1);
        EXPECT_EQ(blas::cholesky(a.view()), 0);
        Matrix<double> solved = copy(f);
        blas::cholesky_solve(a.view(), solved.view());
        double value = 0;
        for (Index i = 0; i < n; ++i) value += ridge / n * f(i, 0) * solved(i, 0);
        return value + noise * ExactSide(copy(kernel), ridge).statistical_dimension() / n;
      };
      EXPECT_LE(bound(symmetric_feature_gram(z.view())),
                bound(k) * found.risk_factor + noise * found.risk_noise);
    }
  }
  EXPECT_GE(checked, 15) << "of 20";
}

TEST(KernelQuality, SpectraAreThoseOfTheMatrices) {
  const Matrix<float> x = oracle::normal_matrix(50, 3, 2), z = features(x, 8, 1);
  const ExactSide exact(rbf(x), 0.1);
  const auto spectrum = exact.spectrum();
  ASSERT_EQ(spectrum.size(), 50u);
  EXPECT_TRUE(std::ranges::is_sorted(spectrum, std::greater{}));
  double sum = 0, dimension = 0;
  for (const double v : spectrum) sum += v, dimension += v / (v + 0.1);
  EXPECT_NEAR(sum, 50, 1e-10);
  EXPECT_NEAR(dimension, exact.statistical_dimension(), 1e-9);
  EXPECT_NEAR(spectrum[0], exact.norm(), 1e-8 * spectrum[0]);
  const auto ours = exact.compare(z.view(), true).spectrum;
  ASSERT_EQ(ours.size(), 50u);
  EXPECT_NEAR(ours[8], 0, 1e-6);  // rank 8
}

TEST(KernelQuality, LeadingEigenvaluesOfManyRowsAreThoseOfTheDenseMatrix) {
  const Index n = kDenseRows + 80;
  const Matrix<float> x = oracle::normal_matrix(n, 3, 2);
  const Matrix<double> k = rbf(x);
  const auto leading = ExactSide(copy(k), 1).spectrum();
  ASSERT_GE(std::ssize(leading), kLeadingEigenvalues);
  Matrix<double> vectors = copy(k);
  std::vector<double> all(n);
  blas::symmetric_eigen(vectors.view(), all);
  for (std::size_t i = 0; i < static_cast<std::size_t>(kLeadingEigenvalues); ++i)
    EXPECT_NEAR(leading[i], all[all.size() - 1 - i], 1e-5 * all.back()) << i;
}

TEST(KernelQuality, RefusesWhatMakesNoSense) {
  Matrix<double> k(3, 2);
  EXPECT_THROW(ExactSide(std::move(k), 1), Error);
  EXPECT_THROW(ExactSide(Matrix<double>(3, 3), 0), Error);
  EXPECT_THROW(parse_sizes("12,x"), Error);
  EXPECT_THROW(parse_sizes(""), Error);
  EXPECT_EQ(parse_sizes("512,64,512"), (std::vector<Index>{64, 512}));
}

TEST(Interval, IsStudents) {
  const double values[] = {1, 2, 3, 4};
  const auto found = interval_of(values);
  EXPECT_DOUBLE_EQ(found.mean, 2.5);
  EXPECT_NEAR(found.sd, std::sqrt(5.0 / 3), 1e-15);
  EXPECT_NEAR(found.high - found.mean, 3.182446305 * found.sd / 2, 1e-8);  // table: t(0.975, 3)
  const double one[] = {7};
  EXPECT_EQ(interval_of(one).low, 7);
  const double infinite[] = {1, INFINITY};
  EXPECT_EQ(interval_of(infinite).mean, INFINITY);
}

TEST(Diagnose, AveragesOverSeedsOfOneSample) {
  const Matrix<float> x = oracle::normal_matrix(300, 3, 8);
  MemorySource source(x.view(), {}, 64);
  const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
  DiagnoseOptions options;
  options.sample = 120;
  options.lambda = 1e-2;
  options.seeds = 20;
  const auto found = diagnose(source, summary, "rff", {{"bandwidth", "2"}}, {64, 1024}, options);
  ASSERT_EQ(found.sizes.size(), 2u);
  EXPECT_EQ(found.sample, 120);
  EXPECT_EQ(found.sizes[0].maps.size(), 20u);
  for (const auto& metric : quality_metrics()) {
    const auto interval = quality_interval(found.sizes[1].maps, metric.name);
    EXPECT_LE(metric.least, interval.low) << metric.name;
    EXPECT_LE(interval.high, metric.most) << metric.name;
    EXPECT_LT(interval.low, interval.high) << metric.name << ": twenty seeds, twenty values";
  }
  // The mean square of the error is inversely proportional to m, exactly: 16 times from 64 to
  // 1,024.
  const auto square = [&](std::size_t size) {
    std::vector<double> values;
    for (const auto& map : found.sizes[size].maps)
      values.push_back(std::pow(map.spectral.relative_frobenius, 2));
    return interval_of(values);
  };
  const Interval few = square(0), many = square(1);
  const double error = std::hypot(few.sd / few.mean, many.sd / many.mean) / std::sqrt(20.0);
  EXPECT_NEAR(few.mean / many.mean / 16, 1, 4 * error);
  EXPECT_LT(4 * error, 0.75) << "else it says nothing";
  EXPECT_EQ(diagnose(source, summary, "nystrom", {}, {300}, options).sizes.size(), 1u);
  options.sample = 100000;
  EXPECT_THROW(diagnose(source, summary, "rff", {}, {64}, options, 1000), Error);
}

TEST(Diagnose, PromisesWhatTheWorstSeedKeeps) {
  Diagnosis d;
  d.lambda = 1e-3;
  d.sizes.push_back({64, std::vector<KernelQuality>(2)});
  d.sizes[0].maps[0].spectral.epsilon = 0.5;
  d.sizes[0].maps[1].spectral.epsilon = 0.75;
  EXPECT_NE(describe_quality(d).find("at most 4 times"), std::string::npos) << describe_quality(d);
  d.sizes[0].maps[1].spectral.epsilon = 1.01;  // on average still below 1
  EXPECT_NE(describe_quality(d).find("promises nothing"), std::string::npos);
}

}  // namespace
}  // namespace kerf::detail
