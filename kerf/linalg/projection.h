// Inner products of many rows with many fixed directions: the hot path of most feature maps.
//
//   y_ij = offset_j + <w_j, x_i>         x: rows, dense or sparse;  w_j: out_dim fixed directions
//
// Every y_ij is the same chain of fused multiply-adds over the coordinates in order, whatever the
// number of rows, threads or blocks around it, and a zero coordinate leaves a chain unchanged.  So
// results have the same bits for any cut into blocks, and for dense and sparse rows alike, without
// padding: one row costs one row's work.  (A BLAS gives other bits for other row counts.)
// The directions are packed once, in panels as wide as two SIMD vectors of the CPU at hand.
//
// Error:      |y - exact| <= (in_dim + 1) 2^-24 sum_k |w_jk x_ik|.
// Cost:       2 in_dim out_dim flops a dense row, at 80-95 % of what SGEMM reaches here
//             (bench/projection_bench.cpp); 2 nnz out_dim a sparse row.  Memory in_dim out_dim
//             floats.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "kerf/core/rows/matrix.h"

namespace kerf::detail {

class Projection {
 public:
  /// Writes direction j into a span of in_dim numbers and returns its offset; called from several
  /// threads at once.
  using DrawRow = std::function<float(Index j, std::span<float> direction)>;
  /// Receives y for row i, columns first .. first + y.size() - 1, while it is in cache; it may
  /// change y in place.
  using Receive = std::function<void(Index i, Index first, std::span<float> y)>;

  Projection() = default;
  Projection(Index in_dim, Index out_dim, const DrawRow& draw);

  Index in_dim() const { return in_dim_; }
  Index out_dim() const { return out_dim_; }

  /// Hands every y_ij to `receive` once.  On the calling thread; safe from several at once.
  void apply(const RowsView& x, const Receive& receive) const;
  /// out(i, j) = y_ij.
  void apply(const RowsView& x, MatrixView<float> out) const;

 private:
  void apply_dense(MatrixView<const float> x, const Receive& receive) const;
  void apply_sparse(const CsrView& x, const Receive& receive) const;

  Index in_dim_ = 0, out_dim_ = 0;
  Index width_ = 0;            // columns of a panel
  Matrix<float> panels_;       // panel p, coordinate k: width_ numbers at ((p in_dim + k) width_)
  std::vector<float> offset_;  // padded to whole panels
};

}  // namespace kerf::detail
