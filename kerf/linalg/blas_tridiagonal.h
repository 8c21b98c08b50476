// Eigenvalues of a symmetric matrix, step 2 of blas_eigen.cpp: those of a tridiagonal one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/core/progress.h"

namespace kerf::detail::blas {

/// Column-major, as LAPACK has it; of symmetric ones the lower triangle.
struct Columns {
  double* data;
  Index stride;
  double* at(Index row, Index col) const { return data + row + col * stride; }
};

/// Reports the share of the whole that is done.
struct Steps {
  const Progress& progress;
  Index n;
  void at(double share) const {
    report(progress, "eigenvalues", static_cast<Index>(share * static_cast<double>(n)), n, "");
  }
};
constexpr double kReduced = 0.45, kSolved = 0.65;  // shares of the time that steps 1 and 2 end at

/// T = Q D Q^T, step 1's outcome.
struct Tridiagonal {
  std::vector<double> diagonal, beside, tau;  ///< tau: of the reflections
};

/// Fills q, n x n.  Afterwards eigenvalue k, ascending, is diagonal[order[k]], its vector that column.
std::vector<Index> solve_tridiagonal(Tridiagonal& t, Columns q, Index n, const Steps& steps);

}  // namespace kerf::detail::blas
