// SPDX-License-Identifier: Apache-2.0
#include "kerf/linalg/projection.h"

#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kerf/linalg/projection.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kerf::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lane = hn::ScalableTag<float>;
using Vector = hn::Vec<Lane>;

/// Rows of a dense tile.  2 x 6 sums, 2 panel vectors and one broadcast fill 15 of 16 registers;
/// with 512-bit vectors there are 32, and 12 rows read the panel half as often.
constexpr Index kTileRows = hn::MaxLanes(Lane()) >= 16 ? 12 : 6;

Index tile_rows() { return kTileRows; }
Index panel_width() { return static_cast<Index>(2 * hn::Lanes(Lane())); }

/// One panel against R rows.  x: coordinate k of row r at x[k * kTileRows + r].
template <int R>
HWY_INLINE void dense_tile(const float* HWY_RESTRICT x, const float* HWY_RESTRICT w, Index in_dim,
                           const float* HWY_RESTRICT offset, float* HWY_RESTRICT out,
                           Index stride) {
  const Lane d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Vector left[R], right[R];
  for (int r = 0; r < R; ++r) {
    left[r] = hn::LoadU(d, offset);
    right[r] = hn::LoadU(d, offset + lanes);
  }
  for (Index k = 0; k < in_dim; ++k) {
    const Vector w0 = hn::Load(d, w + k * 2 * lanes);
    const Vector w1 = hn::Load(d, w + k * 2 * lanes + lanes);
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
      const Vector value = hn::Set(d, x[k * kTileRows + r]);
      left[r] = hn::MulAdd(value, w0, left[r]);
      right[r] = hn::MulAdd(value, w1, right[r]);
    }
  }
  for (int r = 0; r < R; ++r) {
    hn::Store(left[r], d, out + r * stride);
    hn::Store(right[r], d, out + r * stride + lanes);
  }
}

template <int R = kTileRows>
void dense_panel_of(const float* x, const float* w, Index in_dim, const float* offset, float* out,
                    Index stride, Index rows) {
  if constexpr (R > 1)
    if (rows < R) return dense_panel_of<R - 1>(x, w, in_dim, offset, out, stride, rows);
  dense_tile<R>(x, w, in_dim, offset, out, stride);
}

void dense_panel(const float* x, const float* w, Index in_dim, const float* offset, float* out,
                 Index stride, Index rows) {
  dense_panel_of<>(x, w, in_dim, offset, out, stride, rows);
}

/// One panel against one sparse row.
void sparse_panel(const float* HWY_RESTRICT values, const std::int32_t* HWY_RESTRICT columns,
                  Index nonzeros, const float* HWY_RESTRICT w, const float* HWY_RESTRICT offset,
                  float* HWY_RESTRICT out) {
  const Lane d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Vector left = hn::LoadU(d, offset), right = hn::LoadU(d, offset + lanes);
  for (Index k = 0; k < nonzeros; ++k) {
    const Vector value = hn::Set(d, values[k]);
    const float* row = w + static_cast<Index>(columns[k]) * 2 * lanes;
    left = hn::MulAdd(value, hn::Load(d, row), left);
    right = hn::MulAdd(value, hn::Load(d, row + lanes), right);
  }
  hn::Store(left, d, out);
  hn::Store(right, d, out + lanes);
}

}  // namespace kerf::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kerf::detail {
namespace {

HWY_EXPORT(tile_rows);
HWY_EXPORT(panel_width);
HWY_EXPORT(dense_panel);
HWY_EXPORT(sparse_panel);

constexpr Index kChunkRows = 96;          // rows that share one reading of the panels
constexpr Index kGroupBytes = 192 << 10;  // panels that stay in the second-level cache together
constexpr Index kChunkFloats = 1 << 19;   // packed rows, at most 2 MB unless one tile is larger

/// Scratch memory that a thread keeps from call to call.
Matrix<float>& scratch(int which, Index rows, Index cols) {
  thread_local Matrix<float> memory[2];
  memory[which].resize(rows, cols);
  return memory[which];
}

/// Rows in tiles of `height`, each tile coordinate by coordinate: what dense_tile reads in order.
void pack_rows(MatrixView<const float> x, Index height, float* packed) {
  for (Index tile = 0; tile < x.rows; tile += height) {
    const Index rows = std::min(height, x.rows - tile);
    float* out = packed + tile * x.cols;
    for (Index r = 0; r < rows; ++r) {
      const float* in = x.row(tile + r).data();
      for (Index k = 0; k < x.cols; ++k) out[k * height + r] = in[k];
    }
  }
}

}  // namespace

Projection::Projection(Index in_dim, Index out_dim, const DrawRow& draw)
    : in_dim_(in_dim), out_dim_(out_dim), width_(HWY_DYNAMIC_DISPATCH(panel_width)()) {
  KERF_REQUIRE(in_dim >= 0 && out_dim >= 1, usage, "a projection from {} to {} dimensions", in_dim,
               out_dim);
  const Index count = (out_dim + width_ - 1) / width_;
  panels_.resize(count * in_dim, width_);
  offset_.assign(count * width_, 0.0f);
  parallel_for(count, 1, [&](Index begin, Index end) {
    std::vector<float> direction(in_dim);
    for (Index j = begin * width_; j < end * width_; ++j) {
      std::ranges::fill(direction, 0.0f);
      if (j < out_dim) offset_[j] = draw(j, direction);
      float* panel = panels_.data() + j / width_ * in_dim * width_ + j % width_;
      for (Index k = 0; k < in_dim; ++k) panel[k * width_] = direction[k];
    }
  });
}

void Projection::apply(const RowsView& x, const Receive& receive) const {
  KERF_REQUIRE(x.cols() == in_dim_, usage, "rows of {} columns, but the projection takes {}",
               x.cols(), in_dim_);
  if (x.is_sparse())
    apply_sparse(x.sparse(), receive);
  else
    apply_dense(x.dense(), receive);
}

void Projection::apply(const RowsView& x, MatrixView<float> out) const {
  apply(x, [&](Index i, Index first, std::span<float> y) {
    std::ranges::copy(y, out.row(i).begin() + first);
  });
}

void Projection::apply_dense(MatrixView<const float> x, const Receive& receive) const {
  const Index panels = static_cast<Index>(offset_.size()) / width_;
  const Index panel_bytes =
      std::max<Index>(1, in_dim_) * width_ * static_cast<Index>(sizeof(float));
  const Index group = std::clamp<Index>(kGroupBytes / panel_bytes, 1, 512 / width_);
  const Index height = HWY_DYNAMIC_DISPATCH(tile_rows)();
  const Index chunk =
      std::clamp(kChunkFloats / std::max<Index>(1, in_dim_) / height * height, height, kChunkRows);
  float* packed = scratch(0, chunk, in_dim_).data();
  float* sums = scratch(1, chunk, group * width_).data();
  const Index stride = group * width_;
  for (Index begin = 0; begin < x.rows; begin += chunk) {
    const Index rows = std::min(chunk, x.rows - begin);
    pack_rows(x.slice(begin, begin + rows), height, packed);
    for (Index p = 0; p < panels; p += group) {
      const Index end = std::min(p + group, panels);
      for (Index q = p; q < end; ++q)
        for (Index tile = 0; tile < rows; tile += height) HWY_DYNAMIC_DISPATCH(dense_panel)
      (packed + tile * in_dim_, panels_.data() + q * in_dim_ * width_, in_dim_,
       offset_.data() + q * width_, sums + tile * stride + (q - p) * width_, stride,
       std::min(height, rows - tile));
      const Index cols = std::min(end * width_, out_dim_) - p * width_;
      for (Index i = 0; i < rows; ++i)
        receive(begin + i, p * width_, {sums + i * stride, static_cast<std::size_t>(cols)});
    }
  }
}

void Projection::apply_sparse(const CsrView& x, const Receive& receive) const {
  const Index panels = static_cast<Index>(offset_.size()) / width_;
  float* sums = scratch(1, panels, width_).data();
  for (Index i = 0; i < x.rows; ++i) {
    const SparseRow row = x.row(i);
    for (Index p = 0; p < panels; ++p) HWY_DYNAMIC_DISPATCH(sparse_panel)
    (row.values.data(), row.columns.data(), static_cast<Index>(row.values.size()),
     panels_.data() + p * in_dim_ * width_, offset_.data() + p * width_, sums + p * width_);
    receive(i, 0, {sums, static_cast<std::size_t>(out_dim_)});
  }
}

}  // namespace kerf::detail
#endif  // HWY_ONCE
