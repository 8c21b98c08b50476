// How many random features suffice: the bounds of the paper on compositional kernels, for any
// random feature scheme with |psi| <= C.  Real circle features have C = sqrt 2.
//
// Reference:  Daniely, Frostig, Gupta, Singer 2017, Theorems 3 and 5.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <numbers>

namespace kerf::detail {

/// sqrt 2: circles, signs, categories and Gaussian bases in real form.
inline constexpr double kRealFeatureBound = std::numbers::sqrt2;

/// Theorem 3: the features q after which |k_q(x, y) - k(x, y)| < epsilon for one pair with
/// probability at least 1 - delta: q >= 2 C^4 log(2/delta) / epsilon^2.
inline double features_for_kernel_error(double epsilon, double delta,
                                        double bound = kRealFeatureBound) {
  return std::ceil(2 * std::pow(bound, 4) * std::log(2 / delta) / (epsilon * epsilon));
}

/// Theorem 3 the other way: the error that q features keep to with that probability.
inline double kernel_error_of_features(double features, double delta,
                                       double bound = kRealFeatureBound) {
  return std::sqrt(2 * std::pow(bound, 4) * std::log(2 / delta) / features);
}

/// Theorem 5: expected loss of the regularised minimiser over q features and n rows, above that of
/// any f with |f| <= B in the kernel's space, for a loss with Lipschitz constant rho and the best
/// lambda = sqrt 2 rho C / (sqrt n B):   sqrt 8 rho B C / sqrt n + rho B C / sqrt q.
inline double excess_loss(double features, double rows, double norm, double lipschitz = 1,
                          double bound = kRealFeatureBound) {
  const double scale = lipschitz * norm * bound;
  return std::sqrt(8.0) * scale / std::sqrt(rows) + scale / std::sqrt(features);
}

/// Theorem 5 with a given lambda, above the loss of one f of norm B:
/// lambda B^2 + 2 rho^2 C^2 / (lambda n) + rho B C / sqrt q.
inline double excess_loss_with_lambda(double features, double rows, double norm, double lambda,
                                      double lipschitz = 1, double bound = kRealFeatureBound) {
  return lambda * norm * norm + 2 * std::pow(lipschitz * bound, 2) / (lambda * rows) +
         lipschitz * norm * bound / std::sqrt(features);
}

/// The lambda of Theorem 5.
inline double lambda_for_norm(double rows, double norm, double lipschitz = 1,
                              double bound = kRealFeatureBound) {
  return std::numbers::sqrt2 * lipschitz * bound / (std::sqrt(rows) * norm);
}

}  // namespace kerf::detail
