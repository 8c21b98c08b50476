// Matrices and views of them: the shapes in which rows travel.  A view does not own what it points to.
//
// Rows are samples, stored row-major, always.  Column indices of sparse rows are sorted and unique.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include "kerf/api/export.h"

namespace kerf {

/// The one integer type for sizes and positions.
using Index = std::int64_t;

/// A dense row-major matrix: element (i, j) is data[i * stride + j].
template <class T>
struct MatrixView {
  T* data = nullptr;
  Index rows = 0;
  Index cols = 0;
  Index stride = 0;

  MatrixView() = default;
  MatrixView(T* data_, Index rows_, Index cols_, Index stride_)
      : data(data_), rows(rows_), cols(cols_), stride(stride_) {}
  MatrixView(T* data_, Index rows_, Index cols_) : MatrixView(data_, rows_, cols_, cols_) {}

  /// A view of mutable elements is also a view of constant ones.
  template <class U>
  requires(std::is_same_v<const U, T>) MatrixView(const MatrixView<U>& other)
      : MatrixView(other.data, other.rows, other.cols, other.stride) {}

  std::span<T> row(Index i) const { return {data + i * stride, static_cast<std::size_t>(cols)}; }
  T& operator()(Index i, Index j) const { return data[i * stride + j]; }

  /// Rows begin <= i < end of this view.
  MatrixView slice(Index begin, Index end) const {
    return {data + begin * stride, end - begin, cols, stride};
  }
  /// Columns begin <= j < end.
  MatrixView columns(Index begin, Index end) const {
    return {data + begin, rows, end - begin, stride};
  }
};

/// One sparse row: values[k] stands in column columns[k].
struct SparseRow {
  std::span<const float> values;
  std::span<const std::int32_t> columns;
};

/// Sparse rows (CSR): row i holds the entries offsets[i] .. offsets[i + 1] - 1.
struct CsrView {
  const float* values = nullptr;
  const std::int32_t* columns = nullptr;
  const Index* offsets = nullptr;
  Index rows = 0;
  Index cols = 0;

  SparseRow row(Index i) const {
    const auto begin = offsets[i];
    const auto count = static_cast<std::size_t>(offsets[i + 1] - begin);
    return {{values + begin, count}, {columns + begin, count}};
  }
  Index nonzeros() const { return rows == 0 ? 0 : offsets[rows] - offsets[0]; }
  CsrView slice(Index begin, Index end) const {
    return {values, columns, offsets + begin, end - begin, cols};
  }
};

/// Rows in memory, of numbers of either precision, of bytes (pixels), or sparse.  Doubles are rounded to single precision
/// only after large offsets have left their columns.
using Rows = std::variant<MatrixView<const float>, MatrixView<const double>,
                          MatrixView<const std::uint8_t>, CsrView>;

/// Every row of a Matrix<T> made by `Matrix::padded` starts on a multiple of this.
inline constexpr std::size_t kAlignment = 64;

/// 64-byte aligned memory; throws Error (memory) instead of std::bad_alloc.
KERF_API void* allocate_aligned(Index count, std::size_t element_size);
KERF_API void free_aligned(void* memory);
/// rows x cols; Error (memory) for what no matrix can have.
KERF_API Index element_count(Index rows, Index cols);

/// A dense row-major matrix that keeps its memory when it shrinks, so blocks can be reused.
/// Elements are not initialised by resize().
template <class T>
class Matrix {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Matrix() = default;
  Matrix(Index rows, Index cols) { resize(rows, cols); }
  /// What is moved from has no rows.
  Matrix(Matrix&& other) noexcept { swap(other); }
  Matrix& operator=(Matrix&& other) noexcept {
    Matrix(std::move(other)).swap(*this);
    return *this;
  }
  void swap(Matrix& other) noexcept {
    data_.swap(other.data_);
    std::swap(rows_, other.rows_);
    std::swap(cols_, other.cols_);
    std::swap(capacity_, other.capacity_);
  }

  void resize(Index rows, Index cols) {
    const Index count = element_count(rows, cols);
    if (count > capacity_) {
      *this = Matrix();  // free first: the peak must not hold both
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
    std::copy_n(data(), rows_ * cols_, to.data());
    return to;
  }

 private:
  struct Free {
    void operator()(T* memory) const { free_aligned(memory); }
  };
  std::unique_ptr<T[], Free> data_;
  Index rows_ = 0, cols_ = 0, capacity_ = 0;
};

}  // namespace kerf
