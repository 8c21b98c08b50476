// Rows on the unit sphere, where homogeneous maps do their work, and the lengths they had.
//
//   x' = (x, bias), u = x' / |x'|;  a zero row has u = 0 and length 0.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/core/rows/matrix.h"

namespace kerf::detail {

/// u and |x'| for a block of rows, dense or sparse as they came.
class UnitRows {
 public:
  void assign(const RowsView& x, double bias);

  RowsView view() const { return is_sparse_ ? RowsView(sparse_.view()) : RowsView(dense_.view()); }
  double norm(Index i) const { return norms_[i]; }

 private:
  void push_sparse(const SparseRow& x, double bias, double scale);

  Matrix<float> dense_;
  CsrMatrix sparse_;
  std::vector<double> norms_;
  bool is_sparse_ = false;
};

}  // namespace kerf::detail
