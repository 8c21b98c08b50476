// Numbers of several seeds as a mean and what it may be off by.
//
//   mean +- t sd / sqrt(count),  t: quantile of Student's distribution; 95 % unless said otherwise
//
// Differs:    one number alone has no interval: low = high = mean.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "kerf/core/view.h"

namespace kerf::detail {

struct Interval {
  double mean = 0, sd = 0;        ///< of the numbers; sd with count - 1
  double low = 0, high = 0;       ///< of the mean
  double least = 0, largest = 0;  ///< of the numbers
  Index count = 0;
};

/// Infinite numbers make mean and bounds infinite.
Interval interval_of(std::span<const double> values, double confidence = 0.95);

/// q with P(t <= q) = probability for Student's t of so many degrees of freedom.
double student_quantile(double probability, double degrees);

}  // namespace kerf::detail
