// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/network/gradient_features.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kerf/api/error.h"
#include "tests/oracle/statistics.h"

namespace kerf::detail {
namespace {

GradientMapOptions options_of(const Params& params) {
  return map_options<GradientFeatures>(params);
}

/// f(x), with the weight number `which` (v, then W_L .. W_1, in the order of the features) moved.
double network(const std::vector<double>& x, Index depth, Index width, rng::Key key, Index which,
               double move) {
  const auto dim = static_cast<Index>(x.size());
  std::vector<double> h = x;
  for (Index l = 1; l <= depth; ++l) {
    const auto in = static_cast<Index>(h.size());
    // Where W_l begins among the weights.
    const Index first =
        l == 1 ? width + (depth - 1) * width * width : width + (depth - l) * width * width;
    std::vector<double> next;
    for (Index i = 0; i < width; ++i) {
      double sum = 0;
      for (Index k = 0; k < in; ++k) {
        double w = rng::normal(key.child(static_cast<std::uint64_t>(l)),
                               static_cast<std::uint64_t>(i * in + k));
        if (which == first + i * in + k) w += move;
        sum += w * h[k];
      }
      next.push_back(std::sqrt(2 / static_cast<double>(width)) * std::max(0.0, sum));
    }
    h = next;
  }
  EXPECT_EQ(static_cast<Index>(x.size()), dim);
  double f = 0;
  for (Index i = 0; i < width; ++i)
    f += (rng::normal(key.child("v"), static_cast<std::uint64_t>(i)) + (which == i ? move : 0)) *
         h[i];
  return f;
}

TEST(GradientFeatures, AreTheDerivativesOfTheNetwork) {
  const std::vector<float> row = {0.5f, -1.5f, 2};
  for (const char* depth : {"1", "2", "3"})
    for (const char* bias : {"0", "0.7"}) {
      const auto options = options_of({{"depth", depth}, {"features", "90"}, {"bias", bias}});
      const GradientFeatures map(3, options, rng::Key{4});
      std::vector<float> z(90);
      map.transform(MatrixView<const float>(row.data(), 1, 3), {z.data(), 1, 90});
      std::vector<double> x(row.begin(), row.end());
      if (*options.bias != 0) x.push_back(*options.bias);
      const Index w = GradientFeatures::width(3, options);
      const Index used = w + w * static_cast<Index>(x.size()) + (options.depth - 1) * w * w;
      for (Index j = 0; j < 90; ++j) {
        constexpr double h = 1e-6;  // piecewise linear in each weight: exact unless a kink is near
        const double slope = (network(x, options.depth, w, rng::Key{4}, j, h) -
                              network(x, options.depth, w, rng::Key{4}, j, -h)) /
                             (2 * h);
        EXPECT_NEAR(z[j], j < used ? slope : 0.0, 2e-5) << "depth " << depth << ", weight " << j;
      }
    }
}

// relative_variance() does not know the width; here it is 16: 6/w of k(x, x) k(y, y) = 4.
TEST(GradientFeatures, HaveTheVarianceOfTheirWidth) {
  const auto options = options_of({{"features", "64"}, {"bias", "0"}});
  ASSERT_EQ(GradientFeatures::width(3, options), 16);
  const std::vector<float> x = {1, 0, 0};
  for (const float a : {-0.5f, 0.6f, 1.0f}) {
    const std::vector<float> y = {a, std::sqrt(1 - a * a), 0};
    oracle::expect_moments(
        600, ntk_of_cosine(Cosine::of(double{a}), 1), 4 * 6.0 / 16, oracle::Stated::at_most,
        [&](rng::Key key) {
          const GradientFeatures map(3, options, key);
          std::vector<float> zx(64), zy(64);
          map.transform(MatrixView<const float>(x.data(), 1, 3), {zx.data(), 1, 64});
          map.transform(MatrixView<const float>(y.data(), 1, 3), {zy.data(), 1, 64});
          return oracle::dot(zx, zy);
        });
  }
}

TEST(GradientFeatures, TakeTheWidestNetworkThatFits) {
  // 784 columns: 785 w; depth 2: 785 w + w^2.
  EXPECT_EQ(GradientFeatures::width(784, options_of({{"features", "7849"}, {"bias", "0"}})), 9);
  EXPECT_EQ(GradientFeatures::width(784, options_of({{"features", "7850"}, {"bias", "0"}})), 10);
  EXPECT_EQ(GradientFeatures::width(
                784, options_of({{"depth", "2"}, {"features", "7950"}, {"bias", "0"}})),
            10);
  try {
    GradientFeatures(784, options_of({{"features", "700"}, {"bias", "0"}}), {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("785"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace kerf::detail
