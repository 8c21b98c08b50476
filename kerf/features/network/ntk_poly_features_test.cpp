// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/network/ntk_poly_features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "kerf/api/error.h"
#include "kerf/core/system/parallel.h"
#include "tests/oracle/rows.h"
#include "tests/oracle/statistics.h"

namespace kerf::detail {
namespace {

using oracle::gaussian_row, oracle::transform;

NtkPolyOptions options_of(const Params& params) { return map_options<NtkPolyFeatures>(params); }

double kernel_of(const NtkPolyOptions& options, const std::vector<float>& x,
                 const std::vector<float>& y) {
  return (*NtkPolyFeatures::kernel(options))(std::vector<double>(x.begin(), x.end()),
                                             std::vector<double>(y.begin(), y.end()));
}

TEST(NtkPolyFeatures, AreExactWhereAllDegreesFit) {
  // GELU-like cubic, depth 1: degrees 0 .. 3 of 5 coordinates are 1 + 5 + 15 + 35 = 56 features.
  for (const char* kernel : names_of(NetworkKernel{}))
    for (const char* bias : {"0", "0.8"}) {
      const auto options = options_of({{"kernel", kernel},
                                       {"depth", "1"},
                                       {"features", "90"},
                                       {"bias", bias},
                                       {"activation", "polynomial"},
                                       {"coefficients", "0.2,1,0.3,0.1"}});
      const NtkPolyFeatures map(4, options, rng::Key{1});
      const auto x = gaussian_row(4, 0), y = gaussian_row(4, 1);
      const double scale = std::sqrt(kernel_of(options, x, x) * kernel_of(options, y, y));
      EXPECT_NEAR(oracle::dot(transform(map, x), transform(map, y)), kernel_of(options, x, y),
                  2e-6 * scale);
      EXPECT_NEAR(oracle::dot(transform(map, x), transform(map, x)), kernel_of(options, x, x),
                  2e-6 * kernel_of(options, x, x));
    }
}

// One coordinate has one monomial a degree: a row is its length, its sign and nothing else.
TEST(NtkPolyFeatures, OfOneColumnAreExactUpToTheFit) {
  const auto options = options_of({{"depth", "3"}, {"features", "40"}, {"bias", "0"}});
  const NtkPolyFeatures map(1, options, rng::Key{1});
  EXPECT_NEAR(oracle::dot(transform(map, {2}), transform(map, {3})), 6 * 4, 1e-4);
  const auto fit = NtkPolyFeatures::fit(options);
  EXPECT_NEAR(oracle::dot(transform(map, {2}), transform(map, {-3})), 6 * fit(-1), 1e-4);
}

// The mean over maps is the fitted polynomial, not merely something within its error of the kernel:
// within 5.3 standard errors of the sample, at every depth.
TEST(NtkPolyFeatures, EstimateThePolynomialWithoutBias) {
  constexpr int kMaps = 150;
  const auto x = gaussian_row(6, 2), y = gaussian_row(6, 3);
  for (const char* depth : {"1", "4", "16"}) {
    const auto options =
        options_of({{"depth", depth}, {"features", "80"}, {"degree", "8"}, {"bias", "0.5"}});
    const auto fit = NtkPolyFeatures::fit(options);
    const double xx = oracle::dot(x, x) + 0.25, yy = oracle::dot(y, y) + 0.25;
    const double cosine = (oracle::dot(x, y) + 0.25) / std::sqrt(xx * yy);
    std::vector<double> found(kMaps);
    parallel_for(kMaps, 16, [&](Index begin, Index end) {
      for (Index t = begin; t < end; ++t) {
        const NtkPolyFeatures map(6, options, rng::Key{9}.child(static_cast<std::uint64_t>(t)));
        found[t] = oracle::dot(transform(map, x), transform(map, y));
      }
    });
    const auto moments = oracle::sample_moments(found);
    EXPECT_NEAR(moments.mean, std::sqrt(xx * yy) * fit(cosine),
                5.3 * std::sqrt(moments.variance / kMaps))
        << "depth " << depth;
    EXPECT_LE(std::abs(std::sqrt(xx * yy) * fit(cosine) - kernel_of(options, x, y)),
              NtkPolyFeatures::relative_bias(options) *
                  std::sqrt(kernel_of(options, x, x) * kernel_of(options, y, y)) * 1.0001);
  }
}

/// What the plan minimises, for k exact degrees; infinite if they do not fit.
double variance_of(const std::vector<double>& weights, Index dim, Index features, Index k) {
  double sketched = 0;
  Index used = 0, count = 0;
  for (Index j = 0; j < static_cast<Index>(weights.size()); ++j) {
    const double w = weights[j];
    if (w > 0 && j <= k) used += SymmetricPowers::dimension(dim, j, 1 << 30);
    if (w > 0 && j > k) ++count;
    if (j > k) sketched += w;
  }
  if (used + count > features) return INFINITY;
  return count == 0 ? 0 : sketched * sketched / static_cast<double>(features - used);
}

TEST(NtkPolyFeatures, ShareFeaturesOutWhereTheyHelpMost) {
  for (const char* depth : {"1", "2", "5"})
    for (const Index dim : {3, 16, 784})
      for (const Index features : {40, 4096, 8192}) {
        const auto fit = NtkPolyFeatures::fit(
            options_of({{"depth", depth}, {"features", std::to_string(features)}}));
        const auto plan = plan_polynomial(dim, fit.weights, features, 16);
        for (Index k = 0; k <= 16; ++k)
          EXPECT_LE(variance_of(fit.weights, dim, features, plan.exact),
                    variance_of(fit.weights, dim, features, k));
        const Index sum = std::accumulate(plan.dims.begin(), plan.dims.end(), Index{0});
        if (plan.exact < 16)
          EXPECT_EQ(sum, features);
        else
          EXPECT_LE(sum, features);
        for (std::size_t j = 0; j < plan.dims.size(); ++j)
          EXPECT_EQ(plan.dims[j] > 0, fit.weights[j] > 0) << "degree " << j;
      }
  // Sixteen columns: the quadratic part is always worth its 136 features.
  const auto fit = NtkPolyFeatures::fit(options_of({{"depth", "1"}, {"features", "8192"}}));
  EXPECT_GE(plan_polynomial(16, fit.weights, 8192, 16).exact, 2);
  // As many features as coefficients: one each.
  const auto one_each = plan_polynomial(9, {0.1, 0.5, 0, 0.3}, 3, 3);
  EXPECT_EQ(one_each.dims, (std::vector<Index>{1, 1, 0, 1}));
}

TEST(NtkPolyFeatures, TakeALowerDegreeWhereThereAreFewFeatures) {
  for (const char* features : {"1", "2", "5"}) {
    const auto options = options_of({{"depth", "3"}, {"features", features}, {"bias", "0"}});
    const auto fit = NtkPolyFeatures::fit(options);
    EXPECT_LE(std::ranges::count_if(fit.weights, [](double w) { return w > 0; }), options.features);
    EXPECT_NEAR(fit(1), 4, 1e-9);
    EXPECT_EQ(transform(NtkPolyFeatures(5, options, {}), gaussian_row(5, 4)).size(),
              options.features);
  }
}

TEST(NtkPolyFeatures, AreFiniteAndHomogeneousInOddShapes) {
  const struct {
    Index dim;
    const char *depth, *features, *degree;
  } shapes[] = {{1, "1", "9", "16"},    {3, "64", "30", "64"},  {300, "2", "10", "16"},
                {300, "2", "301", "0"}, {9000, "1", "64", "4"}, {20, "32", "4000", "32"}};
  for (const auto& shape : shapes) {
    const auto options = options_of({{"depth", shape.depth},
                                     {"features", shape.features},
                                     {"degree", shape.degree},
                                     {"bias", "0"}});
    const NtkPolyFeatures map(shape.dim, options, rng::Key{3});
    auto row = gaussian_row(shape.dim, 5);
    const auto z = transform(map, row);
    for (float& v : row) v *= 1024;
    const auto scaled = transform(map, row);
    for (std::size_t j = 0; j < z.size(); ++j) {
      ASSERT_TRUE(std::isfinite(z[j]));
      ASSERT_EQ(scaled[j], 1024 * z[j]);
    }
    for (const float v : transform(map, std::vector<float>(row.size(), 0.0f))) ASSERT_EQ(v, 0.0f);
    EXPECT_GT(NtkPolyFeatures::bytes(shape.dim, options), 0);
  }
}

TEST(NtkPolyFeatures, NeedANumberForTheBias) {
  EXPECT_THROW(NtkPolyFeatures(4, options_of({}), {}), Error);
}

}  // namespace
}  // namespace kerf::detail
