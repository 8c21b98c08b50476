// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/network/ntk_sketch_features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "kerf/api/error.h"
#include "kerf/core/system/parallel.h"
#include "tests/oracle/statistics.h"

namespace kerf::detail {
namespace {

NtkSketchOptions options_of(const Params& params) { return map_options<NtkSketchFeatures>(params); }

std::vector<float> transform(const FeatureMap& map, const std::vector<float>& row) {
  std::vector<float> out(map.out_dim());
  map.transform(MatrixView<const float>(row.data(), 1, map.in_dim()),
                {out.data(), 1, map.out_dim()});
  return out;
}

double polynomial(const std::vector<double>& w, double a) {
  double sum = 0;
  for (std::size_t j = 0; j < w.size(); ++j) sum += w[j] * std::pow(a, static_cast<double>(j));
  return sum;
}

TEST(TruncatedSeries, AreTheFunctionsUpToWhatIsCutOff) {
  for (const Index order : {0, 1}) {
    const auto exact = [&](double a) {
      return order == 0 ? kappa0(Cosine::of(a)) : kappa1(Cosine::of(a)).value;
    };
    for (const Index degree : {1, 2, 7, 8, 40}) {
      const auto w = truncated_series(order, degree, 1000);
      EXPECT_NEAR(std::accumulate(w.begin(), w.end(), 0.0), 1, 1e-14);
      for (const double c : w) EXPECT_GE(c, 0);
      // All that differs are terms of the highest power on.
      const auto top = static_cast<double>(w.size() - 1);
      for (const double a : {-0.5, 0.1, 0.5})
        EXPECT_NEAR(polynomial(w, a), exact(a), 0.55 * std::pow(std::abs(a), top) + 1e-15);
      if (degree > 1) {
        EXPECT_NEAR(polynomial(w, -1), exact(-1), 1e-14) << order << " " << degree;
      }
    }
  }
  EXPECT_EQ(truncated_series(1, 8, 3).size(), 3U);  // 1/pi, a/2 and a^2
  EXPECT_EQ(truncated_series(1, 8, 1), std::vector<double>{1});
}

/// Moments of <z(x), z(y)> for unit rows with the given cosine.
oracle::Moments moments(const Params& params, double cosine, int maps) {
  const auto options = options_of(params);
  const std::vector<float> x = {1, 0, 0};
  const std::vector<float> y = {static_cast<float>(cosine),
                                static_cast<float>(std::sqrt(1 - cosine * cosine)), 0};
  std::vector<double> found(maps);
  parallel_for(maps, 8, [&](Index begin, Index end) {
    for (Index t = begin; t < end; ++t) {
      const NtkSketchFeatures map(3, options, rng::Key{6}.child(static_cast<std::uint64_t>(t)));
      found[t] = oracle::dot(transform(map, x), transform(map, y));
    }
  });
  return oracle::sample_moments(found);
}

// Depth 1 without renormalising is an unbiased estimate of a P0(a) + P1(a), whatever the sketch.
TEST(NtkSketchFeatures, EstimateTheSeriesWithoutBiasAtDepthOne) {
  constexpr int kMaps = 400;
  const auto p1 = truncated_series(1, 4, 100), p0 = truncated_series(0, 3, 100);
  for (const char* powers : names_of(PowersKind{}))
    for (const double a : {-0.4, 0.8}) {
      const auto found = moments({{"depth", "1"},
                                  {"features", "48"},
                                  {"degree", "4"},
                                  {"step-degree", "3"},
                                  {"powers", powers},
                                  {"renormalise", "false"},
                                  {"bias", "0"}},
                                 a, kMaps);
      EXPECT_NEAR(found.mean, a * polynomial(p0, a) + polynomial(p1, a),
                  5.3 * std::sqrt(found.variance / kMaps))
          << powers << " at " << a;
    }
}

TEST(NtkSketchFeatures, HaveTheirDiagonalExactlyAtEveryDepth) {
  for (const char* depth : {"1", "2", "5"})
    for (const char* powers : names_of(PowersKind{})) {
      const auto options =
          options_of({{"depth", depth}, {"features", "64"}, {"powers", powers}, {"bias", "2"}});
      const NtkSketchFeatures map(3, options, rng::Key{1});
      const std::vector<float> x = {3, 4, -1};
      const auto z = transform(map, x);
      EXPECT_NEAR(oracle::dot(z, z), 30 * static_cast<double>(options.depth + 1),
                  1e-5 * 30 * static_cast<double>(options.depth + 1));
    }
}

std::vector<double> sketched(const auto& sketch, const std::vector<double>& x) {
  const std::vector<float> row(x.begin(), x.end());
  std::vector<float> out(sketch.out_dim());
  sketch.apply(MatrixView<const float>(row.data(), 1, static_cast<Index>(row.size())),
               MatrixView<float>(out.data(), 1, sketch.out_dim()));
  return {out.begin(), out.end()};
}

void set_length(std::vector<double>& x, double length) {
  const double now = std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
  for (double& v : x) v *= length / now;
}

/// The recursion of the card, line by line, from the same sketches.
std::vector<double> slow(const std::vector<float>& row, const NtkSketchOptions& o, rng::Key key) {
  std::vector<double> x(row.begin(), row.end());
  if (*o.bias != 0) x.push_back(*o.bias);
  const double norm = std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
  for (double& v : x) v /= norm;
  const auto p1 = truncated_series(1, o.degree, o.m1),
             p0 = truncated_series(0, o.step_degree, o.m0);
  std::vector<double> phi = x, psi = x;
  for (Index l = 1; l <= o.depth; ++l) {
    const rng::Key layer = key.child(static_cast<std::uint64_t>(l));
    const auto dim = static_cast<Index>(phi.size());
    auto next = sketched(TaylorMap(dim, p1, o.m1, o.powers, layer.child("covariance")), phi);
    auto e = sketched(TaylorMap(dim, p0, o.m0, o.powers, layer.child("derivative")), phi);
    if (o.renormalise) set_length(next, 1);
    if (o.renormalise) set_length(e, 1);
    const std::vector<float> left(e.begin(), e.end()), right(psi.begin(), psi.end());
    const RowsView pair[] = {MatrixView<const float>(left.data(), 1, o.m0),
                             MatrixView<const float>(right.data(), 1, std::ssize(right))};
    std::vector<float> product(o.ms);
    TensorSrht(o.m0, std::ssize(right), o.ms, layer.child("product"))
        .apply(pair, {product.data(), 1, o.ms});
    std::vector<double> both(product.begin(), product.end());
    both.insert(both.end(), next.begin(), next.end());
    const Index out = l == o.depth ? o.features : o.ms;
    psi = sketched(Srht(o.ms + o.m1, out, layer.child("compress")), both);
    if (o.renormalise) set_length(psi, std::sqrt(static_cast<double>(l + 1)));
    phi = next;
  }
  for (double& v : psi) v *= norm;
  return psi;
}

TEST(NtkSketchFeatures, AreTheRecursionOfTheirCard) {
  for (const char* depth : {"1", "2", "4"})
    for (const char* powers : names_of(PowersKind{}))
      for (const char* renormalise : {"true", "false"}) {
        const auto options = options_of({{"depth", depth},
                                         {"powers", powers},
                                         {"renormalise", renormalise},
                                         {"features", "16"},
                                         {"m1", "30"},
                                         {"m0", "20"},
                                         {"ms", "24"},
                                         {"bias", "0.7"}});
        const std::vector<float> x = {3, 4, -1, 0.5f, 2};
        const auto expected = slow(x, options, rng::Key{5});
        const auto z = transform(NtkSketchFeatures(5, options, rng::Key{5}), x);
        ASSERT_EQ(z.size(), expected.size());
        double size = 0;
        for (const double v : expected) size = std::max(size, std::abs(v));
        ASSERT_GT(size, 0);
        // Single precision, through depth layers.
        for (std::size_t k = 0; k < z.size(); ++k)
          ASSERT_NEAR(z[k], expected[k], 1e-5 * size) << depth << powers << renormalise;
      }
}

// What the card states for deeper maps, bias and variance, holds where it was not measured for it:
// within 5.3 standard errors.
TEST(NtkSketchFeatures, KeepTheStatedBiasAndVarianceWithDepth) {
  constexpr int kMaps = 150;
  for (const char* depth : {"2", "4"})
    for (const double a : {-0.5, 0.0, 0.7}) {
      const Params params = {{"depth", depth}, {"features", "128"}, {"bias", "0"}};
      const auto options = options_of(params);
      const auto found = moments(params, a, kMaps);
      const auto scale = static_cast<double>(options.depth + 1);
      const double tolerance = NtkSketchFeatures::relative_bias(options) * scale +
                               5.3 * std::sqrt(found.variance / kMaps);
      EXPECT_LT(tolerance, 0.2 * scale);  // T_L(0.7) is half the diagonal: zeros fail
      EXPECT_NEAR(found.mean, ntk_of_cosine(Cosine::of(a), options.depth), tolerance)
          << depth << " at " << a;
      EXPECT_LE(found.variance, NtkSketchFeatures::relative_variance(options) * scale * scale +
                                    5.3 * found.variance_error)
          << depth << " at " << a;
    }
}

// Polynomials of a vector that is too long are too large by powers of its length: a layer's error
// feeds the next one.
TEST(NtkSketchFeatures, NeedRenormalisingWhenDeep) {
  const Params params = {{"depth", "4"}, {"features", "32"}, {"bias", "0"}};
  Params published = params;
  published["renormalise"] = "false";
  EXPECT_GT(moments(published, 0.5, 100).variance, 4 * moments(params, 0.5, 100).variance);
}

TEST(NtkSketchFeatures, AreFiniteInOddShapes) {
  const struct {
    Index dim;
    const char *depth, *features;
  } shapes[] = {{1, "1", "1"}, {1, "3", "2"}, {300, "2", "10"}, {6, "32", "40"}};
  for (const auto& shape : shapes) {
    const auto options =
        options_of({{"depth", shape.depth}, {"features", shape.features}, {"bias", "0"}});
    const NtkSketchFeatures map(shape.dim, options, rng::Key{3});
    std::vector<float> row(shape.dim, 0.0f);
    for (const float z : transform(map, row)) ASSERT_EQ(z, 0.0f);
    rng::fill_normal(rng::Key{8}, 0, std::span(row));
    for (const float z : transform(map, row)) ASSERT_TRUE(std::isfinite(z));
  }
  const auto sizes = options_of(
      {{"depth", "2"}, {"features", "10"}, {"m0", "20"}, {"m1", "30"}, {"ms", "7"}, {"bias", "1"}});
  EXPECT_EQ(transform(NtkSketchFeatures(4, sizes, {}), {1, 2, 3, 4}).size(), 10U);
  EXPECT_THROW(NtkSketchFeatures(4, options_of({}), {}), Error);  // bias auto
}

}  // namespace
}  // namespace kerf::detail
