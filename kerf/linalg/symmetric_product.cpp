// SPDX-License-Identifier: Apache-2.0
#include "kerf/linalg/symmetric_product.h"

#include <algorithm>

#include "kerf/core/require.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kerf/linalg/symmetric_product.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kerf::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lane = hn::ScalableTag<double>;
using Vector = hn::Vec<Lane>;

/// Rows of T and vectors that are treated together: 8 sums and 4 of T fill 12 of 16 registers.
constexpr int kRows = 4, kVectors = 2;
/// Columns of T: the rows stay in the first-level cache while one vector follows the other.
constexpr Index kStrip = 512;

/// Rows of T and vectors of one step.
struct Step {
  const double* HWY_RESTRICT tile;
  Index stride, cols;
  const double* x[kVectors];
  double* left[kVectors];
  const double* y[kVectors];
  double* right[kVectors];
};

template <int R, int K, bool kBoth>
HWY_INLINE void run_step(const Step& s) {
  const Lane d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Vector sum[K][R];
  for (int k = 0; k < K; ++k)
    for (int r = 0; r < R; ++r) sum[k][r] = hn::Zero(d);
  Index j = 0;
  for (; j + lanes <= s.cols; j += lanes) {
    Vector t[R];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) t[r] = hn::LoadU(d, s.tile + r * s.stride + j);
#pragma GCC unroll 2
    for (int k = 0; k < K; ++k) {
      const Vector x = hn::LoadU(d, s.x[k] + j);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) sum[k][r] = hn::MulAdd(t[r], x, sum[k][r]);
      if constexpr (kBoth) {
        Vector out = hn::LoadU(d, s.right[k] + j);
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) out = hn::MulAdd(t[r], hn::Set(d, s.y[k][r]), out);
        hn::StoreU(out, d, s.right[k] + j);
      }
    }
  }
  for (int k = 0; k < K; ++k)
    for (int r = 0; r < R; ++r) {
      double total = hn::GetLane(hn::SumOfLanes(d, sum[k][r]));
      for (Index i = j; i < s.cols; ++i) {
        const double t = s.tile[r * s.stride + i];
        total += t * s.x[k][i];
        if constexpr (kBoth) s.right[k][i] += t * s.y[k][r];
      }
      s.left[k][r] += total;
    }
}

template <int R, int K>
HWY_NOINLINE void run_step(const Step& s, bool both) {
  if (both)
    run_step<R, K, true>(s);
  else
    run_step<R, K, false>(s);
}

/// Columns first .. first + cols - 1 of the tile.
void strip_products(MatrixView<const double> tile, Index first, Index cols,
                    MatrixView<const double> x, MatrixView<double> left, MatrixView<const double> y,
                    MatrixView<double> right) {
  const bool both = right.rows > 0;
  for (Index i = 0; i < tile.rows;) {
    const bool many_rows = tile.rows - i >= kRows;
    for (Index k = 0; k < x.rows;) {
      const Index vectors = x.rows - k >= kVectors ? kVectors : 1;
      Step s{tile.row(i).data() + first, tile.stride, cols, {}, {}, {}, {}};
      for (Index v = 0; v < vectors; ++v) {
        s.x[v] = x.row(k + v).data() + first;
        s.left[v] = left.row(k + v).data() + i;
        s.y[v] = both ? y.row(k + v).data() + i : nullptr;
        s.right[v] = both ? right.row(k + v).data() + first : nullptr;
      }
      if (many_rows)
        vectors == kVectors ? run_step<kRows, kVectors>(s, both) : run_step<kRows, 1>(s, both);
      else
        vectors == kVectors ? run_step<1, kVectors>(s, both) : run_step<1, 1>(s, both);
      k += vectors;
    }
    i += many_rows ? kRows : 1;
  }
}

void tile_products(MatrixView<const double> tile, MatrixView<const double> x,
                   MatrixView<double> left, MatrixView<const double> y, MatrixView<double> right) {
  for (Index first = 0; first < tile.cols; first += kStrip)
    strip_products(tile, first, std::min(kStrip, tile.cols - first), x, left, y, right);
}

}  // namespace kerf::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kerf::detail {
namespace {
HWY_EXPORT(tile_products);
}  // namespace

void add_tile_products(MatrixView<const double> tile, MatrixView<const double> x,
                       MatrixView<double> left, MatrixView<const double> y,
                       MatrixView<double> right) {
  KERF_REQUIRE(x.cols == tile.cols && left.rows == x.rows && left.cols == tile.rows &&
                   (right.rows == 0 || (y.rows == x.rows && y.cols == tile.rows &&
                                        right.rows == x.rows && right.cols == tile.cols)),
               usage, "a tile of {} x {} and vectors of other lengths", tile.rows, tile.cols);
  HWY_DYNAMIC_DISPATCH(tile_products)(tile, x, left, y, right);
}

}  // namespace kerf::detail
#endif  // HWY_ONCE
