// SPDX-License-Identifier: Apache-2.0
#include "kerf/sketch/count_sketch.h"

#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"
#include "kerf/sketch/osnap_column.h"

namespace kerf::detail {
namespace {

/// out += S x for coordinates `column(0) .. column(count - 1)` in order: the same sums, in the same
/// order, for dense and sparse rows (a zero adds nothing).
template <class Column>
void scatter(const float* values, Index count, Column column, Index nonzeros,
             const std::int32_t* places, const float* signs, float* out) {
  if (nonzeros == 1) {
    for (Index k = 0; k < count; ++k) {
      const Index j = column(k);
      out[places[j]] += signs[j] * values[k];
    }
    return;
  }
  for (Index k = 0; k < count; ++k) {
    const Index first = column(k) * nonzeros;
    for (Index c = first; c < first + nonzeros; ++c) out[places[c]] += signs[c] * values[k];
  }
}

}  // namespace

Osnap::Osnap(Index in_dim, Index out_dim, Index nonzeros, rng::Key key, double scale)
    : Sketch(in_dim, out_dim), nonzeros_(nonzeros) {
  KERF_REQUIRE(nonzeros >= 1 && nonzeros <= out_dim, usage,
               "OSNAP with {} nonzeros a column of {} rows", nonzeros, out_dim);
  const auto count = static_cast<std::size_t>(in_dim * nonzeros);
  places_.resize(count);
  signs_.resize(count);
  const OsnapColumns columns(out_dim, nonzeros, key, scale);
  parallel_for(in_dim, 4096, [&](Index begin, Index end) {
    for (Index i = begin * nonzeros; i < end * nonzeros; ++i) {
      const auto [place, sign] = columns.entry(i);
      places_[i] = place;
      signs_[i] = sign;
    }
  });
}

void Osnap::apply_rows(const RowsView& x, MatrixView<float> out) const {
  for (Index i = 0; i < out.rows; ++i) {
    float* row = out.row(i).data();
    std::fill_n(row, out.cols, 0.0f);
    if (x.is_sparse()) {
      const SparseRow entries = x.sparse().row(i);
      scatter(
          entries.values.data(), static_cast<Index>(entries.values.size()),
          [columns = entries.columns.data()](Index k) { return Index{columns[k]}; }, nonzeros_,
          places_.data(), signs_.data(), row);
    } else {
      scatter(
          x.dense().row(i).data(), in_dim(), [](Index k) { return k; }, nonzeros_, places_.data(),
          signs_.data(), row);
    }
  }
}

}  // namespace kerf::detail
