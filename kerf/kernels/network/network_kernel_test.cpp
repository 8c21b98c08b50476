// What arc-cosine kernels, the NNGP and the NTK owe to the networks they come from; their values beside
// other people's are in kernel_test.cpp.
//
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kerf/core/random/random.h"
#include "kerf/core/rows/matrix.h"
#include "kerf/kernels/kernel.h"
#include "kerf/kernels/network/arc_cosine.h"
#include "kerf/kernels/network/ntk.h"

namespace kerf::detail {
namespace {

std::unique_ptr<Kernel> make(const std::string& name, const Params& params) {
  return find_kernel(name).make(params);
}

Matrix<double> gaussian_rows(std::uint64_t seed, Index n, Index d) {
  Matrix<double> x(n, d);
  rng::fill_normal(rng::Key{seed}, 0, {x.data(), static_cast<std::size_t>(n * d)});
  return x;
}

/// 1e-12 relative.
void expect_agrees(double value, double expected, const std::string& where) {
  EXPECT_NEAR(value, expected, 1e-12 * std::abs(expected)) << where;
}

TEST(NetworkKernels, AreHomogeneousWithoutBias) {
  const auto x = gaussian_rows(7, 2, 9);
  std::vector<double> scaled(x.row(1).begin(), x.row(1).end());
  for (double& value : scaled) value *= 3.7;
  for (const char* name : {"ntk", "nngp"})
    for (const char* depth : {"1", "4"}) {
      const auto kernel = make(name, {{"depth", depth}, {"bias", "0"}});
      expect_agrees((*kernel)(x.row(0), scaled), 3.7 * (*kernel)(x.row(0), x.row(1)), name);
    }
  const auto order0 = make("arccos", {{"order", "0"}, {"bias", "0"}});
  expect_agrees((*order0)(x.row(0), scaled), (*order0)(x.row(0), x.row(1)), "order 0");
}

TEST(NetworkKernels, WithBiasAreThoseOfRowsWithOneMoreCoordinate) {
  const auto x = gaussian_rows(8, 2, 4);
  std::vector<double> a(x.row(0).begin(), x.row(0).end()), b(x.row(1).begin(), x.row(1).end());
  a.push_back(0.8);
  b.push_back(0.8);
  for (const char* name : {"ntk", "nngp", "arccos"})
    expect_agrees((*make(name, {{"bias", "0.8"}}))(x.row(0), x.row(1)),
                  (*make(name, {{"bias", "0"}}))(a, b), name);
}

TEST(NetworkKernels, OfZeroRowsAreZero) {
  const std::vector<double> zero(3, 0.0), x = {1, 2, 3};
  for (const char* name : {"ntk", "nngp"}) {
    const auto kernel = make(name, {{"depth", "3"}, {"bias", "0"}});
    EXPECT_EQ((*kernel)(zero, x), 0);
    EXPECT_EQ((*kernel)(zero, zero), 0);
  }
  for (const char* order : {"0", "1"}) {
    const auto kernel = make("arccos", {{"order", order}, {"bias", "0"}});
    EXPECT_EQ((*kernel)(x, zero), 0);
    EXPECT_EQ((*kernel)(zero, zero), 0);
  }
}

TEST(NetworkKernels, ObeyTheDepthRecursion) {
  for (const double a : {-1.0, -0.9, -0.2, 0.0, 0.3, 0.99, 1.0}) {
    double nngp = a, ntk = a;
    for (Index depth = 1; depth <= 12; ++depth) {
      const double kappa0 = 1 - std::acos(nngp) / M_PI;
      nngp = (std::sqrt(1 - nngp * nngp) + nngp * (M_PI - std::acos(nngp))) / M_PI;
      ntk = ntk * kappa0 + nngp;
      // acos of a rounded number near 1 is the textbook form's loss, not ours.
      EXPECT_NEAR(nngp_of_cosine(Cosine::of(a), depth), nngp, 1e-13) << a;
      EXPECT_NEAR(ntk_of_cosine(Cosine::of(a), depth), ntk, 1e-13 * static_cast<double>(depth + 1))
          << a;
    }
  }
}

TEST(ArcCosineFunctions, AreAccurateNearOppositeRows) {
  // Rows at the angle pi - t: kappa1 = (sin t - t cos t)/pi = t^3/(3 pi) (1 - t^2/10 + t^4/280).
  for (const double t : {1e-2, 1e-4, 1e-6}) {
    const std::vector<double> x = {1, 0}, y = {-std::cos(t), std::sin(t)};
    const Cosine a = angle_between(x, y, 0).cosine;
    expect_agrees(kappa0(a), t / M_PI, "kappa0");
    expect_agrees(kappa1(a).value, t * t * t / (3 * M_PI) * (1 - t * t / 10 + t * t * t * t / 280),
                  "kappa1");
  }
}

TEST(ArcCosineFunctions, AreAccurateNearEqualRows) {
  // 1 - kappa1 = t^2/2 - t^3/(3 pi) - t^4/24 + ... for rows at the angle t.
  for (const double t : {1e-4, 1e-6, 1e-8}) {
    const std::vector<double> x = {1, 0}, y = {std::cos(t), std::sin(t)};
    const Cosine a = angle_between(x, y, 0).cosine;
    EXPECT_NEAR(1 - kappa0(a), t / M_PI, 2.3e-16);
    const double expected = t * t / 2 - t * t * t / (3 * M_PI) - t * t * t * t / 24;
    expect_agrees(kappa1(a).one_minus, expected, "1 - kappa1");
  }
}

// 2 Step Step lies in {0, 2} with mean k <= 1: variance <= 1.  2 relu relu has a second moment of
// at most 4 sqrt(E relu^4 E relu^4) = 6 |x|^2 |y|^2.  Five standard errors: false alarm < 1e-6.
TEST(NetworkKernels, AreTheExpectationsOverRandomNetworks) {
  constexpr Index draws = 200000, d = 3;
  const std::vector<double> x = {0.5, -1, 0.3}, y = {1, 0.2, 0.4};
  double xx = 0, yy = 0, xy = 0, steps = 0, relus = 0;
  for (std::size_t j = 0; j < d; ++j) xx += x[j] * x[j], yy += y[j] * y[j], xy += x[j] * y[j];
  for (Index i = 0; i < draws; ++i) {
    double u = 0, v = 0;
    for (std::size_t j = 0; j < d; ++j) {
      const double w = rng::normal(rng::Key{11}, static_cast<std::uint64_t>(i) * d + j);
      u += w * x[j];
      v += w * y[j];
    }
    if (u > 0 && v > 0) steps += 2.0 / draws, relus += 2 * u * v / draws;
  }
  const double step_error = 5 * std::sqrt(1.0 / draws);
  const double relu_error = 5 * std::sqrt(6 * xx * yy / draws);
  const auto exact = [&](const char* name, Params params) {
    params["bias"] = "0";
    return (*make(name, params))(x, y);
  };
  EXPECT_NEAR(steps, exact("arccos", {{"order", "0"}}), step_error);
  EXPECT_NEAR(relus, exact("arccos", {{"order", "1"}}), relu_error);
  EXPECT_NEAR(xy * steps + relus, exact("ntk", {{"depth", "1"}}),
              std::abs(xy) * step_error + relu_error);

  // The second layer: 2 relu relu of a Gaussian pair whose covariance is the first layer's NNGP.
  const double c = exact("nngp", {{"depth", "1"}}) / std::sqrt(xx * yy);
  double second = 0;
  for (Index i = 0; i < draws; ++i) {
    const double g = rng::normal(rng::Key{12}, static_cast<std::uint64_t>(2 * i));
    const double h = rng::normal(rng::Key{12}, static_cast<std::uint64_t>(2 * i + 1));
    const double other = c * g + std::sqrt(1 - c * c) * h;
    if (g > 0 && other > 0) second += 2 * g * other / draws;
  }
  EXPECT_NEAR(std::sqrt(xx * yy) * second, exact("nngp", {{"depth", "2"}}), relu_error);
}

}  // namespace
}  // namespace kerf::detail
