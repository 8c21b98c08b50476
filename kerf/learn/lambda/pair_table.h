// Exact kernels of one set of rows, many times over: distances once, then a function of each.
//
//   d2_ij = |x_i - x_j|^2 and |x_i|^2 give every kernel of a Euclidean distance or of an angle,
//   with any bias b (a constant coordinate):  with p = sqrt(|x_i|^2 + b^2), q likewise for j,
//     1 - cos = (d2 - (p - q)^2) / (2 p q),    1 + cos = ((p + q)^2 - d2) / (2 p q)
//
// Distances are those of gram.h, so that near rows have small ones with all their digits; equal
// rows have 1 - cos = 0 exactly.  Kernels of the sum of absolute differences have a second table,
// others (cauchy, any) are computed by gram.h each time.
//
// Error:      that of gram.h in double; 1 - cos has an absolute error of about 1e-15 d2 / (p q).
// Cost:       one Gram matrix of n rows; then a function of n^2 / 2 numbers a kernel.  8 n^2 bytes
//             a table.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/core/rows/matrix.h"
#include "kerf/kernels/kernel.h"

namespace kerf::detail {

class PairTable {
 public:
  /// The rows must outlive the table.
  explicit PairTable(const RowsView& rows);

  /// out (count x count) = the Gram matrix of the first `count` rows.
  void gram(const Kernel& kernel, Index count, MatrixView<double> out) const;

 private:
  const Matrix<double>& l1_distances() const;

  RowsView rows_;
  std::vector<double> squares_;          // |x_i|^2
  Matrix<double> distances_;             // d2
  mutable Matrix<double> l1_distances_;  // when the first kernel asks
};

}  // namespace kerf::detail
