// How badly conditioned a ridge system is, and words for it where the precision does not reach.
//
//   A = G - s s^T/n + n lambda I;   k steps of Lanczos' method with full reorthogonalisation give
//   Ritz values between the extreme eigenvalues of A
//
// Error:      an estimate from below: the largest eigenvalue within a percent, the smallest (above
//             n lambda) only as far as k steps see it.
// Cost:       k products with G: 2 k m^2 flops, k = 16.
// Reference:  Golub & Van Loan, "Matrix computations", section 10.1.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kerf/learn/normal_equations.h"

namespace kerf {

double condition_number(std::span<const NormalEquations> parts, double lambda);

/// Condition numbers up to which predictions are within 1e-4 of exact ones.
double reach_of(Precision precision);

/// What the user should know, or "".
std::string condition_warning(std::span<const NormalEquations> parts, double lambda,
                              Precision precision);

}  // namespace kerf
