// Views: the shapes in which rows travel.  A view does not own what it points to.
//
// Rows are samples, stored row-major, always.  Column indices of sparse rows are sorted and unique.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace kerf::detail {

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

/// Row by row, with the conversion of the elements' types.
template <class From, class To>
void copy_rows(MatrixView<From> from, MatrixView<To> to) {
  for (Index i = 0; i < from.rows; ++i) std::ranges::copy(from.row(i), to.row(i).begin());
}

/// Weights of rows; where there are none, every row counts once.
class WeightsView {
 public:
  WeightsView() = default;
  WeightsView(std::span<const double> weights) : weights_(weights) {}
  WeightsView(const std::vector<double>& weights) : weights_(weights) {}

  /// Whether there are any.
  bool given() const { return !weights_.empty(); }
  double operator[](Index i) const { return given() ? weights_[i] : 1; }
  /// The weights as they stand; empty: there are none.
  std::span<const double> values() const { return weights_; }
  /// Of the rows begin <= i < end.
  WeightsView slice(Index begin, Index end) const {
    return given() ? WeightsView(weights_.subspan(begin, end - begin)) : WeightsView();
  }

 private:
  std::span<const double> weights_;
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

/// Rows that are either dense or sparse: what every feature map and sketch accepts.  Dense rows may
/// come with the doubles that they were rounded from, for exact kernels in double.
class RowsView {
 public:
  RowsView() = default;
  RowsView(MatrixView<const float> dense, MatrixView<const double> wide)
      : dense_(dense), wide_(wide) {}
  RowsView(MatrixView<const float> dense) : dense_(dense) {}
  RowsView(MatrixView<float> dense) : dense_(dense) {}
  RowsView(CsrView sparse) : sparse_(sparse), is_sparse_(true) {}

  bool is_sparse() const { return is_sparse_; }
  Index rows() const { return is_sparse_ ? sparse_.rows : dense_.rows; }
  Index cols() const { return is_sparse_ ? sparse_.cols : dense_.cols; }
  const MatrixView<const float>& dense() const { return dense_; }
  const CsrView& sparse() const { return sparse_; }
  bool is_wide() const { return wide_.data != nullptr; }
  /// The dense rows in double; no data unless is_wide().
  const MatrixView<const double>& wide() const { return wide_; }

  RowsView slice(Index begin, Index end) const {
    if (is_sparse_) return RowsView(sparse_.slice(begin, end));
    return {dense_.slice(begin, end),
            is_wide() ? wide_.slice(begin, end) : MatrixView<const double>()};
  }

 private:
  MatrixView<const float> dense_;
  MatrixView<const double> wide_;
  CsrView sparse_;
  bool is_sparse_ = false;
};

/// Row i of x as a dense one, with zeros up to the end of `to`.
template <class T>
void copy_row(const RowsView& x, Index i, std::span<T> to) {
  if (!x.is_sparse()) {
    std::ranges::fill(std::ranges::copy(x.dense().row(i), to.begin()).out, to.end(), T{0});
    return;
  }
  std::ranges::fill(to, T{0});
  const SparseRow row = x.sparse().row(i);
  for (std::size_t k = 0; k < row.values.size(); ++k) to[row.columns[k]] = row.values[k];
}

}  // namespace kerf::detail
