// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/skeleton/skeleton_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <map>
#include <numbers>

#include "kerf/api/error.h"
#include "kerf/kernels/skeleton/skeleton_bounds.h"
#include "tests/oracle/statistics.h"

namespace kerf::detail {
namespace {

constexpr Index kColumns = 8;

/// Two rows: circles and gaussians take any number, column 6 is a sign, column 7 a code 0 .. 2.
Matrix<float> two_rows() {
  Matrix<float> x(2, kColumns);
  rng::fill_normal(rng::Key{5}, 0, std::span(x.data(), 2 * kColumns));
  for (Index k = 0; k < kColumns; ++k) x(1, k) = 0.6f * x(0, k) + 0.5f * x(1, k);
  x(0, 6) = 1, x(1, 6) = -1;
  x(0, 7) = 2, x(1, 7) = 2;
  return x;
}

std::string node_of(const std::string& space, const std::string& activation) {
  return R"({"columns": 8, "nodes": {"o": {"activation": ")" + activation +
         R"(", "in": ["a", "b", "c"]}, "a": )" + space +
         R"(, "b": {"space": "circle", "columns": [4]}, "c": {"space": "circle", "columns": [5]}}})";
}

/// E <phi(x), phi(y)> = k(x, y) and the variance of the card, over 600 maps.
void expect_unbiased(const SkeletonMapOptions& options) {
  const Matrix<float> x = two_rows();
  const auto kernel = SkeletonFeatures::kernel(options);
  const std::vector<double> left(x.row(0).begin(), x.row(0).end()),
      right(x.row(1).begin(), x.row(1).end());
  const double variance = SkeletonFeatures::relative_variance(options);
  ASSERT_TRUE(std::isfinite(variance)) << options.kernel.skeleton;
  SCOPED_TRACE(options.kernel.skeleton);
  Matrix<float> z(2, options.features);
  for (const Index other : {1, 0}) {
    const double exact = (*kernel)(left, other == 1 ? right : left);
    oracle::expect_moments(600, exact, variance, oracle::Stated::at_most, [&](rng::Key key) {
      SkeletonFeatures(kColumns, options, key).transform(x.view(), z.view());
      return oracle::dot(z.row(0), z.row(other));
    });
  }
}

SkeletonMapOptions small_map(const std::string& skeleton) {
  SkeletonMapOptions options;
  options.features = 24;
  options.kernel = {skeleton, "1x1x8"};
  return options;
}

TEST(SkeletonFeatures, AreUnbiasedForEveryBaseSpace) {
  for (const char* space :
       {R"({"space": "sign", "columns": [6]})",
        R"({"space": "circle", "columns": [0], "scale": 2})",
        R"({"space": "gaussian", "columns": [0, 1, 2], "scale": 0.7})",
        R"({"space": "gaussian", "columns": [0, 1], "matrix": [[1, 0.8], [0.8, 2]]})",
        R"({"space": "categorical", "columns": [7], "levels": 3})",
        R"({"space": "categorical", "columns": [7], "levels": 4})",
        R"({"space": "sphere", "columns": [0, 1, 2, 3]})"}) {
    for (const RealForm form : {RealForm::phase, RealForm::pair}) {
      SkeletonMapOptions options = small_map(node_of(space, "exp 0.8"));
      options.form = form;
      expect_unbiased(options);
    }
  }
  SkeletonMapOptions options =
      small_map(node_of(R"({"space": "sphere", "columns": [0, 1, 2, 3]})", "exp 0.8"));
  options.sphere = SphereForm::coordinate;
  expect_unbiased(options);
}

// Products of phases, of real factors and of gaussian ones, which are not sorted: drawn in any
// order, so that real factors stand before phases as often as behind them.
TEST(SkeletonFeatures, AreUnbiasedForMixedBaseSpaces) {
  const std::string circle = R"("c": {"space": "circle", "columns": [4]})";
  const std::string sign = R"("b": {"space": "sign", "columns": [6]})";
  const std::string gaussian = R"("a": {"space": "gaussian", "columns": [0, 1], "scale": 0.7})";
  const std::string one_hot = R"("b": {"space": "categorical", "columns": [5, 6, 7]})";
  const std::string hybrid =
      R"("a": {"activation": "exp 0.5", "in": ["d"]}, "d": {"space": "circle", "columns": [0]})";
  const auto node = [&](const std::string& first, const std::string& second) {
    return R"({"columns": 8, "nodes": {"o": {"activation": "power 3", "in": ["a", "b", "c"]}, )" +
           first + ", " + second + ", " + circle + "}}";
  };
  for (const RealForm form : {RealForm::phase, RealForm::pair}) {
    for (const std::string& second : {sign, one_hot}) {
      SkeletonMapOptions options = small_map(node(gaussian, second));
      options.form = form;
      expect_unbiased(options);
    }
    SkeletonMapOptions options = small_map(node(hybrid, sign));
    options.form = form;
    options.hybrid = true;
    expect_unbiased(options);
  }
}

TEST(SkeletonFeatures, PairsNeedTwoColumns) {
  SkeletonMapOptions options = small_map("circle 1, full exp 1");
  options.features = 1;
  EXPECT_NO_THROW(SkeletonFeatures(kColumns, options, rng::Key{1}));
  options.form = RealForm::pair;
  EXPECT_THROW(SkeletonFeatures(kColumns, options, rng::Key{1}), Error);
}

TEST(SkeletonFeatures, AreUnbiasedForEveryDualActivation) {
  for (const char* activation : {"exp 2", "relu", "identity", "power 3", "geometric 0.5", "erf",
                                 "hermite 1 0 2", "series 0.5 0.25 0.25", "step to 5"})
    expect_unbiased(small_map(std::string("circle 1, full ") + activation));
}

TEST(SkeletonFeatures, AreUnbiasedForDeepSkeletons) {
  const auto deep = [](const std::string& text) {
    SkeletonMapOptions options = small_map(text);
    options.kernel.image = "4x2x1";
    return options;
  };
  expect_unbiased(deep("circle 1, conv 2 exp 0.7, conv 1/2 relu, full relu"));
  expect_unbiased(deep("gaussian 0.5, conv 2 relu, full exp 1"));
  SkeletonMapOptions repeated = deep("circle 1, conv 2 exp 0.7, full relu");
  repeated.deduplicate = false;
  expect_unbiased(repeated);
  repeated.hybrid = true;
  expect_unbiased(repeated);
}

// Real form from complex products, drawn here in the plainest way: merged and weighted features are
// exactly the estimate from all kept draws.
TEST(SkeletonFeatures, MergedFeaturesAreTheUnmergedEstimate) {
  const Matrix<float> x = two_rows();
  SkeletonMapOptions merged = small_map("circle 1, full exp 1.5"), all = merged;
  const SkeletonFeatures few(kColumns, merged, rng::Key{3});
  EXPECT_GT(few.table().draws, few.table().columns());
  all.deduplicate = false;
  all.features = few.table().draws;  // the same draws, each in a column of its own
  const SkeletonFeatures many(kColumns, all, rng::Key{3});
  Matrix<float> z(2, merged.features), every(2, all.features);
  few.transform(x.view(), z.view());
  many.transform(x.view(), every.view());
  EXPECT_NEAR(oracle::dot(z.row(0), z.row(1)), oracle::dot(every.row(0), every.row(1)), 2e-6);
  std::map<std::vector<std::pair<std::uint32_t, std::int32_t>>, int> seen;
  const SkeletonTable& table = few.table();
  for (std::size_t j = 0; j + 1 < table.first_factor.size(); ++j) {
    std::vector<std::pair<std::uint32_t, std::int32_t>> key = {
        {static_cast<std::uint32_t>(table.kind[j]), 0}};
    for (std::size_t k = table.first_factor[j]; k < table.first_factor[j + 1]; ++k)
      key.emplace_back(table.atom[k], table.exponent[k]);
    EXPECT_EQ(++seen[key], 1);
    if (key.size() > 1) {
      EXPECT_GT(key[1].second, 0);
    }
  }
}

// The stopping rule on a distribution whose answer is known: one column, features with chances
// 0.7, 0.2, 0.1.  Keeping the draw that completes the budget would be biased.
TEST(SkeletonFeatures, StoppingAtABudgetIsUnbiased) {
  const Skeleton skeleton = parse_skeleton("sign, full series 0.7 0.2 0.1", {1, 1, 1});
  // Degree 0 and 2 are the same feature 1, degree 1 is the sign: chances 0.8 and 0.2.
  double share = 0;
  constexpr int kTrials = 4000;
  for (int t = 0; t < kTrials; ++t) {
    const auto table =
        draw_skeleton(skeleton, {.columns = 1}, rng::Key{7}.child(static_cast<std::uint64_t>(t)));
    ASSERT_EQ(table.columns(), 1);
    if (table.atom.empty()) share += 1.0 / kTrials;
  }
  EXPECT_NEAR(share, 0.8, 5 * std::sqrt(0.8 * 0.2 / kTrials));
}

// C(S) is the expected number of base factors.  Degrees of relu have infinite variance: standard
// errors are those of the sample, and the mean of a million draws is well within three of them.
TEST(SkeletonFeatures, MeanNumberOfFactorsIsTheComplexity) {
  for (const char* text : {"circle 1, full exp 0.25", "circle 1, conv 2 exp 2, full exp 0.5",
                           "circle 1, conv 3 relu, conv 2 relu, full relu",
                           "circle 1, conv 3 geometric 0.5, full erf"}) {
    const Skeleton skeleton = parse_skeleton(text, {6, 6, 1});
    std::vector<double> means;
    for (std::uint64_t t = 0; t < 40; ++t)
      means.push_back(
          draw_skeleton(skeleton, {.columns = 5000, .deduplicate = false}, rng::Key{11}.child(t))
              .base_factors);
    const auto found = oracle::sample_moments(means);
    EXPECT_NEAR(found.mean, skeleton.complexity(), 3 * std::sqrt(found.variance / 40)) << text;
  }
}

TEST(SkeletonFeatures, FewDistinctFeaturesLeaveZeroColumns) {
  const SkeletonFeatures map(kColumns, small_map("circle 1, full identity"), rng::Key{1});
  EXPECT_EQ(map.table().columns(), 2 * kColumns);  // a cosine and a sine of each column
  Matrix<float> z(2, 24);
  const Matrix<float> x = two_rows();
  map.transform(x.view(), z.view());
  for (Index j = 2 * kColumns; j < 24; ++j) EXPECT_EQ(z(0, j), 0);
  EXPECT_THAT(describe_feature(map.table(), map.skeleton(), 0), ::testing::HasSubstr("x["));
}

TEST(SkeletonFeatures, HybridNeedsGaussianNodes) {
  SkeletonMapOptions options = small_map("circle 1, full relu");
  options.hybrid = true;
  EXPECT_THROW(SkeletonFeatures(kColumns, options, rng::Key{1}), Error);
}

TEST(SkeletonBounds, AreTheTheorems) {
  EXPECT_EQ(features_for_kernel_error(0.1, 0.05), std::ceil(8 * std::log(40.0) / 0.01));
  EXPECT_NEAR(kernel_error_of_features(features_for_kernel_error(0.1, 0.05), 0.05), 0.1, 1e-4);
  const double lambda = lambda_for_norm(1000, 3, 2);
  EXPECT_NEAR(excess_loss_with_lambda(500, 1000, 3, lambda, 2), excess_loss(500, 1000, 3, 2),
              1e-12);
  // Theorem 3 holds: the share of maps whose error exceeds epsilon is at most delta.
  const SkeletonMapOptions options = [] {
    SkeletonMapOptions o = small_map("circle 1, full relu");
    o.features = static_cast<Index>(features_for_kernel_error(0.3, 0.1));
    o.deduplicate = false;
    return o;
  }();
  const Matrix<float> x = two_rows();
  const std::vector<double> left(x.row(0).begin(), x.row(0).end()),
      right(x.row(1).begin(), x.row(1).end());
  const double exact = (*SkeletonFeatures::kernel(options))(left, right);
  Matrix<float> z(2, options.features);
  int beyond = 0;
  for (std::uint64_t t = 0; t < 100; ++t) {
    SkeletonFeatures(kColumns, options, rng::Key{t}).transform(x.view(), z.view());
    if (std::abs(oracle::dot(z.row(0), z.row(1)) - exact) >= 0.3) ++beyond;
  }
  EXPECT_LE(beyond, 10);
}

}  // namespace
}  // namespace kerf::detail
