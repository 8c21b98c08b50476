// Errors on a grid of lambdas, and the lambda that they speak for.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/learn/ridge/ridge.h"

namespace kerf::detail {

struct LambdaTable {
  std::vector<double> lambdas;              // ascending
  std::vector<std::vector<double>> errors;  // by lambda: one for each target; empty: not tried

  /// The mean over targets; infinite where not tried or not finite.
  double total(std::size_t k) const;
  double of(std::size_t k, std::size_t target) const;
  /// Of equals the largest lambda.
  std::size_t best() const;
  std::size_t best_for(std::size_t target) const;

  /// Error (numeric) when no lambda has a finite error.
  LambdaChoice choice(bool per_target) const;
};

/// The automatic grid: half decades from 1e-6 to 1e5 of the mean diagonal of the centred G/n.
/// Below that the sums' own rounding (normal_equations.h) would choose.
inline constexpr int kFirstGridStep = -12, kLastGridStep = 10;

/// The lambdas asked for, or the automatic grid.
LambdaTable empty_table(const std::vector<double>& asked, double unit);

}  // namespace kerf::detail
