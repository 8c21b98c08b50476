// A learned metric: rows that come to a map or kernel are A x, so that distances are |A (x - z)|.
//
//   diagonal   A = diag(a): every column has its own weight
//   full       A any square matrix: directions count, whatever columns they run through
//
// The last step of scaling (scaling.h), so that every map, kernel, solver and face works after it.
// learn/metric finds A; here it is only applied.
//
// Bits:       each number is one sum in double in the order of the columns, whatever rows stand around it.
// Cost:       d or d^2 multiplications a row.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <vector>

#include "kerf/core/rows/matrix.h"

namespace kerf::detail {

struct Metric {
  Matrix<double> factor;  ///< 1 x columns: the diagonal of A; columns x columns: A transposed

  bool present() const { return factor.rows() > 0; }
  bool is_diagonal() const { return factor.rows() == 1; }
  Index columns() const { return factor.cols(); }

  /// values := A values.
  void apply(std::span<float> values) const;
  void apply(std::span<double> values) const;
  /// How much each column counts: the diagonal of A'A, divided by its sum.
  std::vector<double> importance() const;
};

}  // namespace kerf::detail
