// Extreme eigenvalues of a symmetric matrix from products with it.
//
//   v_1 at random; k steps of Lanczos' method with full reorthogonalisation give a tridiagonal T
//   whose extreme eigenvalues (Ritz values) lie between those of the matrix and tend to them
//
// Stops when |A u - t u| <= tolerance |t| for the Ritz pairs (t, u) wanted; an eigenvalue is then
// that close to t, and as a rule as close as the square of it.
//
// Error:      Ritz values are estimates from inside: the largest is never too large.  After n steps
//             they are exact to rounding.
// Cost:       a product and 4 k n flops a step; 8 k n bytes.
// Reference:  Golub & Van Loan, "Matrix computations", section 10.1.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "kerf/core/rows/matrix.h"

namespace kerf::detail {

/// out = A v.
using SymmetricProduct = std::function<void(std::span<const double> v, std::span<double> out)>;

struct LanczosOptions {
  double tolerance = 1e-5;
  Index most_steps = 400;
};

struct ExtremeEigenvalues {
  double smallest = 0, largest = 0;
  Index steps = 0;
  bool converged = true;
};

/// Which ends of the spectrum must have converged.
enum class SpectrumEnd { largest, both, largest_modulus };

ExtremeEigenvalues extreme_eigenvalues(Index n, const SymmetricProduct& product, SpectrumEnd end,
                                       const LanczosOptions& options = {});

/// The largest eigenvalues, descending: at most `count`, fewer if fewer converged.
std::vector<double> leading_eigenvalues(Index n, const SymmetricProduct& product, Index count,
                                        const LanczosOptions& options = {});

/// out = A v for a symmetric A, U v and U^T v for an upper triangular one.  The same bits for any
/// number of threads.
void symmetric_product(MatrixView<const double> a, std::span<const double> v,
                       std::span<double> out);
void upper_product(MatrixView<const double> u, std::span<const double> v, std::span<double> out);
void upper_transposed_product(MatrixView<const double> u, std::span<const double> v,
                              std::span<double> out);

}  // namespace kerf::detail
