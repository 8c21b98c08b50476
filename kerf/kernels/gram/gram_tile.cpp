// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/gram/gram_tile.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kerf/kernels/gram/gram_simd.h"

namespace kerf::detail {
namespace {

/// The entries of a sparse row in columns first .. last - 1.
SparseRow columns_between(const SparseRow& row, Index first, Index last) {
  const auto low = std::ranges::lower_bound(row.columns, first) - row.columns.begin();
  const auto high = std::ranges::lower_bound(row.columns, last) - row.columns.begin();
  const auto begin = static_cast<std::size_t>(low), count = static_cast<std::size_t>(high - low);
  return {row.values.subspan(begin, count), row.columns.subspan(begin, count)};
}

/// Calls f(x_k, y_k) for every column in which one of two sparse rows has an entry, in order.
template <class F>
void merge(const SparseRow& x, const SparseRow& y, F f) {
  std::size_t a = 0, b = 0;
  while (a < x.columns.size() || b < y.columns.size()) {
    const bool left =
        b == y.columns.size() || (a < x.columns.size() && x.columns[a] <= y.columns[b]);
    const bool right =
        a == x.columns.size() || (b < y.columns.size() && y.columns[b] <= x.columns[a]);
    f(left ? static_cast<double>(x.values[a]) : 0.0,
      right ? static_cast<double>(y.values[b]) : 0.0);
    if (left) ++a;
    if (right) ++b;
  }
}

/// The same for rows of any kind: a dense row is read where the sparse one has no entry, too.
template <class F>
void for_each_pair(const RowsView& x, Index i, const RowsView& y, Index j, F f) {
  if (x.is_sparse() && y.is_sparse()) return merge(x.sparse().row(i), y.sparse().row(j), f);
  std::vector<double> left(x.cols()), right(left.size());
  copy_row(x, i, left);
  copy_row(y, j, right);
  for (std::size_t k = 0; k < left.size(); ++k) f(left[k], right[k]);
}

bool is_plain(const RowsView& rows) { return !rows.is_sparse() && !rows.is_wide(); }

/// A dense row's coordinates, of whatever type it is.
template <class F>
auto with_dense_row(const RowsView& rows, Index i, F f) {
  return rows.is_wide() ? f(rows.wide().row(i)) : f(rows.dense().row(i));
}

}  // namespace

template <class T>
void pack_rows(const RowsView& rows, Index begin, Index end, const PackedForm<T>& form, Index first,
               Index last, T* out, Index stride) {
  const Index inside = std::min(last, rows.cols());  // without the bias column
  const T* centre = form.centre.data();
  const T after = static_cast<T>(form.after);
  for (Index i = begin; i < end; ++i, out += stride) {
    const double before = form.before.empty() ? 1.0 : form.before[i];
    // A factor near the end of T's range is applied in double.
    const bool plain = before < 1e37 && before > 1e-37;
    const auto product = [&](auto value) {
      return plain ? static_cast<T>(value) * static_cast<T>(before)
                   : static_cast<T>(static_cast<double>(value) * before);
    };
    if (rows.is_sparse()) {
      for (Index k = first; k < inside; ++k) out[k - first] = (T{0} - centre[k]) * after;
      const SparseRow row = columns_between(rows.sparse().row(i), first, inside);
      for (std::size_t e = 0; e < row.columns.size(); ++e) {
        const Index k = row.columns[e];
        out[k - first] = (product(row.values[e]) - centre[k]) * after;
      }
    } else {
      const T factor = static_cast<T>(before);
      with_dense_row(rows, i, [&](auto row) {
        const auto* const x = row.data();
        if (plain)
          for (Index k = first; k < inside; ++k)
            out[k - first] = (static_cast<T>(x[k]) * factor - centre[k]) * after;
        else
          for (Index k = first; k < inside; ++k)
            out[k - first] = (product(x[k]) - centre[k]) * after;
      });
    }
    if (last > rows.cols())
      out[last - 1 - first] = (static_cast<T>(form.bias * before) - centre[last - 1]) * after;
  }
}

template <class T>
void pack_panels(const RowsView& rows, Index begin, Index end, Index tile, Index first, Index last,
                 Index width, T* out) {
  const Index depth = last - first;
  std::fill_n(out, tile * depth, T{0});
  for (Index i = begin; i < end; ++i) {
    const Index r = i - begin;
    T* panel = out + r / width * width * depth + r % width;
    if (rows.is_sparse()) {
      const SparseRow row = columns_between(rows.sparse().row(i), first, last);
      for (std::size_t e = 0; e < row.columns.size(); ++e)
        panel[(row.columns[e] - first) * width] = static_cast<T>(row.values[e]);
    } else {
      with_dense_row(rows, i, [&](auto row) {
        const auto* const x = row.data();
        for (Index k = first; k < last; ++k) panel[(k - first) * width] = static_cast<T>(x[k]);
      });
    }
  }
}

template <class T>
void sparse_dots(const CsrView& x, Index begin, Index end, const CsrView& y, Index y_begin,
                 Index y_end, T* out, Index stride) {
  // A few rows of x share one reading of y: their entries lie side by side, for the columns that
  // occur in them.
  constexpr Index kRows = 16;
  thread_local std::vector<std::int32_t> slots;  // by column; -1: no row of x has an entry
  thread_local std::vector<T> entries;
  slots.assign(x.cols, -1);
  for (Index group = begin; group < end; group += kRows) {
    const Index rows = std::min(kRows, end - group);
    entries.clear();
    for (Index r = 0; r < rows; ++r) {
      const SparseRow row = x.row(group + r);
      for (std::size_t e = 0; e < row.columns.size(); ++e) {
        std::int32_t& slot = slots[row.columns[e]];
        if (slot < 0) {
          slot = static_cast<std::int32_t>(entries.size() / kRows);
          entries.resize(entries.size() + kRows, T{0});
        }
        entries[slot * kRows + r] = static_cast<T>(row.values[e]);
      }
    }
    for (Index j = y_begin; j < y_end; ++j) {
      const SparseRow row = y.row(j);
      T sums[kRows] = {};
      for (std::size_t e = 0; e < row.columns.size(); ++e) {
        const std::int32_t slot = slots[row.columns[e]];
        if (slot < 0) continue;
        const T value = static_cast<T>(row.values[e]);
        const T* with = entries.data() + static_cast<Index>(slot) * kRows;
        for (Index r = 0; r < kRows; ++r) sums[r] += value * with[r];
      }
      for (Index r = 0; r < rows; ++r) out[(group - begin + r) * stride + j - y_begin] = sums[r];
    }
    for (Index r = 0; r < rows; ++r)
      for (const std::int32_t column : x.row(group + r).columns) slots[column] = -1;
  }
}

template void pack_rows(const RowsView&, Index, Index, const PackedForm<float>&, Index, Index,
                        float*, Index);
template void pack_rows(const RowsView&, Index, Index, const PackedForm<double>&, Index, Index,
                        double*, Index);
template void pack_panels(const RowsView&, Index, Index, Index, Index, Index, Index, float*);
template void pack_panels(const RowsView&, Index, Index, Index, Index, Index, Index, double*);
template void sparse_dots(const CsrView&, Index, Index, const CsrView&, Index, Index, float*,
                          Index);
template void sparse_dots(const CsrView&, Index, Index, const CsrView&, Index, Index, double*,
                          Index);

double squared_difference(const RowsView& x, Index i, double x_factor, const RowsView& y, Index j,
                          double y_factor) {
  if (is_plain(x) && is_plain(y))
    return gram_simd::squared_difference(x.dense().row(i).data(), x_factor, y.dense().row(j).data(),
                                         y_factor, x.cols());
  double sum = 0;
  for_each_pair(x, i, y, j, [&](double a, double b) {
    const double left = x_factor * a, right = y_factor * b;
    sum += (left - right) * (left - right);
  });
  return sum;
}

double l1_difference(const RowsView& x, Index i, const RowsView& y, Index j) {
  if (is_plain(x) && is_plain(y))
    return gram_simd::l1_difference(x.dense().row(i).data(), y.dense().row(j).data(), x.cols());
  double sum = 0;
  for_each_pair(x, i, y, j, [&](double a, double b) { sum += std::abs(a - b); });
  return sum;
}

double cauchy_product(const RowsView& x, Index i, const RowsView& y, Index j, double scale) {
  double product = 1;
  for_each_pair(x, i, y, j, [&](double a, double b) {
    const double scaled = (a - b) * scale;
    product *= 1 + scaled * scaled;
  });
  return product;
}

double squared_norm(const RowsView& x, Index i) {
  const auto sum_of = [](auto values) {
    // Four sums, so that the additions overlap.
    double sums[4] = {};
    std::size_t k = 0;
    for (; k + 4 <= values.size(); k += 4)
      for (std::size_t r = 0; r < 4; ++r) {
        const double value = values[k + r];
        sums[r] += value * value;
      }
    for (; k < values.size(); ++k) sums[0] += static_cast<double>(values[k]) * values[k];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  };
  return x.is_sparse() ? sum_of(x.sparse().row(i).values) : with_dense_row(x, i, sum_of);
}

void copy_row(const RowsView& x, Index i, std::span<double> out) {
  if (!x.is_sparse())
    return with_dense_row(x, i, [&](auto row) { std::ranges::copy(row, out.begin()); });
  std::ranges::fill(out, 0.0);
  const SparseRow row = x.sparse().row(i);
  for (std::size_t e = 0; e < row.columns.size(); ++e) out[row.columns[e]] = row.values[e];
}

}  // namespace kerf::detail
