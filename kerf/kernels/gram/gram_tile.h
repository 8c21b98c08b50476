// How rows, dense or sparse, enter a tile of a Gram matrix, and what a single pair needs.  Wide rows
// enter as the doubles that they are.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "kerf/core/view.h"

namespace kerf::detail {

/// The rows that a tile works with: coordinate k of row i is (x(i, k) before[i] - centre[k]) after,
/// and `bias` stands in column cols() if it is not 0.
template <class T>
struct PackedForm {
  std::span<const double> before;  ///< empty: 1
  double after = 1;
  double bias = 0;
  std::span<const T> centre;  ///< one number a column, the bias column included

  Index cols(const RowsView& rows) const { return rows.cols() + (bias != 0 ? 1 : 0); }
};

/// Coordinates first <= k < last of rows begin .. end - 1, at out + (i - begin) * stride.
template <class T>
void pack_rows(const RowsView& rows, Index begin, Index end, const PackedForm<T>& form, Index first,
               Index last, T* out, Index stride);

/// The same coordinates of plain rows (no factors), in panels of `width` rows, each panel
/// coordinate by coordinate; rows up to `tile` are zero.
template <class T>
void pack_panels(const RowsView& rows, Index begin, Index end, Index tile, Index first, Index last,
                 Index width, T* out);

/// Dot products of sparse rows: out(i - begin, j - y_begin) = <x_i, y_j>, rows `stride` apart.
template <class T>
void sparse_dots(const CsrView& x, Index begin, Index end, const CsrView& y, Index y_begin,
                 Index y_end, T* out, Index stride);

// One pair, in double.  Rows of both kinds may be mixed.

/// sum_k (x_ik x_factor - y_jk y_factor)^2.
double squared_difference(const RowsView& x, Index i, double x_factor, const RowsView& y, Index j,
                          double y_factor);
/// sum_k |x_ik - y_jk|.
double l1_difference(const RowsView& x, Index i, const RowsView& y, Index j);
/// prod_k (1 + (x_ik - y_jk)^2 scale^2).
double cauchy_product(const RowsView& x, Index i, const RowsView& y, Index j, double scale);
/// |x_i|^2.
double squared_norm(const RowsView& x, Index i);
/// The row as double; out has cols() elements.
void copy_row(const RowsView& x, Index i, std::span<double> out);

}  // namespace kerf::detail
