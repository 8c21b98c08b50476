// SPDX-License-Identifier: Apache-2.0
#include "kerf/sketch/sketch.h"

#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"

namespace kerf::detail {
namespace {

constexpr Index kMaxDim = Index{1} << 30;  // positions are 32-bit numbers

void require_dims(Index in_dim, Index out_dim) {
  KERF_REQUIRE(in_dim >= 1 && in_dim <= kMaxDim && out_dim >= 1 && out_dim <= kMaxDim, usage,
               "a sketch from {} to {} dimensions: both must be between 1 and {}", in_dim, out_dim,
               kMaxDim);
}

void require_out(MatrixView<float> out, Index rows, Index cols) {
  KERF_REQUIRE(out.rows == rows && out.cols == cols, usage,
               "a sketch of {} rows into {} dimensions cannot be written to {} x {}", rows, cols,
               out.rows, out.cols);
}

}  // namespace

Sketch::Sketch(Index in_dim, Index out_dim) : in_dim_(in_dim), out_dim_(out_dim) {
  require_dims(in_dim, out_dim);
}

void Sketch::apply(const RowsView& x, MatrixView<float> out) const {
  KERF_REQUIRE(x.cols() == in_dim_, usage, "rows of {} columns, but the sketch takes {}", x.cols(),
               in_dim_);
  require_out(out, x.rows(), out_dim_);
  parallel_for(x.rows(), grain(), [&](Index begin, Index end) {
    apply_rows(x.slice(begin, end), out.slice(begin, end));
  });
}

TensorMap::TensorMap(std::vector<Index> in_dims, Index out_dim)
    : in_dims_(std::move(in_dims)), out_dim_(out_dim) {
  KERF_REQUIRE(!in_dims_.empty(), usage, "a tensor sketch needs at least one factor");
  for (const Index in_dim : in_dims_) require_dims(in_dim, out_dim);
}

void TensorMap::apply(std::span<const RowsView> x, MatrixView<float> out) const {
  KERF_REQUIRE(static_cast<Index>(x.size()) == factors(), usage,
               "{} factors for a tensor sketch of {}", x.size(), factors());
  for (Index k = 0; k < factors(); ++k) {
    const RowsView& rows = x[k];
    KERF_REQUIRE(rows.cols() == in_dim(k) && rows.rows() == x[0].rows(), usage,
                 "factor {} has {} x {} numbers, but must have {} x {}", k, rows.rows(),
                 rows.cols(), x[0].rows(), in_dim(k));
  }
  require_out(out, x[0].rows(), out_dim_);
  parallel_for(out.rows, 8, [&](Index begin, Index end) { apply_rows(x, begin, end, out); });
}

std::span<const float> dense_row(const RowsView& x, Index i, std::vector<float>& spread) {
  if (!x.is_sparse()) return x.dense().row(i);
  spread.assign(x.cols(), 0.0f);
  const SparseRow row = x.sparse().row(i);
  for (std::size_t k = 0; k < row.values.size(); ++k) spread[row.columns[k]] = row.values[k];
  return spread;
}

}  // namespace kerf::detail
