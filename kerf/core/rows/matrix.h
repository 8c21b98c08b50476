// Owning storage: 64-byte aligned dense matrices, CSR matrices, and a block of rows with targets.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "kerf/core/view.h"

namespace kerf::detail {

/// Every row of a Matrix<T> made by `Matrix::padded` starts on a multiple of this.
inline constexpr std::size_t kAlignment = 64;

/// 64-byte aligned memory; throws Error (memory) instead of std::bad_alloc.
void* allocate_aligned(Index count, std::size_t element_size);
void free_aligned(void* memory);

/// A dense row-major matrix that keeps its memory when it shrinks, so blocks can be reused.
/// Elements are not initialised by resize().
template <class T>
class Matrix {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Matrix() = default;
  Matrix(Index rows, Index cols) { resize(rows, cols); }

  void resize(Index rows, Index cols) {
    const Index count = rows * cols;
    if (count > capacity_) {
      data_.reset();  // free first: the peak must not hold both
      data_.reset(static_cast<T*>(allocate_aligned(count, sizeof(T))));
      capacity_ = count;
    }
    rows_ = rows;
    cols_ = cols;
  }
  void fill(T value) { std::fill_n(data_.get(), rows_ * cols_, value); }

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::span<T> row(Index i) { return view().row(i); }
  std::span<const T> row(Index i) const { return view().row(i); }
  T& operator()(Index i, Index j) { return data_[i * cols_ + j]; }
  T operator()(Index i, Index j) const { return data_[i * cols_ + j]; }

  MatrixView<T> view() { return {data_.get(), rows_, cols_}; }
  MatrixView<const T> view() const { return {data_.get(), rows_, cols_}; }
  Matrix copy() const {
    Matrix to(rows_, cols_);
    copy_rows(view(), to.view());
    return to;
  }

 private:
  struct Free {
    void operator()(T* memory) const { free_aligned(memory); }
  };
  std::unique_ptr<T[], Free> data_;
  Index rows_ = 0, cols_ = 0, capacity_ = 0;
};

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
