// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/network/activation.h"

#include <cmath>
#include <numbers>
#include <numeric>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"

namespace kerf::detail {
namespace {

constexpr std::size_t kMaxCoefficients = 65;

std::vector<double> parse_coefficients(const std::string& text, const char* name) {
  std::vector<double> values;
  for (std::size_t begin = 0; begin <= text.size() && !text.empty();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto value = parse_number(std::string_view(text).substr(begin, end - begin));
    KERF_REQUIRE(value.has_value() && std::abs(*value) <= 1e30, usage,
                 "{} '{}': '{}' is not a number of moderate size", spell("coefficients"), text,
                 text.substr(begin, end - begin));
    values.push_back(*value);
    begin = end + 1;
  }
  KERF_REQUIRE(!values.empty() && values.size() <= kMaxCoefficients, usage,
               "activation {} needs between 1 and {} {}, as in 0,1,0.5, not {}", name,
               kMaxCoefficients, spell("coefficients"), values.size());
  return values;
}

/// h_j of sum_n c_n g^n:  g^n = sum_k n! / (2^k k! (n-2k)!) He_{n-2k}.
std::vector<double> hermite_of_powers(const std::vector<double>& c) {
  std::vector<double> h(c.size(), 0.0);
  for (std::size_t n = 0; n < c.size(); ++n) {
    const auto N = static_cast<double>(n);
    for (std::size_t k = 0; 2 * k <= n; ++k) {
      const auto K = static_cast<double>(k);
      const double j = N - 2 * K;
      h[n - 2 * k] += c[n] * std::exp(std::lgamma(N + 1) - std::lgamma(K + 1) -
                                      std::lgamma(j + 1) / 2 - K * std::numbers::ln2);
    }
  }
  return h;
}

/// h_i of g Phi(g).  For i >= 2 it is E s''(g) He_{i-2}(g) / sqrt(i!), s'' = (2 - g^2) density(g),
/// an expectation under N(0, 1/2), where He_{2q} has the mean (-1/2)^q (2q-1)!!.
std::vector<double> hermite_of_gelu() {
  constexpr int kDegree = 126;  // h^2 below 1e-36
  const double half_root_pi = 1 / (2 * std::sqrt(std::numbers::pi));
  std::vector<double> mean(kDegree + 1, 0.0);  // of He_k / sqrt(k!)
  mean[0] = 1;
  for (int k = 0; k + 2 <= kDegree; k += 2)
    mean[static_cast<std::size_t>(k) + 2] = -mean[k] / 2 * std::sqrt((k + 1.0) / (k + 2.0));
  std::vector<double> h(kDegree + 1, 0.0);
  h[0] = half_root_pi;
  h[1] = 0.5;
  for (int i = 2; i <= kDegree; i += 2) {
    // g^2 He_k = He_{k+2} + (2k+1) He_k + k(k-1) He_{k-2}, with k = i - 2.
    const int k = i - 2;
    const auto at = [&](int j) { return j < 0 ? 0.0 : mean[j]; };
    const double to_i = std::sqrt((k + 1.0) * (k + 2.0));  // sqrt(i!) / sqrt(k!)
    const double below = std::sqrt(std::max(0.0, k * (k - 1.0)));
    h[i] = half_root_pi * ((1 - 2.0 * k) * at(k) / to_i - at(i) - below * at(k - 2) / to_i);
  }
  return h;
}

std::vector<double> normalised_squares(std::vector<double> h, const std::string& coefficients) {
  for (double& value : h) value *= value;
  const double sum = std::accumulate(h.begin(), h.end(), 0.0);
  KERF_REQUIRE(sum > 0, usage, "{} '{}': the activation is zero", spell("coefficients"),
               coefficients);
  for (double& value : h) value /= sum;
  return h;
}

Cosine negated(const Cosine& a) { return {-a.value, a.one_plus, a.one_minus}; }

}  // namespace

Activation::Activation(const ActivationOptions& options) : kind_(options.activation) {
  const char* name = name_of(kind_);
  const bool takes = kind_ == ActivationKind::polynomial || kind_ == ActivationKind::hermite;
  KERF_REQUIRE(takes || options.coefficients.empty(), usage,
               "{} are for activation polynomial or hermite, not for {}", spell("coefficients"),
               name);
  KERF_REQUIRE(kind_ == ActivationKind::leaky_relu || options.slope == ActivationOptions().slope,
               usage, "{} is for activation leaky-relu, not for {}", spell("slope"), name);
  if (kind_ == ActivationKind::leaky_relu)
    mix_ = 2 * options.slope / (1 + options.slope * options.slope);
  if (kind_ == ActivationKind::gelu) series_ = normalised_squares(hermite_of_gelu(), {});
  if (!takes) return;
  const auto given = parse_coefficients(options.coefficients, name);
  series_ = normalised_squares(kind_ == ActivationKind::hermite ? given : hermite_of_powers(given),
                               options.coefficients);
}

Cosine Activation::dual(const Cosine& a) const {
  switch (kind_) {
    case ActivationKind::relu:
      return kappa1(a);
    case ActivationKind::leaky_relu: {
      const Cosine plus = kappa1(a);
      const double minus = mix_ * kappa1(negated(a)).value;
      return {plus.value - minus, plus.one_minus + minus, plus.one_plus - minus};
    }
    case ActivationKind::erf:
      return Cosine::of(std::asin(2 * a.value / 3) / std::asin(2.0 / 3));
    case ActivationKind::sin:
      return Cosine::of(std::sinh(a.value) / std::sinh(1.0));
    case ActivationKind::exponential: {
      const double rest = -std::expm1(-a.one_minus);
      return {1 - rest, rest, 2 - rest};
    }
    default: {
      double sum = 0;
      for (std::size_t i = series_.size(); i > 0; --i) sum = sum * a.value + series_[i - 1];
      return Cosine::of(sum);
    }
  }
}

double Activation::derivative(const Cosine& a) const {
  switch (kind_) {
    case ActivationKind::relu:
      return kappa0(a);
    case ActivationKind::leaky_relu:
      return kappa0(a) + mix_ * kappa0(negated(a));
    case ActivationKind::erf:
      return 2 / (std::sqrt(9 - 4 * a.value * a.value) * std::asin(2.0 / 3));
    case ActivationKind::sin:
      return std::cosh(a.value) / std::sinh(1.0);
    case ActivationKind::exponential:
      return std::exp(-a.one_minus);
    default: {
      double sum = 0;
      for (std::size_t i = series_.size(); i > 1; --i)
        sum = sum * a.value + static_cast<double>(i - 1) * series_[i - 1];
      return sum;
    }
  }
}

}  // namespace kerf::detail
