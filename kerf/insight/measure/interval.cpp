// SPDX-License-Identifier: Apache-2.0
#include "kerf/insight/measure/interval.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

#include "kerf/core/require.h"

namespace kerf::detail {

double student_quantile(double probability, double degrees) {
  return boost::math::quantile(boost::math::students_t(degrees), probability);
}

Interval interval_of(std::span<const double> values, double confidence) {
  KERF_REQUIRE(!values.empty(), usage, "an interval needs at least one number");
  Interval out;
  out.count = std::ssize(values);
  const auto n = static_cast<double>(out.count);
  out.least = std::ranges::min(values);
  out.largest = std::ranges::max(values);
  if (!std::isfinite(out.least) || !std::isfinite(out.largest)) {
    out.mean = out.sd = out.low = out.high = std::numeric_limits<double>::infinity();
    return out;
  }
  for (const double v : values) out.mean += v / n;
  double squares = 0;
  for (const double v : values) squares += (v - out.mean) * (v - out.mean);
  if (out.count > 1) out.sd = std::sqrt(squares / (n - 1));
  const double reach =
      out.count > 1 ? student_quantile((1 + confidence) / 2, n - 1) * out.sd / std::sqrt(n) : 0;
  out.low = out.mean - reach;
  out.high = out.mean + reach;
  return out;
}

}  // namespace kerf::detail
