// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/network/polynomial_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "kerf/api/error.h"
#include "kerf/core/random/random.h"
#include "kerf/kernels/network/ntk.h"

namespace kerf::detail {
namespace {

double ntk3(const Cosine& a) { return ntk_of_cosine(a, 3); }

// The conditions that make a solution of the constrained problem the best one: no coefficient is
// negative, the gradient is 0 where a coefficient is positive and points down nowhere.
TEST(NonNegativeLeastSquares, MeetsTheConditionsOfTheOptimum) {
  for (int problem = 0; problem < 20; ++problem) {
    std::vector<std::vector<double>> columns(6, std::vector<double>(9));
    std::vector<double> b(9);
    const rng::Key key = rng::Key{50}.child(static_cast<std::uint64_t>(problem));
    for (std::size_t j = 0; j < 6; ++j) rng::fill_normal(key.child(j), 0, std::span(columns[j]));
    rng::fill_normal(key.child("b"), 0, std::span(b));
    const auto x = non_negative_least_squares(columns, b);
    std::vector<double> residual = b;
    for (std::size_t j = 0; j < 6; ++j)
      for (std::size_t i = 0; i < 9; ++i) residual[i] -= columns[j][i] * x[j];
    for (std::size_t j = 0; j < 6; ++j) {
      const double slope =
          std::inner_product(residual.begin(), residual.end(), columns[j].begin(), 0.0);
      EXPECT_GE(x[j], 0);
      EXPECT_LE(slope, 1e-11);
      if (x[j] > 0) {
        EXPECT_NEAR(slope, 0, 1e-11);
      }
    }
  }
}

TEST(PolynomialFit, FindsAPolynomialThatHasNoNegativeCoefficients) {
  const auto fit = fit_polynomial(
      [](const Cosine& a) { return 0.5 + a.value + 0.25 * a.value * a.value * a.value; }, 6);
  EXPECT_NEAR(fit.weights[0], 0.5, 1e-6);
  EXPECT_NEAR(fit.weights[1], 1, 1e-6);
  EXPECT_NEAR(fit.weights[3], 0.25, 1e-6);
  EXPECT_LT(fit.sup_error, 1e-6);
}

// Depth 3: 0.048, 0.033, 0.023 of L + 1 = 4 at degrees 8, 16, 32.
TEST(PolynomialFit, OfNetworksIsExactAtOneAndAsGoodAsStated) {
  double last = 1;
  for (const auto& [degree, error] :
       {std::pair<Index, double>(8, 0.0485), {16, 0.033}, {32, 0.0235}}) {
    const auto fit = fit_polynomial(ntk3, degree);
    EXPECT_NEAR(fit(1), 4, 1e-12);
    for (const double w : fit.weights) EXPECT_GE(w, 0);
    EXPECT_LE(fit.sup_error / 4, error);
    EXPECT_LT(fit.sup_error, last);
    last = fit.sup_error;
    for (double a = -1; a <= 1; a += 0.001)
      ASSERT_LE(std::abs(fit(a) - ntk3(Cosine::of(a))), fit.sup_error * 1.001);
  }
}

TEST(PolynomialFit, TakesEveryDepthAndDegree) {
  for (const Index depth : {1, 2, 32, 64})
    for (const Index degree : {0, 1, 5, 64}) {
      const auto fit =
          fit_polynomial([=](const Cosine& a) { return ntk_of_cosine(a, depth); }, degree);
      EXPECT_NEAR(fit(1), static_cast<double>(depth + 1), 1e-9);
      EXPECT_LE(fit.sup_error, 2 * static_cast<double>(depth + 1));  // |f| <= L + 1
    }
  EXPECT_THROW(fit_polynomial(ntk3, 65), Error);
}

}  // namespace
}  // namespace kerf::detail
