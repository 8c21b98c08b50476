// What a Cholesky factor at one lambda tells of the lambdas beside it.
//
//   B = R^T R at c,  B' = B + d I at c' = c + d = r c
//   G_i' = (B'^-1)_ii = (1 / c) int t / (1 + (r - 1) t) dmu_i(t),   mu_i on [0, 1] with the moments c^k (B^-k)_ii
// by 0.6 times the Gauss rule of four moments and 0.4 times that of Lobatto (nodes 0 and 1 given), whose
// errors have opposite signs and, for a flat mu, the ratio 2 : 3.  Solutions by conjugate gradients:
//   (I + d B^-1) x' = x,   a condition of at most r
//
// Error:      of G' 0.1 % for a flat mu and r = 10^(+-1/2); bounds are the two rules themselves.
// Cost:       2 n^2 flops a row for moments 2 and 3, 12 n^2 flops a solution.
// Reference:  Golub & Meurant, "Matrices, moments and quadrature", 2010, chapters 6 and 7.
// Differs:    the mean of both rules in place of either bound.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "kerf/learn/ridge/kernel_factor.h"

namespace kerf::detail {

/// Ratio of lambdas that one factor tells of.
inline constexpr double kBeside = 4;

/// c G' of a row at c' = ratio c, from c^k (B^-k)_ii, k = 0 .. 3.
double leverage_beside(std::span<const double, 4> moments, double ratio);

/// (B + d)^-1 B x for each difference d: all columns of the first before the next.
Matrix<double> solutions_beside(const KernelFactor& factor, const Matrix<double>& x,
                                std::span<const double> differences);

}  // namespace kerf::detail
