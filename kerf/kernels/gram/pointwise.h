// Kernels as functions of one number per pair, vectorised: what turns a block of dot products into
// a block of kernel values at little more than the cost of the product.
//
//   kappa0, nngp, ntk   of an angle given as u = 1 - cos and v = 1 + cos (arc_cosine.h, ntk.h)
//   exp_minus           exp(-factor x)         exp_minus_sqrt   exp(-sqrt x)        reciprocal  1/x
//   matern32, matern52  (1 + r) exp(-r) and (1 + r + r^2/3) exp(-r), r = sqrt x; never above 1
//
// The recursion over the layers stays in registers.  With m = min(u, v) and two polynomials,
//   acos or pi - acos  = pi sqrt(m) A(m),    (sin t - t cos t) / pi = m sqrt(m) B(m),   0 <= m <= 1
// (A and B are analytic up to m = 2), one square root and two short polynomials make a layer, and
// the next layer's u = u (1 - sqrt(u) B(u)) never subtracts equal numbers: no care is needed near
// cos = 1, and near cos = -1 kappa1 = m sqrt(m) B(m) keeps its relative accuracy.
//
// Error:      about one unit in the last place a layer.
// Cost:       depth 3, AVX2: 2 ns an entry in single, 12 ns in double on one core.
// Differs:    no acos: the polynomials are Chebyshev interpolants, relative error 2e-8 (single)
//             and 8e-18 (double) before rounding.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "kerf/core/view.h"

namespace kerf::detail::pointwise {

// All spans of a call have the same length; out may be one of the inputs.

void kappa0(std::span<const float> u, std::span<const float> v, std::span<float> out);
void kappa0(std::span<const double> u, std::span<const double> v, std::span<double> out);

void nngp(Index depth, std::span<const float> u, std::span<const float> v, std::span<float> out);
void nngp(Index depth, std::span<const double> u, std::span<const double> v, std::span<double> out);

void ntk(Index depth, std::span<const float> u, std::span<const float> v, std::span<float> out);
void ntk(Index depth, std::span<const double> u, std::span<const double> v, std::span<double> out);

void exp_minus(double factor, std::span<const float> x, std::span<float> out);
void exp_minus(double factor, std::span<const double> x, std::span<double> out);

void exp_minus_sqrt(std::span<const float> x, std::span<float> out);
void exp_minus_sqrt(std::span<const double> x, std::span<double> out);

void matern32(std::span<const float> x, std::span<float> out);
void matern32(std::span<const double> x, std::span<double> out);

void matern52(std::span<const float> x, std::span<float> out);
void matern52(std::span<const double> x, std::span<double> out);

void reciprocal(std::span<const float> x, std::span<float> out);
void reciprocal(std::span<const double> x, std::span<double> out);

}  // namespace kerf::detail::pointwise
