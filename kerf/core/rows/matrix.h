// Owning storage beside the Matrix of api/matrix.h: copies, and CSR matrices.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/core/view.h"

namespace kerf::detail {

/// The elements of a view in memory of their own, as numbers of type T.
template <class T, class From>
Matrix<T> copy_of(MatrixView<From> from) {
  Matrix<T> to(from.rows, from.cols);
  copy_rows(from, to.view());
  return to;
}

/// The same for rows that may be sparse: with their zeros.
template <class T>
Matrix<T> dense_copy(const RowsView& x) {
  Matrix<T> to(x.rows(), x.cols());
  for (Index i = 0; i < x.rows(); ++i) copy_row(x, i, to.row(i));
  return to;
}

/// Sparse rows that own their entries; built row by row.
struct CsrMatrix {
  std::vector<float> values;
  std::vector<std::int32_t> columns;
  std::vector<Index> offsets = {0};
  Index cols = 0;

  Index rows() const { return static_cast<Index>(offsets.size()) - 1; }
  CsrView view() const { return {values.data(), columns.data(), offsets.data(), rows(), cols}; }
  void push(std::int32_t column, float value) {
    columns.push_back(column);
    values.push_back(value);
  }
  void end_row() { offsets.push_back(static_cast<Index>(values.size())); }
  void push_row(const SparseRow& row) {
    columns.insert(columns.end(), row.columns.begin(), row.columns.end());
    values.insert(values.end(), row.values.begin(), row.values.end());
    end_row();
  }
  void clear() {
    values.clear();
    columns.clear();
    offsets.assign(1, 0);
  }
};

}  // namespace kerf::detail
