// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/network/split_network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "kerf/api/error.h"
#include "kerf/core/system/parallel.h"
#include "kerf/features/automatic.h"
#include "kerf/features/network/ntk_random_features.h"
#include "kerf/sketch/tensor_srht.h"
#include "tests/oracle/statistics.h"

namespace kerf::detail {
namespace {

NtkMapOptions options_of(Params params) {
  params.try_emplace("bias", "0");
  return map_options<NtkRandomFeatures>(params);
}

std::vector<double> features(const SplitNetwork& network, const std::vector<float>& u, Index dim) {
  std::vector<float> out(dim);
  network.apply(MatrixView<const float>(u.data(), 1, static_cast<Index>(u.size())),
                {out.data(), 1, dim});
  return {out.begin(), out.end()};
}

std::vector<double> products(const DirectionSet& directions, const std::vector<double>& x) {
  const std::vector<float> row(x.begin(), x.end());
  std::vector<double> y(directions.out_dim());
  directions.apply(
      MatrixView<const float>(row.data(), 1, static_cast<Index>(row.size())),
      [&](Index, Index first, std::span<float> v) { std::ranges::copy(v, y.begin() + first); });
  return y;
}

void append(std::vector<double>& to, const std::vector<double>& from, double square) {
  for (const double v : from) to.push_back(std::sqrt(square) * v);
}

/// The recursion of the card, block by block, in double: S_l = (S_{l-1} + F_l)/2 and
/// T_l = (T_{l-1} + Q_l)/2 + S_l as concatenations.
std::vector<double> slow(const std::vector<float>& u, const NtkMapOptions& options, rng::Key key) {
  const std::vector<double> x(u.begin(), u.end());
  const auto plan = SplitNetwork::plan(static_cast<Index>(u.size()), options);
  std::vector<double> phi = x, psi = x;
  for (Index l = 1; l <= options.depth; ++l) {
    const rng::Key layer = key.child(static_cast<std::uint64_t>(l));
    const auto dim = static_cast<Index>(phi.size());
    const auto m1 = plan.absolute[l - 1];
    const auto y = products(DirectionSet(options.directions, dim, 0, std::max(m1, plan.signs),
                                         layer.child("directions")),
                            phi);
    double norm = 0;
    for (const double v : phi) norm += v * v;
    norm = std::sqrt(norm);
    const double c = DirectionSet::inverse_variance(options.directions, dim);
    const double mean = DirectionSet::mean_absolute(options.directions, dim);
    std::vector<double> even = {std::sqrt(c) * mean * norm};
    for (Index j = 0; j < m1; ++j)
      even.push_back(std::sqrt(c / static_cast<double>(m1)) * (std::abs(y[j]) - mean * norm));
    std::vector<float> signs, right(psi.begin(), psi.end());
    for (Index j = 0; j < plan.signs; ++j)
      signs.push_back(
          static_cast<float>((y[j] > 0 ? 1 : -1) / std::sqrt(static_cast<double>(plan.signs))));
    const Index ms = plan.products[l - 1];
    const TensorSrht sketch(plan.signs, static_cast<Index>(psi.size()), ms, layer.child("sketch"));
    std::vector<float> odd(ms);
    const RowsView pair[] = {
        MatrixView<const float>(signs.data(), 1, plan.signs),
        MatrixView<const float>(right.data(), 1, static_cast<Index>(right.size()))};
    sketch.apply(pair, {odd.data(), 1, ms});
    std::vector<double> next_phi, next_psi;
    append(next_phi, phi, 0.5);
    append(next_phi, even, 0.5);
    append(next_psi, psi, 0.5);
    append(next_psi, {odd.begin(), odd.end()}, 0.5);
    append(next_psi, next_phi, 1);
    phi = next_phi;
    // The sketch of the next layer sees psi in the map's own order: equal blocks merged.
    psi = next_psi;
  }
  return psi;
}

// Concatenations with a block twice and blocks merged have the same inner products.  (At depth 2
// the sketch would see another order of its input, so depth 1 is compared to the last bit, deeper
// maps through their means below.)
TEST(SplitNetwork, IsTheRecursionOfItsCardAtDepthOne) {
  std::vector<float> x(6), y(6);
  rng::sphere(rng::Key{1}, 0, x);
  rng::sphere(rng::Key{1}, 1, y);
  for (const char* directions : names_of(Directions{})) {
    const auto options =
        options_of({{"depth", "1"}, {"features", "70"}, {"directions", directions}});
    const SplitNetwork network(6, options, rng::Key{3});
    const auto inner = [](const std::vector<double>& a, const std::vector<double>& b) {
      return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    };
    const auto fx = features(network, x, 70), fy = features(network, y, 70);
    const auto sx = slow(x, options, rng::Key{3}), sy = slow(y, options, rng::Key{3});
    EXPECT_NEAR(inner(fx, fy), inner(sx, sy), 1e-5) << directions;
    EXPECT_NEAR(inner(fx, fx), inner(sx, sx), 1e-5) << directions;
  }
}

/// Unit rows in R^3.
const std::vector<float> kX = {1, 0, 0};
std::vector<float> at_cosine(double a) {
  return {static_cast<float>(a), static_cast<float>(std::sqrt(1 - a * a)), 0};
}

oracle::Moments errors(const Params& params, double a, int maps) {
  const auto options = options_of(params);
  const auto y = at_cosine(a);
  std::vector<double> found(maps);
  parallel_for(maps, 16, [&](Index begin, Index end) {
    for (Index t = begin; t < end; ++t) {
      const SplitNetwork network(3, options, rng::Key{99}.child(static_cast<std::uint64_t>(t)));
      const auto fx = features(network, kX, options.features);
      const auto fy = features(network, y, options.features);
      found[t] = std::inner_product(fx.begin(), fx.end(), fy.begin(), 0.0);
    }
  });
  return oracle::sample_moments(found);
}

// Deeper maps: bias of O(1/m1), so with 1,000 features, of which at least 60 are |.| features of a
// layer, the mean is within 5.3 standard errors and 2/60 of the kernel.
TEST(SplitNetwork, EstimatesDeepKernels) {
  constexpr int kMaps = 30;
  for (const char* kernel : names_of(NetworkKernel{}))
    for (const char* depth : {"2", "3"})
      for (const double a : {-0.5, 1.0}) {
        const Params params = {{"kernel", kernel}, {"depth", depth}, {"features", "1000"}};
        const auto options = options_of(params);
        const bool ntk = options.kernel == NetworkKernel::ntk;
        const double exact = ntk ? ntk_of_cosine(Cosine::of(a), options.depth)
                                 : nngp_of_cosine(Cosine::of(a), options.depth);
        for (const Index m1 : SplitNetwork::plan(3, options).absolute) ASSERT_GE(m1, 60);
        const auto found = errors(params, a, kMaps);
        EXPECT_NEAR(found.mean, exact, 5.3 * std::sqrt(found.variance / kMaps) + 2.0 / 60)
            << kernel << " depth " << depth << " at " << a;
        const double diagonal = ntk ? static_cast<double>(options.depth + 1) : 1;
        EXPECT_LE(found.variance, SplitNetwork::relative_variance(options) * diagonal * diagonal +
                                      5.3 * found.variance_error);
      }
}

// Depth 1 is unbiased, also with directions of their own and another sketch.
TEST(SplitNetwork, IsUnbiasedAtDepthOneForOtherOptions) {
  constexpr int kMaps = 400;
  for (const auto& [name, value] : {std::pair("shared-directions", "false"),
                                    {"sketch", "tensorsketch"},
                                    {"m0", "7"},
                                    {"ms", "11"}})
    for (const double a : {-0.5, 0.6}) {
      const auto found = errors({{"depth", "1"}, {"features", "40"}, {name, value}}, a, kMaps);
      EXPECT_NEAR(found.mean, ntk_of_cosine(Cosine::of(a), 1),
                  5.3 * std::sqrt(found.variance / kMaps))
          << name;
    }
}

TEST(SplitNetwork, UsesAllFeaturesAndSketchesLongRowsOnly) {
  for (const Index features : {4, 30, 1000, 4096})
    for (const Index depth : {1, 3, 9})
      for (const Index dim : {1, 16, 785, 20000}) {
        auto options =
            options_of({{"depth", std::to_string(depth)}, {"features", std::to_string(features)}});
        if (!SplitNetwork::splits(1, options)) continue;
        const auto plan = SplitNetwork::plan(dim, options);
        EXPECT_EQ(plan.psi_dim(depth), features);
        EXPECT_LE(plan.linear, dim);
        if (features >= 1000 && dim == 16) {
          EXPECT_EQ(plan.linear, dim);
        }
        if (dim == 20000) {
          EXPECT_LT(plan.linear, features);
        }
      }
  const auto splits = [](Index dim, Params params) {
    return SplitNetwork::splits(dim, options_of(std::move(params)));
  };
  EXPECT_TRUE(splits(16, {{"features", "256"}}));
  EXPECT_FALSE(splits(17, {{"features", "256"}}));
  EXPECT_TRUE(splits(17, {{"features", "256"}, {"split", "true"}}));
  EXPECT_FALSE(splits(1, {{"features", "256"}, {"split", "false"}}));
  EXPECT_FALSE(splits(1, {{"depth", "1"}, {"features", "3"}, {"split", "true"}}));
  EXPECT_FALSE(splits(1, {{"sketch", "none"}, {"split", "true"}}));
}

TEST(SplitNetwork, RefusesASplitThatCannotBeAndOptionsWithoutUse) {
  const auto make = [](Params params) {
    const auto options = options_of(std::move(params));
    NtkRandomFeatures::bytes(3, options);
    NtkRandomFeatures(3, options, rng::Key{1});
  };
  EXPECT_THROW(make({{"depth", "1"}, {"features", "3"}, {"split", "true"}}), Error);
  EXPECT_THROW(make({{"features", "256"}, {"sketch", "none"}, {"split", "true"}}), Error);
  EXPECT_THROW(make({{"features", "64"}, {"ms", "62"}, {"split", "true"}}), Error);
  EXPECT_NO_THROW(make({{"depth", "1"}, {"features", "4"}, {"split", "true"}}));
  EXPECT_NO_THROW(make({{"depth", "1"}, {"features", "3"}}));
  EXPECT_NO_THROW(make({{"features", "64"}, {"kernel", "nngp"}}));
  for (const auto& [name, value] : {std::pair("ms", "8"), {"m0", "8"}, {"sketch", "none"}})
    EXPECT_THROW(make({{"features", "64"}, {"kernel", "nngp"}, {name, value}}), Error) << name;
}

// Less variance at the same size than the published layers: the reason to be.
TEST(SplitNetwork, HasLessVarianceThanThePublishedLayers) {
  for (const char* depth : {"1", "2"}) {
    const Params params = {{"depth", depth}, {"features", "256"}};
    const auto split = errors(params, 0.2, 100);
    std::vector<double> published(100);
    Params other = params;
    other["split"] = "false";
    const auto options = options_of(other);
    const auto y = at_cosine(0.2);
    for (std::size_t t = 0; t < published.size(); ++t) {
      const NtkRandomFeatures map(3, options, rng::Key{7}.child(t));
      std::vector<float> zx(256), zy(256);
      map.transform(MatrixView<const float>(kX.data(), 1, 3), {zx.data(), 1, 256});
      map.transform(MatrixView<const float>(y.data(), 1, 3), {zy.data(), 1, 256});
      published[t] = oracle::dot(zx, zy);
    }
    EXPECT_LT(2 * split.variance, oracle::sample_moments(published).variance) << depth;
  }
}

TEST(SplitNetwork, AutomaticIsShortRowsOrFewFeaturesOfTheNtk) {
  DataSummary summary;
  summary.cols = 64;
  const auto resolved = [&](Params params) {
    params.try_emplace("bias", "0");
    return resolve_automatic(find_feature_map("ntk-rf"), params, summary, Scaling()).at("split");
  };
  EXPECT_EQ(resolved({{"features", "1024"}}), "true");
  EXPECT_EQ(resolved({{"features", "1024"}, {"bias", "1"}}), "false");  // 65 coordinates
  EXPECT_EQ(resolved({{"features", "513"}}), "false");
  EXPECT_EQ(resolved({{"features", "512"}}), "true");
  EXPECT_EQ(resolved({{"features", "512"}, {"kernel", "nngp"}}), "false");
  EXPECT_EQ(resolved({{"features", "512"}, {"sketch", "none"}}), "false");  // it cannot
  EXPECT_EQ(resolved({{"features", "512"}, {"split", "false"}}), "false");
}

// The base map of tefm has four times as many features, and its split is settled as its own would
// be; what the user says stays.
TEST(SplitNetwork, AutomaticIsSettledForABaseMapToo) {
  DataSummary summary;
  summary.cols = 64;
  const auto resolved = [&](Params params) {
    params.try_emplace("bias", "0");
    params.try_emplace("base", "ntk-rf");
    const Params found = resolve_automatic(find_feature_map("tefm"), params, summary, Scaling());
    const auto options = found.find("base-options");
    return options == found.end() ? "" : options->second;
  };
  EXPECT_EQ(resolved({{"features", "128"}}), "split=true");
  EXPECT_EQ(resolved({{"features", "129"}}), "split=false");
  EXPECT_EQ(resolved({{"features", "256"}, {"base-options", "signs=true"}}),
            "signs=true,split=true");
  EXPECT_EQ(resolved({{"features", "128"}, {"base-options", "split=false"}}), "split=false");
  EXPECT_EQ(resolved({{"features", "128"}, {"base", "rff"}}), "");
}

}  // namespace
}  // namespace kerf::detail
