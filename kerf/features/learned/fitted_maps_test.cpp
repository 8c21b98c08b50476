// Maps that learn from rows: nystrom and tefm against obvious versions in memory.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "kerf/api/error.h"
#include "kerf/features/learned/fitted_map.h"
#include "kerf/features/learned/kernel_columns.h"
#include "kerf/features/learned/nystrom_features.h"
#include "kerf/features/learned/tefm_features.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

Matrix<float> gaussian_rows(Index rows, Index cols, std::uint64_t seed, float scale = 1) {
  Matrix<float> x(rows, cols);
  rng::fill_normal(rng::Key{seed}, 0, {x.data(), static_cast<std::size_t>(rows * cols)});
  for (Index i = 0; i < rows; ++i)
    for (float& v : x.row(i)) v *= scale;
  return x;
}

Matrix<double> wide(const Matrix<float>& x) {
  Matrix<double> out(x.rows(), x.cols());
  std::copy_n(x.data(), x.rows() * x.cols(), out.data());
  return out;
}

Matrix<float> features(const FeatureMap& map, const Matrix<float>& x) {
  Matrix<float> z(x.rows(), map.out_dim());
  map.transform(x.view(), z.view());
  return z;
}

double dot(std::span<const float> a, std::span<const float> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

MapState fit(const char* map, const Matrix<float>& x, const Params& params, Index block = 4096) {
  MemorySource source(x.view(), {}, block);
  return find_feature_map(map).fit(source, params, rng::Key{7}, {});
}

// ---- kernel columns -----------------------------------------------------------------------------

// Single precision: 3e-7 of |p|^2 + |q|^2 in the squared distance, relative to the kernel's range.
TEST(KernelColumns, AreTheValuesOfEveryKernel) {
  const Matrix<float> y = gaussian_rows(37, 5, 1);
  Matrix<float> x = gaussian_rows(50, 5, 2);
  std::copy_n(y.data(), 5, x.row(3).data());                          // an equal row,
  for (Index k = 0; k < 5; ++k) x(4, k) = -2 * y(1, k), x(5, k) = 0;  // an opposite one, a zero
  for (const KernelEntry& entry : kernels()) {
    Params params;
    for (const auto& option : entry.options()) {
      if (option.name == "bandwidth") params["bandwidth"] = "1.7";
      if (option.name == "image") params["image"] = "1x5x1";
      if (option.name == "bias") params["bias"] = "0.4";
    }
    const auto kernel = entry.make(params);
    Matrix<double> exact(50, 37);
    kernel->gram(wide(x).view(), wide(y).view(), exact.view());
    Matrix<float> rows(37, 5);
    std::copy_n(y.data(), 37 * 5, rows.data());
    const Matrix<float> z = features(KernelColumns(entry.make(params), std::move(rows)), x);
    for (Index i = 0; i < 50; ++i)
      for (Index j = 0; j < 37; ++j)
        ASSERT_NEAR(z(i, j), exact(i, j), 2e-5 * (1 + std::abs(exact(i, j))))
            << entry.name << " " << i << " " << j;
  }
}

// ---- nystrom ------------------------------------------------------------------------------------

// <z(x), z(y)> = k_m(x)^T (K_mm + e I)^-1 k_m(y): the error of k_m in single precision, 3e-7 a
// value, grows by at most 1/sqrt(e) = 1e3 in z, sqrt(m) of them at random.
void expect_projection(const char* kernel_name, const Params& kernel_options) {
  const Matrix<float> x = gaussian_rows(120, 12, 3);
  for (const char* landmarks : {"uniform", "leverage", "centres"}) {
    Params params = kernel_options;
    params.insert({{"features", "30"}, {"kernel", kernel_name}, {"landmarks", landmarks}});
    const MapState state = fit("nystrom", x, params);
    const Matrix<double> y = wide(state.at("landmarks"));
    ASSERT_EQ(y.rows(), 30);
    const auto kernel = find_kernel(kernel_name).make(kernel_options);
    Matrix<double> k(30, 30), columns(30, 120), solved(30, 120);
    kernel->gram(y.view(), y.view(), k.view());
    double diagonal = 0;
    for (Index i = 0; i < 30; ++i) diagonal += k(i, i) / 30;
    for (Index i = 0; i < 30; ++i) k(i, i) += 1e-6 * diagonal;
    kernel->gram(y.view(), wide(x).view(), columns.view());
    std::copy_n(columns.data(), 30 * 120, solved.data());
    ASSERT_EQ(blas::cholesky(k.view()), 0);
    blas::cholesky_solve(k.view(), solved.view());
    const auto map = find_feature_map("nystrom").restore(12, params, rng::Key{7}, state);
    const Matrix<float> z = features(*map, x);
    for (Index i = 0; i < 120; ++i)
      for (Index j = 0; j < 120; ++j) {
        double expected = 0;
        for (Index l = 0; l < 30; ++l) expected += columns(l, i) * solved(l, j);
        const double size = std::sqrt((*kernel)(wide(x).row(i), wide(x).row(i)) *
                                      (*kernel)(wide(x).row(j), wide(x).row(j)));
        ASSERT_NEAR(dot(z.row(i), z.row(j)), expected, 2 * std::sqrt(30.0) * 3e-7 * 1e3 * size)
            << kernel_name;
      }
  }
}

TEST(Nystrom, IsTheProjectionOnItsLandmarks) {
  expect_projection("laplacian-l2", {{"bandwidth", "4"}});
}

TEST(Nystrom, TakesKernelsOfImagesAndOfSkeletons) {
  expect_projection("cntk", {{"image", "2x2x3"}, {"depth", "2"}, {"mirror", "true"}});
  expect_projection("skeleton", {{"skeleton", "circle 1, full relu"}, {"image", "2x2x3"}});
}

TEST(Nystrom, FillsUpWithZerosWhereThereAreFewerRows) {
  const Matrix<float> x = gaussian_rows(9, 4, 4);
  const Params params = {{"features", "20"}, {"bandwidth", "1"}};
  const MapState state = fit("nystrom", x, params);
  EXPECT_EQ(state.at("landmarks").rows(), 9);
  const auto map = find_feature_map("nystrom").restore(4, params, rng::Key{7}, state);
  const Matrix<float> z = features(*map, x);
  ASSERT_EQ(z.cols(), 20);
  for (Index i = 0; i < 9; ++i) {
    EXPECT_NEAR(dot(z.row(i), z.row(i)), 1, 1e-3);  // every row is a landmark
    for (Index j = 9; j < 20; ++j) EXPECT_EQ(z(i, j), 0);
  }
}

// 10 isolated rows beside a tight cluster of 990.  Each is drawn uniformly with probability 2 %; by
// its leverage nearly surely, unless it was in the sample of 20 rows behind the scores (2 % each:
// more than two of ten have probability 9e-4).
TEST(Nystrom, DrawsIsolatedRowsByTheirLeverage) {
  Matrix<float> x = gaussian_rows(1000, 4, 5, 0.01f);
  for (Index i = 0; i < 10; ++i) x(100 * i, i % 4) = static_cast<float>(20 + 20 * i);
  const auto isolated = [&](const char* landmarks) {
    const MapState state =
        fit("nystrom", x, {{"features", "20"}, {"bandwidth", "1"}, {"landmarks", landmarks}});
    int count = 0;
    for (Index i = 0; i < 20; ++i)
      count += dot(state.at("landmarks").row(i), state.at("landmarks").row(i)) > 100 ? 1 : 0;
    return count;
  };
  EXPECT_GE(isolated("leverage"), 8);
  EXPECT_LE(isolated("uniform"), 4);
}

// ---- tefm ---------------------------------------------------------------------------------------

struct TefmCase {
  const char* variant;
  const char* power;
};
constexpr TefmCase kTefm[] = {{"g", "0"}, {"g", "1"}, {"g", "2"}, {"s", "0"}};

Params tefm_params(const TefmCase& c, Index features_, const char* bandwidth = "1.5") {
  return {{"features", std::to_string(features_)},
          {"bandwidth", bandwidth},
          {"variant", c.variant},
          {"power", c.power}};
}

/// F, n x D, in double.
Matrix<double> base_features(const Matrix<float>& x, const Params& params) {
  const auto options = map_options<TefmFeatures>(params);
  const auto base = TefmFeatures::base_map(options).make(
      x.cols(), TefmFeatures::base_params(options), rng::Key{7}.child("base"));
  return wide(features(*base, x));
}

/// |v - Q Q^T v| for a vector v of length 1.
double outside(const Matrix<float>& q, std::span<const double> v) {
  std::vector<double> rest(v.begin(), v.end());
  for (Index j = 0; j < q.cols(); ++j) {
    double product = 0;
    for (Index i = 0; i < q.rows(); ++i) product += q(i, j) * v[i];
    for (Index i = 0; i < q.rows(); ++i) rest[i] -= product * q(i, j);
  }
  return std::sqrt(std::inner_product(rest.begin(), rest.end(), rest.begin(), 0.0));
}

TEST(Tefm, HasOrthonormalColumns) {
  const Matrix<float> x = gaussian_rows(300, 4, 6);
  for (const TefmCase& c : kTefm) {
    const MapState state = fit("tefm", x, tefm_params(c, 12));
    const Matrix<float>& q = state.at(kCompression);
    ASSERT_EQ(q.rows(), 48);
    for (Index a = 0; a < 12; ++a)
      for (Index b = 0; b <= a; ++b) {
        double product = 0;
        for (Index i = 0; i < 48; ++i) product += double{q(i, a)} * q(i, b);
        EXPECT_NEAR(product, a == b ? 1 : 0, 1e-5);
      }
  }
}

// The span of (F^T F)^q F^T T, all in memory and in double.  Q is found from sums in single
// precision: relative error 1e-6, times the condition of Y's columns (below 1e2 here).
TEST(Tefm, SpansWhatTheRangeFinderInMemorySpans) {
  constexpr Index kRows = 2500, kFeatures = 6, kWide = 24;
  const Matrix<float> x = gaussian_rows(kRows, 4, 8);
  for (const TefmCase& c : {kTefm[0], kTefm[1]}) {
    const Params params = tefm_params(c, kFeatures);
    const Matrix<double> f = base_features(x, params);
    Matrix<double> y(kFeatures, kWide);
    y.fill(0);
    std::vector<double> t(kFeatures);
    for (Index i = 0; i < kRows; ++i) {
      rng::fill_normal(rng::Key{7}.child("gaussian"), static_cast<std::uint64_t>(i * kFeatures),
                       std::span(t));
      for (Index j = 0; j < kFeatures; ++j)
        for (Index k = 0; k < kWide; ++k) y(j, k) += t[j] * f(i, k);
    }
    if (std::string_view(c.power) == "1") {
      Matrix<double> fy(kRows, kFeatures);
      blas::gemm(false, true, 1.0, f.view(), y.view(), 0.0, fy.view());
      blas::gemm(true, false, 1.0, fy.view(), f.view(), 0.0, y.view());
    }
    blas::orthonormalise_rows(y.view());
    const MapState state = fit("tefm", x, params);
    for (Index j = 0; j < kFeatures; ++j)
      EXPECT_LT(outside(state.at(kCompression), y.row(j)), 1e-4) << c.power;
  }
}

// Rows of which only 5 are different: F has rank 5, and 8 features hold all of it.
TEST(Tefm, FindsAnExactRowSpace) {
  const Matrix<float> few = gaussian_rows(5, 3, 9);
  Matrix<float> x(400, 3);
  for (Index i = 0; i < 400; ++i) std::copy_n(few.row(i % 5).data(), 3, x.row(i).data());
  for (const TefmCase& c : kTefm) {
    const Params params = tefm_params(c, 8);
    const MapState state = fit("tefm", x, params);
    const Matrix<double> f = base_features(few, params);
    for (Index i = 0; i < 5; ++i) EXPECT_LT(outside(state.at(kCompression), f.row(i)), 1e-4);
  }
}

// A wide Gaussian kernel has a spectrum that falls quickly.  The k leading right singular vectors
// lie in the range of Y but for a sine of at most about (s_{m+1} / s_k)^(2q + 1) times the norms of
// two Gaussian matrices, here below 100.
TEST(Tefm, ContainsTheLeadingSingularVectors) {
  constexpr Index kRows = 600, kFeatures = 16, kWide = 64, kLead = 4;
  const Matrix<float> x = gaussian_rows(kRows, 3, 10);
  for (const TefmCase& c : kTefm) {
    const Params params = tefm_params(c, kFeatures, "12");
    const Matrix<double> f = base_features(x, params);
    Matrix<double> vectors(kWide, kWide);
    blas::gemm(true, false, 1.0, f.view(), f.view(), 0.0, vectors.view());
    std::vector<double> values(kWide);
    blas::symmetric_eigen(vectors.view(), values);
    const double next = std::sqrt(std::max(0.0, values[kWide - 1 - kFeatures]));
    const MapState state = fit("tefm", x, params);
    for (Index j = 0; j < kLead; ++j) {
      const double own = std::sqrt(values[kWide - 1 - j]);
      const double bound = 100 * std::pow(next / own, 2 * std::stod(c.power) + 1) + 1e-3;
      EXPECT_LT(outside(state.at(kCompression), vectors.row(kWide - 1 - j)), bound)
          << c.variant << c.power << " vector " << j;
      EXPECT_LT(bound, 0.5) << "the case shows nothing";
    }
  }
}

// The columns beyond the rank were made by Householder's method: minutes for nothing, and 2 GB.
TEST(Tefm, MoreFeaturesThanTheRowsCanCarry) {
  const Matrix<float> few = gaussian_rows(30, 5, 12);
  Matrix<float> copies(600, 5);  // of 20 rows
  for (Index i = 0; i < 600; ++i) std::ranges::copy(few.row(i % 20), copies.row(i).begin());
  for (const Matrix<float>* x : {&few, &std::as_const(copies)})
    for (const TefmCase& c : kTefm) {
      const Params params = tefm_params(c, 160);
      const MapState state = fit("tefm", *x, params);
      // (Rounding of the sums may make columns of copies look independent.)
      EXPECT_LE(state.at(kCompression).cols(), x == &few ? 30 : 160) << c.variant << c.power;
      // Nothing of the rows is lost: they are as long as in the base map.
      const auto map = find_feature_map("tefm").restore(5, params, rng::Key{7}, state);
      ASSERT_EQ(map->out_dim(), 160);
      const Matrix<double> z = wide(features(*map, *x)), f = base_features(*x, params);
      for (Index i = 0; i < 30; ++i) {
        const double kept =
            std::inner_product(z.row(i).begin(), z.row(i).end(), z.row(i).begin(), 0.0);
        const double all =
            std::inner_product(f.row(i).begin(), f.row(i).end(), f.row(i).begin(), 0.0);
        EXPECT_NEAR(kept, all, 1e-4) << c.variant << c.power << " row " << i;
      }
    }
}

TEST(Tefm, CompressesAnyOtherMap) {
  const Matrix<float> x = gaussian_rows(200, 4, 11);
  for (const char* base : {"arccos", "ntk-rf", "ntk-poly", "orf", "qmc"}) {
    const Params params = {{"features", "16"}, {"base", base}, {"bandwidth", "2"}, {"bias", "1"}};
    const MapState state = fit("tefm", x, params);
    EXPECT_EQ(state.at(kCompression).rows(), 64) << base;
    EXPECT_EQ(find_feature_map("tefm").restore(4, params, rng::Key{7}, state)->out_dim(), 16);
  }
  EXPECT_THROW(fit("tefm", x, {{"base", "nystrom"}}), Error);
  EXPECT_THROW(fit("tefm", x, {{"base", "rff"}, {"base-options", "no"}}), Error);
  EXPECT_THROW(fit("tefm", x, {{"bandwidth", "1"}, {"variant", "s"}, {"power", "1"}}), Error);
}

// ---- folding ------------------------------------------------------------------------------------

TEST(FittedMaps, FoldTheirCompressionIntoTheWeights) {
  const Matrix<float> x = gaussian_rows(150, 4, 12);
  for (const char* name : {"nystrom", "tefm"}) {
    const Params params = {{"features", "20"}, {"bandwidth", "1.5"}};
    MapState state = fit(name, x, params);
    const FeatureMapEntry& entry = find_feature_map(name);
    const Matrix<float> z = features(*entry.restore(4, params, rng::Key{7}, state), x);
    Matrix<double> weights(20, 2), folded(20, 2);
    rng::fill_normal(rng::Key{13}, 0, std::span(weights.data(), 40));
    std::copy_n(weights.data(), 40, folded.data());
    fold_compression(state, folded);
    EXPECT_FALSE(state.contains(kCompression));
    const Matrix<float> f = features(*entry.restore(4, params, rng::Key{7}, state), x);
    ASSERT_EQ(f.cols(), folded.rows());
    for (Index i = 0; i < 150; ++i)
      for (Index t = 0; t < 2; ++t) {
        double direct = 0, other = 0;
        for (Index j = 0; j < 20; ++j) direct += z(i, j) * weights(j, t);
        for (Index j = 0; j < f.cols(); ++j) other += f(i, j) * folded(j, t);
        EXPECT_NEAR(other, direct, 2e-3) << name;
      }
  }
}

}  // namespace
}  // namespace kerf::detail
