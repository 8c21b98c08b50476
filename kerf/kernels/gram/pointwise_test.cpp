// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/gram/pointwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kerf/kernels/network/ntk.h"

namespace kerf::detail {
namespace {

/// Angles with cosines over all of [-1, 1], dense near both ends: 1 - a and 1 + a as T.
template <class T>
struct Angles {
  std::vector<T> u, v, out;
  std::vector<Cosine> exact;

  Angles() {
    for (int i = 0; i <= 1000; ++i) add(static_cast<T>(i / 1000.0), false);
    for (int i = 0; i <= 1000; ++i) add(static_cast<T>(i / 1000.0), true);
    for (double small = 1e-30; small < 1e-2; small *= 1.7) {
      add(static_cast<T>(small), false);
      add(static_cast<T>(small), true);
    }
    out.resize(u.size());
  }
  /// The number m in [0, 1] as 1 - a or, if opposite, 1 + a.
  void add(T m, bool opposite) {
    const auto rest = static_cast<double>(m);
    u.push_back(opposite ? 2 - m : m);
    v.push_back(opposite ? m : 2 - m);
    exact.push_back(opposite ? Cosine{rest - 1, 2 - rest, rest} : Cosine{1 - rest, rest, 2 - rest});
  }
};

template <class T>
class Pointwise : public ::testing::Test {
 protected:
  static constexpr double kUnit = std::numeric_limits<T>::epsilon();
  // Ours rounds about six times, by half a unit; in double the oracle's own error counts as well
  // (it cubes an angle of relative error one unit).
  static constexpr double kUnits = std::is_same_v<T, double> ? 7 : 3;
};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Pointwise, Precisions);

TYPED_TEST(Pointwise, ArcCosineFunctionsKeepTheirRelativeAccuracy) {
  Angles<TypeParam> angles;
  pointwise::kappa0(angles.u, angles.v, angles.out);
  for (std::size_t i = 0; i < angles.u.size(); ++i) {
    const double expected = kappa0(angles.exact[i]);
    EXPECT_NEAR(angles.out[i], expected, this->kUnits * this->kUnit * expected) << angles.u[i];
  }
  pointwise::nngp(1, angles.u, angles.v, angles.out);
  for (std::size_t i = 0; i < angles.u.size(); ++i) {
    const double expected = kappa1(angles.exact[i]).value;
    const double smallest = std::numeric_limits<TypeParam>::min();
    EXPECT_NEAR(angles.out[i], expected, this->kUnits * this->kUnit * expected + smallest)
        << angles.u[i];
  }
}

TYPED_TEST(Pointwise, NetworksFollowTheRecursion) {
  Angles<TypeParam> angles;
  for (const Index depth : {1, 2, 3, 8, 64}) {
    const auto units = static_cast<double>(depth + 2);
    pointwise::nngp(depth, angles.u, angles.v, angles.out);
    for (std::size_t i = 0; i < angles.u.size(); ++i)
      EXPECT_NEAR(angles.out[i], nngp_of_cosine(angles.exact[i], depth), units * this->kUnit);
    pointwise::ntk(depth, angles.u, angles.v, angles.out);
    for (std::size_t i = 0; i < angles.u.size(); ++i)
      EXPECT_NEAR(angles.out[i], ntk_of_cosine(angles.exact[i], depth),
                  units * this->kUnit * static_cast<double>(depth + 1))
          << angles.u[i] << " depth " << depth;
  }
}

TYPED_TEST(Pointwise, EqualRowsAreExact) {
  const std::vector<TypeParam> u = {0}, v = {2};
  std::vector<TypeParam> out(1);
  for (const Index depth : {1, 5}) {
    pointwise::ntk(depth, u, v, out);
    EXPECT_EQ(out[0], static_cast<TypeParam>(depth + 1));
    pointwise::nngp(depth, u, v, out);
    EXPECT_EQ(out[0], 1);
  }
  pointwise::kappa0(u, v, out);
  EXPECT_EQ(out[0], 1);
}

TYPED_TEST(Pointwise, ExponentialsAndReciprocals) {
  std::vector<TypeParam> x, out(37);
  for (int i = 0; i < 37; ++i) x.push_back(static_cast<TypeParam>(0.07 * i * i));
  const auto unit = [&](double value, double exponent) {
    return this->kUnit * (2 + exponent) * value;  // the exponent's own rounding is magnified
  };
  pointwise::exp_minus(0.5, x, out);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double e = 0.5 * static_cast<double>(x[i]);
    EXPECT_NEAR(out[i], std::exp(-e), unit(std::exp(-e), e));
  }
  pointwise::exp_minus_sqrt(x, out);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double e = std::sqrt(static_cast<double>(x[i]));
    EXPECT_NEAR(out[i], std::exp(-e), unit(std::exp(-e), e));
  }
  for (TypeParam& value : x) value += 1;
  pointwise::reciprocal(x, out);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(out[i], 1 / x[i]);
  const std::vector<TypeParam> far = {std::numeric_limits<TypeParam>::infinity(), 0};
  std::vector<TypeParam> ends(2);
  pointwise::exp_minus(1, far, ends);
  EXPECT_EQ(ends[0], 0);
  EXPECT_EQ(ends[1], 1);
}

// Ours rounds the distance, the factor, the exponential (whose exponent magnifies) and the product.
TYPED_TEST(Pointwise, MaternFunctionsAreTheirClosedForms) {
  std::vector<TypeParam> x = {0, std::numeric_limits<TypeParam>::infinity(),
                              std::numeric_limits<TypeParam>::max()};
  for (double square = 1e-30; square < 1e4; square *= 1.3)
    x.push_back(static_cast<TypeParam>(square));
  std::vector<TypeParam> three(x.size()), five(x.size());
  pointwise::matern32(x, three);
  pointwise::matern52(x, five);
  EXPECT_EQ(three[0], 1);
  EXPECT_EQ(five[0], 1);
  for (const std::size_t far : {1, 2}) {
    EXPECT_EQ(three[far], 0);
    EXPECT_EQ(five[far], 0);
  }
  for (std::size_t i = 3; i < x.size(); ++i) {
    const long double r = std::sqrt(static_cast<long double>(x[i]));
    const auto expect = [&](TypeParam value, long double exact) {
      const auto units = static_cast<double>((4 + r) * exact);
      EXPECT_NEAR(static_cast<double>(value), static_cast<double>(exact),
                  this->kUnit * units + std::numeric_limits<TypeParam>::min())
          << x[i];
      EXPECT_LE(value, 1);
    };
    expect(three[i], (1 + r) * std::exp(-r));
    expect(five[i], (1 + r + r * r / 3) * std::exp(-r));
  }
}

}  // namespace
}  // namespace kerf::detail
