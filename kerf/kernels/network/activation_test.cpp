// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/network/activation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "kerf/api/error.h"
#include "kerf/core/random/random.h"
#include "kerf/kernels/gram/gram.h"
#include "kerf/kernels/network/ntk.h"

namespace kerf::detail {
namespace {

struct Case {
  const char* name;
  ActivationOptions options;
  std::function<double(double)> s, slope;  // the activation and its derivative, any scale
  double tolerance;
};

double density(double g) { return std::exp(-g * g / 2) / std::sqrt(2 * std::numbers::pi); }
double distribution(double g) { return 0.5 * std::erfc(-g / std::numbers::sqrt2); }

constexpr double kSlope = 0.01;  // the default, which activations without a slope have

/// Kinks make the trapezoid rule converge as the square of its step only.
const std::vector<Case>& cases() {
  using enum ActivationKind;
  static const std::vector<Case> all = {
      {"relu", {}, [](double g) { return std::max(0.0, g); }, [](double g) { return g > 0; }, 2e-4},
      {"leaky",
       {leaky_relu, 0.2, ""},
       [](double g) { return g > 0 ? g : 0.2 * g; },
       [](double g) { return g > 0 ? 1 : 0.2; },
       2e-4},
      {"absolute value",
       {leaky_relu, -1, ""},
       [](double g) { return std::abs(g); },
       [](double g) { return g > 0 ? 1 : -1; },
       2e-4},
      {"erf",
       {erf, kSlope, ""},
       [](double g) { return std::erf(g); },
       [](double g) { return 2 / std::sqrt(std::numbers::pi) * std::exp(-g * g); },
       1e-12},
      {"gelu",
       {gelu, kSlope, ""},
       [](double g) { return g * distribution(g); },
       [](double g) { return distribution(g) + g * density(g); },
       1e-12},
      {"sin",
       {sin, kSlope, ""},
       [](double g) { return std::sin(g); },
       [](double g) { return std::cos(g); },
       1e-12},
      {"exponential",
       {exponential, kSlope, ""},
       [](double g) { return std::exp(g); },
       [](double g) { return std::exp(g); },
       1e-9},
      {"polynomial",
       {polynomial, kSlope, "0.3,-1,0.5,0.25"},
       [](double g) { return 0.3 - g + 0.5 * g * g + 0.25 * g * g * g; },
       [](double g) { return -1 + g + 0.75 * g * g; },
       1e-11},
      {"hermite",
       {hermite, kSlope, "0.1,1,-0.5"},
       [](double g) { return 0.1 + g - 0.5 * (g * g - 1) / std::numbers::sqrt2; },
       [](double g) { return 1 - g / std::numbers::sqrt2; },
       1e-11}};
  return all;
}

/// E f(u) f(v) over normals of correlation a, by the trapezoid rule: exponentially accurate where f
/// is smooth.
double expectation(const std::function<double(double)>& f, double a) {
  constexpr double kStep = 0.04, kEnd = 9;
  constexpr int kPoints = static_cast<int>(2 * kEnd / kStep);
  const double root = std::sqrt(1 - a * a);
  double sum = 0;
  for (int i = 0; i <= kPoints; ++i)
    for (int j = 0; j <= kPoints; ++j) {
      const double p = -kEnd + (i + 0.5) * kStep, q = -kEnd + (j + 0.5) * kStep;
      sum += f(p) * f(a * p + root * q) * density(p) * density(q);
    }
  return sum * kStep * kStep;
}

TEST(Activation, DualsAreTheExpectationsTheyStandFor) {
  for (const Case& c : cases()) {
    const Activation activation(c.options);
    double norm = 0;  // E s(g)^2: one dimension will do
    for (double g = -12; g < 12; g += 1e-3) norm += c.s(g) * c.s(g) * density(g) * 1e-3;
    for (const double a : {-0.9, -0.3, 0.4, 0.8}) {
      EXPECT_NEAR(activation.dual(Cosine::of(a)).value, expectation(c.s, a) / norm, c.tolerance)
          << c.name << " at " << a;
      // Steps in the derivative: the rule is off by its step along their boundary.
      EXPECT_NEAR(activation.derivative(Cosine::of(a)), expectation(c.slope, a) / norm,
                  c.tolerance > 1e-6 ? 2e-2 : 10 * c.tolerance)
          << c.name << " at " << a;
    }
  }
}

TEST(Activation, DualsAreOneAtOneAndTheDerivativeIsTheirs) {
  for (const Case& c : cases()) {
    const Activation activation(c.options);
    EXPECT_NEAR(activation.dual(Cosine::of(1)).value, 1, 1e-14) << c.name;
    EXPECT_NEAR(activation.dual(Cosine::of(1)).one_minus, 0, 1e-14) << c.name;
    for (const double a : {-0.8, -0.1, 0.3, 0.95}) {
      constexpr double h = 1e-5;
      const double slope =
          (activation.dual(Cosine::of(a + h)).value - activation.dual(Cosine::of(a - h)).value) /
          (2 * h);
      EXPECT_NEAR(activation.derivative(Cosine::of(a)), slope, 1e-7) << c.name << " at " << a;
      const Cosine dual = activation.dual(Cosine::of(a));
      EXPECT_NEAR(dual.one_minus, 1 - dual.value, 1e-15) << c.name;
      EXPECT_NEAR(dual.one_plus, 1 + dual.value, 1e-15) << c.name;
    }
  }
}

TEST(Activation, LeakyReluOfSlopeOneIsLinearAndOfZeroIsRelu) {
  const Activation linear({ActivationKind::leaky_relu, 1, ""});
  const Activation zero({ActivationKind::leaky_relu, 0, ""});
  for (const double a : {-1.0, -0.7, 0.0, 0.2, 1.0}) {
    EXPECT_NEAR(linear.dual(Cosine::of(a)).value, a, 1e-15);
    EXPECT_NEAR(linear.derivative(Cosine::of(a)), 1, 1e-15);
    EXPECT_EQ(zero.dual(Cosine::of(a)).value, kappa1(Cosine::of(a)).value);
  }
}

TEST(Activation, RefusesBadCoefficients) {
  using enum ActivationKind;
  for (const char* text : {"", "1,,2", "a", "1,2;3", "0,0", "1e400", "1,"})
    EXPECT_THROW(Activation({hermite, kSlope, text}), Error) << text;
  EXPECT_THROW(Activation({relu, kSlope, "1,2"}), Error);
}

// The default may be given to any of them: model files have every option.
TEST(Activation, RefusesASlopeThatItDoesNotHave) {
  using enum ActivationKind;
  EXPECT_THROW(Activation({relu, 0.5, ""}), Error);
  EXPECT_THROW(Activation({hermite, 0.5, "1,2"}), Error);
  EXPECT_NO_THROW(Activation({gelu, kSlope, ""}));
  EXPECT_NO_THROW(Activation({leaky_relu, 0.5, ""}));
}

// k(x, x) = |x|^2 sum dual'(1)^k, and Gram blocks (both precisions) are the values of single pairs.
TEST(Activation, KernelsOfNetworksFollowTheRecursion) {
  Matrix<float> rows(9, 4);
  rng::fill_normal(rng::Key{3}, 0, std::span(rows.data(), 36));
  for (const Case& c : cases())
    for (const char* name : {"ntk", "nngp"}) {
      Params params = {{"depth", "3"}, {"bias", "0.5"}};
      params["activation"] = name_of(c.options.activation);
      params["slope"] = format_number(c.options.slope);
      params["coefficients"] = c.options.coefficients;
      const auto kernel = find_kernel(name).make(params);
      Matrix<float> single(9, 9);
      Matrix<double> twice(9, 9);
      gram<float>(*kernel, rows.view(), rows.view(), single.view());
      gram<double>(*kernel, rows.view(), rows.view(), twice.view());
      const auto row = [&](Index i) {
        return std::vector<double>(rows.row(i).begin(), rows.row(i).end());
      };
      const double at_one = Activation(c.options).derivative(Cosine::of(1));
      for (Index i = 0; i < 9; ++i) {
        double square = 0.25;
        for (const double v : row(i)) square += v * v;
        const double sum = std::string(name) == "nngp"
                               ? 1
                               : 1 + at_one + at_one * at_one + at_one * at_one * at_one;
        EXPECT_NEAR((*kernel)(row(i), row(i)), square * sum, 1e-12 * square * sum) << c.name;
        for (Index j = 0; j < 9; ++j) {
          const double exact = (*kernel)(row(i), row(j));
          EXPECT_NEAR(twice(i, j), exact, 1e-12 * 10 * sum) << c.name;
          EXPECT_NEAR(single(i, j), exact, 3e-5 * 10 * sum) << c.name;
        }
      }
    }
}

TEST(Activation, RefusesKernelsThatGrowBeyondNumbers) {
  EXPECT_THROW(find_kernel("ntk").make({{"depth", "64"},
                                        {"bias", "0"},
                                        {"activation", "hermite"},
                                        {"coefficients", "0,0,0,0,0,0,1"}}),
               Error);
}

}  // namespace
}  // namespace kerf::detail
