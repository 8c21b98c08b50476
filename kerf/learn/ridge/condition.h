// How far rounding in the sums moves a ridge regression, and words for it where that is too far.
//
//   A = G - s s^T/n + n lambda I = R^T R,  W = A^-1 C.  Sums of precision u err like random numbers:
//   dG_ij = k u sqrt(G_ii G_jj) x_ij,  dC_i = k u sqrt(G_ii) |y| x_i  with x of variance 1, and
//   predictions by  mean (dW^T z)^2 = dW^T (A - n lambda I + |dG| I) dW / n,  dW = A^-1 (dC - dG W)
//
// which random vectors and solves with R give; |dG|, because A has errors of that size itself.  A condition number from a few Lanczos steps, which
// this replaces, missed half of the fits that were off, and most fits with a large one are not.
//
// Error:      an estimate, with k = 3 more often above than below the true error on the rows.
// Cost:       the factor, m^3/3 flops, and 8 solves.
// Reference:  Hutchinson, "A stochastic estimator of the trace", 1990.
// Differs:    nothing.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kerf/learn/ridge/normal_equations.h"

namespace kerf::detail {

/// Off by more than that, in standard deviations of the targets, is worth a warning.
inline constexpr double kTolerable = 1e-4;

/// Expected error of the predictions of `weights`, the solution at this lambda, in standard
/// deviations of the targets (of the worst one).  `factor`: R.
double rounding_error(std::span<const NormalEquations* const> parts,
                      MatrixView<const double> factor, double lambda,
                      MatrixView<const double> weights);

/// What the user should know, or "".  `chosen`: lambda was not given, so that nobody need raise it.
std::string rounding_warning(double error, Precision precision, bool chosen);
/// What helps against rounding, for the end of a sentence: "raise lambda or take precision double".
std::string rounding_advice(Precision precision, bool chosen);

}  // namespace kerf::detail
