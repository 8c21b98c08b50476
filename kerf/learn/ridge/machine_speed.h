// How fast this machine is at what fits consist of.
//
//   assumed    what choices between solvers count with: the same on every machine and in every run, so
//              that the same command gives the same model
//   measured   what expected times are said with: sums over rows, timed for some milliseconds once for each
//              number of threads; the rest is as much faster or slower than assumed as they are
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/view.h"

namespace kerf::detail {

/// Of all threads together, in a second.
struct Speeds {
  double sums = 0;         ///< flops of sums over rows in single precision (n m^2 for n rows)
  double sums_double = 0;  ///< the same in double
  double thin = 0;         ///< flops of products where one matrix has a few columns only
  double factor = 0;       ///< flops of a Cholesky factor in double (m^3/3)
  double memory = 0;       ///< bytes read
  /// Seconds that one row's features take on all threads; 0: by products with the inputs.
  double feature_row = 0;
  /// Seconds that reading one row takes; 0: it is in memory.
  double read_row = 0;
};

Speeds assumed_speeds();
const Speeds& measured_speeds();

}  // namespace kerf::detail
