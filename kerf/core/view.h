// Views beside those of api/matrix.h: rows that are dense or sparse, weights.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "kerf/api/matrix.h"

namespace kerf::detail {

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
