// The contract of sketches: random maps to few dimensions that keep inner products on average.
//
//   linear   (Sketch):         E <S x, S y> = <x, y>
//   multilinear (TensorMap):   E <T(x_1, .., x_q), T(y_1, .., y_q)> = <x_1, y_1> ... <x_q, y_q>
//
// T is linear in the tensor product x_1 (x) ... (x) x_q, which is never formed.  The scale that
// makes these hold is part of every sketch: callers never multiply by anything.
//
// Promises, checked for every sketch by tests/conformance/sketch_test.cpp:
//   a value        a sketch is a function of (dimensions, options, key) and never changes;
//   row-local      output row i depends on input row i only, bit for bit: any cut into blocks and
//                  any number of threads gives the same result;
//   thread-safe    apply() may be called from several threads at once; it uses parallel_for over
//                  rows itself, and runs on the calling thread inside somebody else's parallel_for;
//   dense = sparse the same row gives the same result in either form, within rounding (count and
//                  Hadamard sketches: the same bits);
//   finite         a zero row gives zeros.
// Each header states the variance of its estimates.  Throughout, for one pair of vectors,
//   V(x, y) = |x|^2 |y|^2 + <x, y>^2 - 2 sum_j x_j^2 y_j^2.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/core/view.h"

namespace kerf::detail {

/// A random linear map of rows.
class Sketch {
 public:
  virtual ~Sketch() = default;

  Index in_dim() const { return in_dim_; }
  Index out_dim() const { return out_dim_; }

  /// out(i, :) = S x(i, :).  Shapes are checked here, once, for all sketches.
  void apply(const RowsView& x, MatrixView<float> out) const;

 protected:
  Sketch(Index in_dim, Index out_dim);
  Sketch(const Sketch&) = default;
  Sketch(Sketch&&) = default;
  Sketch& operator=(const Sketch&) = default;
  Sketch& operator=(Sketch&&) = default;

 private:
  /// Some rows, on the calling thread.
  virtual void apply_rows(const RowsView& x, MatrixView<float> out) const = 0;
  /// Rows that a thread takes at a time.
  virtual Index grain() const { return 16; }

  Index in_dim_, out_dim_;
};

/// A random map of tensor products of rows, given by their factors.
class TensorMap {
 public:
  virtual ~TensorMap() = default;

  Index factors() const { return static_cast<Index>(in_dims_.size()); }
  Index in_dim(Index factor) const { return in_dims_[factor]; }
  Index out_dim() const { return out_dim_; }

  /// out(i, :) = T(x_0(i, :), x_1(i, :), ...): one view per factor, all with the same rows.
  void apply(std::span<const RowsView> x, MatrixView<float> out) const;

 protected:
  TensorMap(std::vector<Index> in_dims, Index out_dim);
  TensorMap(const TensorMap&) = default;
  TensorMap(TensorMap&&) = default;
  TensorMap& operator=(const TensorMap&) = default;
  TensorMap& operator=(TensorMap&&) = default;

 private:
  /// Rows begin <= i < end, on the calling thread.
  virtual void apply_rows(std::span<const RowsView> x, Index begin, Index end,
                          MatrixView<float> out) const = 0;

  std::vector<Index> in_dims_;
  Index out_dim_;
};

/// Row i of x as numbers in a row: its own memory if it is dense, otherwise spread into `spread`.
std::span<const float> dense_row(const RowsView& x, Index i, std::vector<float>& spread);

}  // namespace kerf::detail
