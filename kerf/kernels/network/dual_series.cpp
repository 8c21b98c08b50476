// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/network/dual_series.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <sstream>

#include "kerf/core/options.h"
#include "kerf/core/require.h"
#include "kerf/kernels/network/arc_cosine.h"

namespace kerf::detail {
namespace {

constexpr Index kTable = 256;          // degrees whose cumulative sums are kept
constexpr Index kLongest = 1 << 20;    // a longer product is cut: probability below 1e-9
constexpr Index kMostTerms = 1 << 16;  // of a series given by numbers
const double kAsinTwoThirds = std::asin(2.0 / 3);

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

double number_of(const std::string& word, const std::string& text) {
  const auto number = parse_number(word);
  KERF_REQUIRE(number && std::isfinite(*number), usage,
               "the activation '{}' has '{}' where a number should be", text, word);
  return *number;
}

Index degree_of(const std::string& word, const std::string& text) {
  const double number = number_of(word, text);
  KERF_REQUIRE(
      number >= 0 && number < static_cast<double>(kMostTerms) && number == std::floor(number),
      usage, "the activation '{}' has '{}' where a whole number below {} should be", text, word,
      kMostTerms);
  return static_cast<Index>(number);
}

/// (2k)! / (4^k k!^2), the coefficients of 1/sqrt(1 - x^2): b_k falls as k^(-1/2).
double central_binomial(Index k) {
  return std::exp(std::lgamma(2.0 * static_cast<double>(k) + 1) -
                  2 * std::lgamma(static_cast<double>(k) + 1) -
                  static_cast<double>(k) * std::log(4.0));
}

/// Exact products for small k, where a relative error of 1e-15 matters to tests.
double arcsine_binomial(Index k) {
  if (k > 128) return central_binomial(k);
  double b = 1;
  for (Index i = 0; i < k; ++i)
    b *= (2 * static_cast<double>(i) + 1) / (2 * static_cast<double>(i) + 2);
  return b;
}

}  // namespace

DualSeries::DualSeries(const std::string& text) : text_(text) {
  std::vector<std::string> words = words_of(text);
  KERF_REQUIRE(!words.empty(), usage, "an activation has no name");
  Index last = -1;
  if (words.size() >= 3 && words[words.size() - 2] == "to") {
    last = degree_of(words.back(), text);
    words.resize(words.size() - 2);
  }
  const std::string name = words[0];
  const bool list = name == "series" || name == "hermite";
  const bool one = name == "exp" || name == "power" || name == "geometric";
  const std::vector<std::string> names = {"exp", "relu",    "identity", "power", "geometric",
                                          "erf", "hermite", "series",   "step"};
  KERF_REQUIRE(std::ranges::find(names, name) != names.end(), usage,
               "there is no activation '{}'{}; activations are {}", name, did_you_mean(name, names),
               fmt::join(names, ", "));
  KERF_REQUIRE(list ? words.size() >= 2 : words.size() == (one ? 2u : 1u), usage,
               "the activation '{}' should be {}", text,
               list  ? "its name and numbers"
               : one ? "its name and one number"
                     : "its name alone");
  if (one) parameter_ = number_of(words[1], text);
  if (name == "exp") {
    kind_ = Kind::exponential;
    KERF_REQUIRE(parameter_ > 0 && parameter_ <= 100, usage,
                 "the activation '{}' wants a number above 0, at most 100", text);
    mean_degree_ = parameter_;
  } else if (name == "identity" || name == "power") {
    kind_ = Kind::power;
    power_ = name == "power" ? degree_of(words[1], text) : 1;
    mean_degree_ = static_cast<double>(power_);
  } else if (name == "geometric") {
    kind_ = Kind::geometric;
    KERF_REQUIRE(parameter_ >= 0 && parameter_ < 1, usage,
                 "the activation '{}' wants a number in [0, 1): its mean degree is G / (1 - G)",
                 text);
    mean_degree_ = parameter_ / (1 - parameter_);
  } else if (name == "erf") {
    kind_ = Kind::erf;
    mean_degree_ = 2 / (std::sqrt(5.0) * kAsinTwoThirds);
  } else if (name == "step") {
    kind_ = Kind::step;
    KERF_REQUIRE(last >= 0, usage,
                 "the activation 'step' has infinite mean degree: its random features would be "
                 "infinitely long; take its first terms, as in 'step to 8'");
  } else if (list) {
    std::vector<double> numbers;
    for (std::size_t k = 1; k < words.size(); ++k) numbers.push_back(number_of(words[k], text));
    if (name == "hermite")
      for (double& value : numbers) value *= value;
    set_series(std::move(numbers), name == "series");
  }
  if (last >= 0) truncate(last);
  if (kind_ == Kind::power) return;
  double sum = 0;
  for (Index i = 0; i < kTable; ++i) cumulative_.push_back(sum += coefficient(i));
}

void DualSeries::set_series(std::vector<double> series, bool must_sum_to_one) {
  KERF_REQUIRE(static_cast<Index>(series.size()) <= kMostTerms, usage,
               "a series of {} terms is too long", series.size());
  for (std::size_t i = 0; i < series.size(); ++i)
    KERF_REQUIRE(series[i] >= 0, usage,
                 "the activation '{}' has the negative coefficient {} of degree {}: it is no "
                 "positive semi-definite function",
                 text_, series[i], i);
  const double sum = std::accumulate(series.begin(), series.end(), 0.0);
  KERF_REQUIRE(!must_sum_to_one || std::abs(sum - 1) <= 1e-9, usage,
               "the coefficients of the activation '{}' sum to {}, not to 1", text_, sum);
  KERF_REQUIRE(sum > 0, usage, "the activation '{}' is zero", text_);
  kind_ = Kind::series;
  mean_degree_ = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    series[i] /= sum;
    mean_degree_ += static_cast<double>(i) * series[i];
  }
  series_ = std::move(series);
}

void DualSeries::truncate(Index degree) {
  std::vector<double> kept;
  for (Index i = 0; i <= degree; ++i) kept.push_back(coefficient(i));
  set_series(std::move(kept), false);
}

Index DualSeries::last_degree() const {
  if (kind_ == Kind::power) return power_;
  return kind_ == Kind::series ? static_cast<Index>(series_.size()) - 1 : -1;
}

double DualSeries::operator()(double r) const {
  switch (kind_) {
    case Kind::exponential:
      return std::exp(parameter_ * (r - 1));
    case Kind::relu:
      return kappa1(Cosine::of(r)).value;
    case Kind::step:
      return kappa0(Cosine::of(r));
    case Kind::power:
      return std::pow(r, static_cast<double>(power_));
    case Kind::geometric:
      return (1 - parameter_) / (1 - parameter_ * r);
    case Kind::erf:
      return std::asin(2 * std::clamp(r, -1.0, 1.0) / 3) / kAsinTwoThirds;
    case Kind::series:
      break;
  }
  double sum = 0;
  for (std::size_t i = series_.size(); i > 0; --i) sum = sum * r + series_[i - 1];
  return sum;
}

double DualSeries::beyond_one(double r) const {
  if (r <= 1) return (*this)(r);
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  switch (kind_) {
    case Kind::exponential:
    case Kind::power:
    case Kind::series:
      return (*this)(r);
    case Kind::geometric:
      return parameter_ * r < 1 ? (*this)(r) : kInfinite;
    case Kind::erf:
      return r <= 1.5 ? std::asin(2 * r / 3) / kAsinTwoThirds : kInfinite;
    default:
      return kInfinite;
  }
}

double DualSeries::coefficient(Index i) const {
  const auto n = static_cast<double>(i);
  switch (kind_) {
    case Kind::exponential:
      return std::exp(n * std::log(parameter_) - parameter_ - std::lgamma(n + 1));
    case Kind::relu:
      if (i == 0) return std::numbers::inv_pi;
      if (i % 2 == 1) return i == 1 ? 0.5 : 0;
      return arcsine_binomial(i / 2 - 1) / ((n - 1) * n) * std::numbers::inv_pi;
    case Kind::step:
      if (i == 0) return 0.5;
      return i % 2 == 0 ? 0 : arcsine_binomial((i - 1) / 2) / n * std::numbers::inv_pi;
    case Kind::power:
      return i == power_ ? 1 : 0;
    case Kind::geometric:
      return (1 - parameter_) * std::pow(parameter_, n);
    case Kind::erf:
      if (i % 2 == 0) return 0;
      return arcsine_binomial((i - 1) / 2) * std::pow(2.0 / 3, n) / (n * kAsinTwoThirds);
    case Kind::series:
      break;
  }
  return i < static_cast<Index>(series_.size()) ? series_[i] : 0;
}

Index DualSeries::degree(double u) const {
  if (kind_ == Kind::power) return power_;
  Index i = 0;
  while (i < kTable && u >= cumulative_[i]) ++i;
  if (i < kTable) return i;
  const Index last = last_degree() < 0 ? kLongest : last_degree();
  for (double sum = cumulative_.back(); i < last; ++i)
    if (u < (sum += coefficient(i)) || sum >= 1 - 1e-15) return i;
  return last;
}

}  // namespace kerf::detail
