// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/network/ntk_random_features.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kerf/api/error.h"
#include "kerf/core/system/parallel.h"
#include "kerf/features/directions/test_directions.h"
#include "kerf/sketch/tensor_sketch.h"
#include "kerf/sketch/tensor_srht.h"
#include "tests/oracle/rows.h"
#include "tests/oracle/statistics.h"

namespace kerf::detail {
namespace {

using oracle::gaussian_row, oracle::transform;

constexpr Index kDim = 5;

/// The published layers unless `split` is given: split_network_test.cpp is about the others.
NtkMapOptions options_of(Params params) {
  params.try_emplace("split", "false");
  return map_options<NtkRandomFeatures>(params);
}

// ---- the slow oracle: one row, one direction at a time ------------------------------------------

/// W x for all directions.
std::vector<double> products(Directions kind, Index count, rng::Key key,
                             const std::vector<double>& x) {
  const auto dim = static_cast<Index>(x.size());
  Matrix<float> w(count, dim);
  for (Index j = 0; j < count; ++j) {
    if (kind == Directions::gaussian)
      rng::fill_normal(key, static_cast<std::uint64_t>(j * dim), w.row(j));
    if (kind == Directions::sphere) rng::sphere(key, static_cast<std::uint64_t>(j), w.row(j));
    if (kind == Directions::gibbs) gibbs_direction(key, static_cast<std::uint64_t>(j), 1, w.row(j));
  }
  if (kind == Directions::orthogonal) w = orthogonal_directions(dim, count, key);
  if (kind == Directions::structured && count > 0) {
    const Matrix<double> all = matrix_of(DirectionSet(kind, dim, 0, count, key), dim);
    for (Index j = 0; j < count; ++j) std::ranges::copy(all.row(j), w.row(j).begin());
  }
  std::vector<double> y(count, 0.0);
  for (Index j = 0; j < count; ++j)
    for (Index k = 0; k < dim; ++k) y[j] += w(j, k) * x[k];
  return y;
}

/// Q(e (x) psi) by the sketch itself (which has its own tests), or entry by entry.
std::vector<double> product(const NtkMapOptions& options, const NtkRandomFeatures::LayerSize& size,
                            rng::Key key, const std::vector<double>& e,
                            const std::vector<double>& psi) {
  std::vector<double> whole;
  for (const double a : e)
    for (const double b : psi) whole.push_back(a * b);
  if (options.sketch == ProductSketch::none) return whole;
  std::unique_ptr<TensorMap> sketch;
  if (options.sketch == ProductSketch::tensorsrht)
    sketch = std::make_unique<TensorSrht>(size.m0, size.psi_in, size.ms, key);
  else
    sketch = std::make_unique<TensorSketch>(std::vector<Index>{size.m0, size.psi_in}, size.ms, key);
  const std::vector<float> left(e.begin(), e.end()), right(psi.begin(), psi.end());
  std::vector<float> out(size.ms);
  const RowsView factors[] = {MatrixView<const float>(left.data(), 1, size.m0),
                              MatrixView<const float>(right.data(), 1, size.psi_in)};
  sketch->apply(factors, {out.data(), 1, size.ms});
  return {out.begin(), out.end()};
}

std::vector<double> slow_features(const std::vector<float>& row, const NtkMapOptions& options,
                                  rng::Key key) {
  std::vector<double> x(row.begin(), row.end());
  if (*options.bias != 0) x.push_back(*options.bias);
  double norm = 0;
  for (const double v : x) norm += v * v;
  norm = std::sqrt(norm);
  for (double& v : x) v /= norm;
  std::vector<double> phi = x, psi = x;
  std::uint64_t l = 0;
  for (const auto& size : NtkRandomFeatures::layer_sizes(static_cast<Index>(row.size()), options)) {
    const rng::Key layer = key.child(++l);
    const double c =
        DirectionSet::inverse_variance(options.directions, static_cast<Index>(phi.size()));
    const bool shared = options.shared_directions;
    const Index steps = size.step_directions(), widest = std::max(size.m1, steps);
    auto relu =
        products(options.directions, shared ? widest : size.m1, layer.child("directions"), phi);
    auto step = shared ? relu : products(options.directions, steps, layer.child("step"), phi);
    relu.resize(size.m1);
    step.resize(steps);
    for (double& y : relu) y = std::sqrt(2 * c / static_cast<double>(size.m1)) * std::max(0.0, y);
    const double scale = std::sqrt((size.signs ? 0.5 : 2) / static_cast<double>(steps));
    for (double& y : step) y = y > 0 ? scale : size.signs ? -scale : 0.0;
    if (size.signs) step.insert(step.begin(), std::sqrt(0.5));
    std::vector<double> next = relu;
    if (size.m0 > 0) {
      const auto q = product(options, size, layer.child("sketch"), step, psi);
      next.insert(next.end(), q.begin(), q.end());
    }
    phi = relu;
    psi = next;
  }
  for (double& v : psi) v *= norm;
  return psi;
}

TEST(NtkRandomFeatures, AreTheSlowRecursionForAllOptions) {
  const auto row = gaussian_row(kDim, 0);
  for (const char* kernel : names_of(NetworkKernel{}))
    for (const char* directions : names_of(Directions{}))
      for (const char* sketch : names_of(ProductSketch{}))
        for (const char* shared : {"true", "false"})
          for (const char* signs : {"true", "false"})
            for (const char* bias : {"0", "0.7"}) {
              // The NNGP has no products, and refuses a word about their sketch.
              if (kernel == std::string_view("nngp") && sketch != std::string_view("tensorsrht"))
                continue;
              for (const char* depth : {"1", "2", "3"}) {
                const auto options = options_of({{"kernel", kernel},
                                                 {"directions", directions},
                                                 {"sketch", sketch},
                                                 {"shared-directions", shared},
                                                 {"signs", signs},
                                                 {"bias", bias},
                                                 {"depth", depth},
                                                 {"features", "71"}});
                const NtkRandomFeatures map(kDim, options, rng::Key{8});
                const auto fast = transform(map, row);
                const auto slow = slow_features(row, options, rng::Key{8});
                ASSERT_EQ(fast.size(), slow.size());
                for (std::size_t j = 0; j < fast.size(); ++j)
                  ASSERT_NEAR(fast[j], slow[j], 2e-5 * (1 + std::abs(slow[j])))
                      << kernel << " " << directions << " " << sketch << " shared " << shared
                      << " signs " << signs << " bias " << bias << " depth " << depth
                      << ", feature " << j;
              }
            }
}

TEST(NtkRandomFeatures, TakeNumbersOfStepFeaturesAndOfProducts) {
  const auto row = gaussian_row(kDim, 1);
  for (const char* shared : {"true", "false"})
    for (const char* m0 : {"3", "90"}) {
      const auto options = options_of({{"m0", m0},
                                       {"ms", "20"},
                                       {"features", "60"},
                                       {"shared-directions", shared},
                                       {"bias", "1"}});
      const auto fast = transform(NtkRandomFeatures(kDim, options, rng::Key{2}), row);
      const auto slow = slow_features(row, options, rng::Key{2});
      ASSERT_EQ(fast.size(), slow.size());
      for (std::size_t j = 0; j < fast.size(); ++j)
        ASSERT_NEAR(fast[j], slow[j], 2e-5 * (1 + std::abs(slow[j])));
    }
}

// Depth 1 without a sketch is |x| [sqrt(2d/m1) relu(W u), sqrt(2/m0) step(W u) (x) u], u = x/|x|.
TEST(NtkRandomFeatures, WithoutSketchAreTheFormulaAtDepthOne) {
  const auto options = options_of(
      {{"sketch", "none"}, {"depth", "1"}, {"signs", "false"}, {"features", "64"}, {"bias", "0"}});
  const auto row = gaussian_row(kDim, 2);
  const auto z = transform(NtkRandomFeatures(kDim, options, rng::Key{5}), row);
  const Index m0 = 10, m1 = 64 - m0 * kDim;  // 10 (1 + 5) <= 64 < 11 (1 + 5)
  for (Index j = 0; j < m1; ++j) {
    std::vector<float> w(kDim);
    rng::sphere(rng::Key{5}.child(1).child("directions"), static_cast<std::uint64_t>(j), w);
    const double y = oracle::dot(w, row);
    EXPECT_NEAR(z[j], std::sqrt(2.0 * kDim / static_cast<double>(m1)) * std::max(0.0, y), 1e-6);
    for (Index k = 0; j < m0 && k < kDim; ++k) {
      const double expected = y > 0 ? std::sqrt(2.0 / static_cast<double>(m0)) * row[k] : 0;
      EXPECT_NEAR(z[m1 + j * kDim + k], expected, 1e-6);
    }
  }
}

TEST(NtkRandomFeatures, WithoutSketchNameTheSizeTheyNeed) {
  // 784 columns, layers of 2: 2 + 2 784 = 1570, then 2 + 2 1570 = 3142.
  const auto options = options_of(
      {{"sketch", "none"}, {"depth", "2"}, {"features", "3000"}, {"m0", "2"}, {"bias", "0"}});
  try {
    const NtkRandomFeatures map(784, options, rng::Key{1});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("needs 3142 features"), std::string::npos)
        << error.what();
  }
  const auto deep = options_of({{"sketch", "none"}, {"depth", "64"}, {"m0", "50"}, {"bias", "0"}});
  EXPECT_THROW(NtkRandomFeatures(784, deep, rng::Key{1}), Error);
}

TEST(NtkRandomFeatures, RefuseSizesThatLeaveAPartEmpty) {
  EXPECT_THROW(NtkRandomFeatures(4, options_of({{"features", "1"}, {"bias", "0"}}), {}), Error);
  EXPECT_THROW(
      NtkRandomFeatures(4, options_of({{"features", "8"}, {"ms", "8"}, {"bias", "0"}}), {}), Error);
  EXPECT_THROW(NtkRandomFeatures(4, options_of({}), {}), Error);  // bias auto
  EXPECT_NO_THROW(
      NtkRandomFeatures(4, options_of({{"features", "1"}, {"kernel", "nngp"}, {"bias", "0"}}), {}));
}

TEST(NtkRandomFeatures, AreFiniteInOddShapes) {
  const struct {
    Index dim;
    const char *depth, *features;
  } shapes[] = {{1, "1", "9"}, {1, "3", "2"}, {300, "2", "10"}, {6, "32", "200"}, {6, "64", "64"}};
  for (const auto& shape : shapes)
    for (const char* sketch : {"tensorsrht", "tensorsketch"})
      for (const char* bias : {"0", "1"}) {
        const auto options = options_of({{"depth", shape.depth},
                                         {"features", shape.features},
                                         {"sketch", sketch},
                                         {"bias", bias}});
        const NtkRandomFeatures map(shape.dim, options, rng::Key{3});
        for (const float z : transform(map, gaussian_row(shape.dim, 3)))
          ASSERT_TRUE(std::isfinite(z));
        const std::vector<float> zero(shape.dim, 0.0f);
        for (const float z : transform(map, zero)) {
          ASSERT_TRUE(std::isfinite(z));
          if (*options.bias == 0) {
            ASSERT_EQ(z, 0.0f);
          }
        }
      }
}

TEST(NtkRandomFeatures, ScaleWithTheRowWithoutBias) {
  const auto options = options_of({{"depth", "3"}, {"features", "50"}, {"bias", "0"}});
  const NtkRandomFeatures map(kDim, options, rng::Key{4});
  auto row = gaussian_row(kDim, 4);
  const auto z = transform(map, row);
  for (float& v : row) v *= 1024;  // a power of two: every operation is the same but for it
  const auto scaled = transform(map, row);
  for (std::size_t j = 0; j < z.size(); ++j) ASSERT_EQ(scaled[j], 1024 * z[j]);
}

TEST(NtkRandomFeatures, EstimateTheKernelOfTheirOptions) {
  const auto x = gaussian_row(kDim, 5), y = gaussian_row(kDim, 6);
  const std::vector<double> dx(x.begin(), x.end()), dy(y.begin(), y.end());
  for (const char* kernel : names_of(NetworkKernel{})) {
    const auto made = NtkRandomFeatures::kernel(
        options_of({{"kernel", kernel}, {"depth", "3"}, {"bias", "0.4"}}));
    const auto named = find_kernel(kernel).make({{"depth", "3"}, {"bias", "0.4"}});
    EXPECT_EQ((*made)(dx, dy), (*named)(dx, dy));
  }
}

// ---- statistics ---------------------------------------------------------------------------------

/// <z(x), z(y)> of `maps` independent maps, in parallel, minus the kernel.
std::vector<double> errors(const Params& params, const std::vector<float>& x,
                           const std::vector<float>& y, int maps) {
  const auto options = options_of(params);
  const std::vector<double> dx(x.begin(), x.end()), dy(y.begin(), y.end());
  const double exact = (*NtkRandomFeatures::kernel(options))(dx, dy);
  std::vector<double> found(maps);
  parallel_for(maps, 16, [&](Index begin, Index end) {
    for (Index t = begin; t < end; ++t) {
      const NtkRandomFeatures map(static_cast<Index>(x.size()), options,
                                  rng::Key{99}.child(static_cast<std::uint64_t>(t)));
      found[t] = oracle::dot(transform(map, x), transform(map, y)) - exact;
    }
  });
  return found;
}

/// Unit rows at an angle of 2 pi / 3, where the bias of deeper maps is largest.
const std::vector<float> kX = {1, 0, 0};
const std::vector<float> kY = {-0.5f, 0.8660254f, 0};

// The bias of depth 2 is b/m1 + O(1/m1^2): it is there (5.3 standard errors), and twice that of
// 2 m1 is the same, within 5.3 standard errors and a second-order term of 2 |b|/m1.  Many step and
// product features, which cause no bias, keep the noise below it.
TEST(NtkRandomFeatures, SlowBiasHalvesWhenFeaturesDouble) {
  constexpr int kMaps = 40000;
  for (const bool ntk : {true, false}) {
    const auto bias_of = [&](Index m1) {
      Params params = {{"depth", "2"}, {"bias", "0"}, {"kernel", ntk ? "ntk" : "nngp"}};
      if (ntk) params.insert({{"m0", "256"}, {"ms", "512"}});
      params["features"] = std::to_string(ntk ? m1 + 512 : m1);
      const auto found = oracle::sample_moments(errors(params, kX, kY, kMaps));
      return std::pair(found.mean, std::sqrt(found.variance / kMaps));
    };
    const auto [bias, error] = bias_of(8);
    const auto [half, half_error] = bias_of(16);
    const auto text = fmt::format("{}: bias {:.4f} +- {:.4f}, then {:.4f} +- {:.4f}",
                                  ntk ? "ntk" : "nngp", bias, error, half, half_error);
    RecordProperty(ntk ? "ntk" : "nngp", text);
    EXPECT_GT(std::abs(bias), 5.3 * error) << text;
    EXPECT_NEAR(2 * half, bias, 5.3 * std::hypot(error, 2 * half_error) + std::abs(bias) / 4)
        << text;
  }
}

// Root mean squares of T errors have a relative standard error of about 1/sqrt(2T) each (more for
// heavier tails: measured, by the fourth moment).  Four times the features halve the error.
TEST(NtkRandomFeatures, SlowErrorFallsAsTheRootOfFeatures) {
  constexpr int kMaps = 400;
  for (const char* depth : {"1", "3"})
    for (const char* directions : names_of(Directions{})) {
      const auto mean_square = [&](const char* features) {
        auto squares = errors(
            {{"depth", depth}, {"features", features}, {"directions", directions}, {"bias", "0"}},
            kX, kY, kMaps);
        for (double& e : squares) e *= e;
        const auto found = oracle::sample_moments(squares);
        return std::pair(found.mean, std::sqrt(found.variance / kMaps));
      };
      const auto [coarse, coarse_error] = mean_square("64");
      const auto [fine, fine_error] = mean_square("256");
      EXPECT_NEAR(4 * fine, coarse, 5.3 * std::hypot(4 * fine_error, coarse_error) + coarse / 16)
          << "depth " << depth << " " << directions;
    }
}

TEST(NtkRandomFeatures, SlowStatedVarianceCoversDepthsAndExplicitProducts) {
  constexpr int kMaps = 400;
  const Params cases[] = {
      {{"depth", "1"}, {"features", "64"}, {"sketch", "none"}, {"m0", "12"}, {"bias", "0.5"}},
      {{"depth", "1"}, {"features", "64"}, {"shared-directions", "false"}, {"bias", "0.5"}},
      {{"depth", "1"}, {"features", "64"}, {"signs", "false"}, {"bias", "0.5"}},
      {{"depth", "1"}, {"features", "5"}, {"m0", "1"}, {"bias", "0.5"}},
      {{"depth", "2"}, {"features", "128"}, {"bias", "0.5"}},
      {{"depth", "2"}, {"features", "128"}, {"sketch", "tensorsketch"}, {"bias", "0"}},
      {{"depth", "4"}, {"features", "128"}, {"bias", "0"}},
      {{"depth", "8"}, {"features", "64"}, {"bias", "0"}},
      {{"depth", "4"}, {"features", "128"}, {"kernel", "nngp"}, {"bias", "0"}}};
  const std::vector<float> near = {0.95f, 0.3f, 0.1f};
  for (const Params& params : cases)
    for (const auto& y : {kX, near, kY}) {
      const auto options = options_of(params);
      const auto kernel = NtkRandomFeatures::kernel(options);
      const auto diagonal = [&](const std::vector<float>& row) {
        const std::vector<double> r(row.begin(), row.end());
        return (*kernel)(r, r);
      };
      const auto found = oracle::sample_moments(errors(params, kX, y, kMaps));
      const double stated =
          NtkRandomFeatures::relative_variance(options) * diagonal(kX) * diagonal(y);
      EXPECT_LE(found.variance, stated + 5.3 * found.variance_error)
          << "depth " << options.depth << ", measured " << found.variance / stated
          << " of what is stated";
      if (options.depth == 1) {
        EXPECT_NEAR(found.mean, 0, 5.3 * std::sqrt(stated / kMaps));
      }
    }
}

}  // namespace
}  // namespace kerf::detail
