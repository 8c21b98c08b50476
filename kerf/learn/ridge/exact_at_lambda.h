// The system of kernel ridge regression at one given lambda (exact_ridge.h: a choice among many).
//
//   B = A + c I,   X = B^-1 Y,   and (B^-1)_gg of some groups g of rows, which are left out together
//
// Error:      B is factored in single precision, and X refined with residuals in double down to
//             1e-11 of Y.  Where B is too ill-conditioned for that (beyond about 1e6), it is
//             factored in double.  (B^-1)_ii is in the precision of the factor; groups of several rows, which
//             may be almost alike, have a factor in double.
// Cost:       n^3 / 3 flops in single precision, 12 n^2 bytes; n^2 kLeftOutRows flops for the rows; groups:
//             n^3 / 3 flops in double besides.
// Reference:  Higham, "Accuracy and stability of numerical algorithms", 2002, section 12.
// Differs:    nothing.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/core/progress.h"
#include "kerf/core/rows/matrix.h"

namespace kerf::detail {

inline constexpr Index kLeftOutRows = 512;

struct SystemSolution {
  Matrix<double> x;
  std::vector<Index> rows;  ///< all, or about kLeftOutRows in whole groups spread evenly
  Matrix<double> inverse;   ///< (B^-1)_ij for each i of `rows` and each j of its group
};

/// `a` is destroyed.  `copies`: rows of a group, which follow each other.
SystemSolution solve_at_lambda(MatrixView<double> a, const Matrix<double>& y, double c,
                               Index copies, const Progress& progress = {});

}  // namespace kerf::detail
