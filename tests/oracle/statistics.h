// What statistical tests of estimators share: an estimate's mean and variance against theory.
//
// With T independent trials the mean has standard error sqrt(variance / T), and the sample variance
// sqrt((m4 - variance^2) / T), m4 the fourth central moment (estimated).  Five of those is a false
// alarm with probability below 6e-7, for either.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include "kerf/core/random/random.h"

namespace kerf::detail::oracle {

inline double dot(std::span<const float> x, std::span<const float> y) {
  double sum = 0;
  for (std::size_t j = 0; j < x.size(); ++j) sum += double{x[j]} * double{y[j]};
  return sum;
}

/// V(x, y) of kerf/sketch/sketch.h.
inline double pair_variance(std::span<const float> x, std::span<const float> y) {
  double fourth = 0;
  for (std::size_t j = 0; j < x.size(); ++j)
    fourth += double{x[j]} * double{x[j]} * double{y[j]} * double{y[j]};
  return dot(x, x) * dot(y, y) + dot(x, y) * dot(x, y) - 2 * fourth;
}

struct Moments {
  double mean, variance, variance_error;
};

inline Moments sample_moments(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  double mean = 0, second = 0, fourth = 0;
  for (const double v : values) mean += v / count;
  for (const double v : values) {
    const double square = (v - mean) * (v - mean);
    second += square / (count - 1);
    fourth += square * square / count;
  }
  return {mean, second, std::sqrt(std::max(0.0, fourth - second * second) / count)};
}

enum class Stated { exactly, at_most };

/// `estimate(key)` must have mean `exact` and the stated variance.
inline void expect_moments(int trials, double exact, double variance, Stated stated,
                           const std::function<double(rng::Key)>& estimate) {
  std::vector<double> values;
  for (int t = 0; t < trials; ++t)
    values.push_back(estimate(rng::Key{2024}.child(static_cast<std::uint64_t>(t))));
  const Moments found = sample_moments(values);
  const double rounding = 1e-5 * (std::abs(exact) + 1);  // single precision, all sizes tested
  EXPECT_NEAR(found.mean, exact, 5 * std::sqrt(variance / trials) + rounding);
  EXPECT_LE(found.variance, variance + 5 * found.variance_error + rounding * rounding);
  if (stated == Stated::exactly) {
    EXPECT_GE(found.variance, variance - 5 * found.variance_error - rounding * rounding);
  }
}

}  // namespace kerf::detail::oracle
