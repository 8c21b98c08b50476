// How many features a theorem asks for: the published sufficient sizes of single maps, which their
// classes state in bounds() and `kerf plan` shows (insight/plan/bounds.h).
//
//   K on n rows, s = n lambda, e = epsilon, p = delta (chance of failure), s_l = statistical dim.
//   rff             frequencies >= (8/3) n/(s e^2) log(16 s_l/p), two features each; e <= 1/2
//   arccos order 0  m >= (8/3) n/(s e^2) log(16 s_l/p)
//   arccos order 1  m >= (8/3) d/e^2 min(rank(X)^2, |X|_2^2/s) log(16 s_l/p), leverage directions
//   ntk-rf depth 1  m0 >= 48 n/(e^2 s) log(48 s_l/p), m1 >= (16/3) d |X|_2^2/(e^2 s) log(48 s_l/p),
//                   ms >= 297/(e^2 p) (n/(1 + s))^2, for rows of length 1
//   one pair        8 log(2/p)/e^2 for |ka - k| <= e, real Fourier features with a phase
//
// Reference:  Avron et al., ICML 2017, theorem 7 (rff); Zandieh et al., NeurIPS 2021, theorems 1 to
//             3 (arccos, ntk-rf); Daniely et al., "Random features for compositional kernels", 2017
//             (one pair).
// Differs:    the proofs for order 1 give 16/3 where 8/3 is printed; what is printed stands here.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "kerf/core/names.h"
#include "kerf/core/options.h"
#include "kerf/core/view.h"

namespace kerf::detail {

enum class PlanGoal { epsilon, kernel_error, validation_error };
constexpr auto names_of(PlanGoal) {
  return std::array{"epsilon", "kernel_error", "validation_error"};
}

/// All that the bounds depend on.
struct BoundInputs {
  std::string map;
  Params options;  ///< complete
  PlanGoal goal = PlanGoal::epsilon;
  double target = 0.5, delta = 0.1;
  Index rows = 0, cols = 0;         ///< of the sample; a bias counts as a column
  double ridge = 0;                 ///< s
  double trace = 0, frobenius = 0;  ///< of K
  double statistical_dimension = 0;
  double rows_norm_squared = 0;  ///< |X|_2^2, the bias column included

  std::string option(const char* name) const;
  /// log(factor s_l/p).
  double logarithm(double factor) const;
  /// (8/3) n/(s e^2) log(16 s_l/p): any map with features of size at most k(x, x) = 1.
  double bounded_features() const;
};

struct FeatureBound {
  std::string name;
  double features = 0;
  std::string formula, note;
};

}  // namespace kerf::detail
