// Polynomials with non-negative coefficients that approximate a function of the cosine.
//
//   P(a) = sum_{j=0..p} w_j a^j,  w_j >= 0,  P(1) = f(1),  sum_g (P(a_g) - f(a_g))^2 least
// on the Chebyshev points a_g = cos(pi (g + 1/2)/G), which are dense near a = 1 and a = -1, where
// network kernels bend most.  Non-negative coefficients make P(<x, y>) a kernel again.
//
// Error:      sup_error is max |P - f| on [-1, 1] (on a grid four times as fine).  Network kernels
//             have a square-root singularity at a = 1, so it falls as p^-1/2 only: docs/ntk.md.
// Cost:       O(G p^2) for each coefficient that becomes positive: milliseconds.
// Reference:  Lawson & Hanson, "Solving least squares problems", 1974, chapter 23; remark 1 of
//             Zandieh et al., NeurIPS 2021.
// Differs:    the paper leaves the fit open; the published code solves a quadratic program and cuts
//             small coefficients off.  Here the value at 1, the kernel's diagonal, is exact.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <vector>

#include "kerf/kernels/network/arc_cosine.h"

namespace kerf::detail {

/// Highest degree that fit_polynomial() accepts.
inline constexpr Index kMaxFitDegree = 64;

struct PolynomialFit {
  std::vector<double> weights;  ///< w_0 .. w_p
  double sup_error = 0;

  double operator()(double a) const;
};

PolynomialFit fit_polynomial(const std::function<double(const Cosine&)>& f, Index degree);

/// x >= 0 with |A x - b| least; A by columns.
std::vector<double> non_negative_least_squares(const std::vector<std::vector<double>>& columns,
                                               const std::vector<double>& b);

}  // namespace kerf::detail
