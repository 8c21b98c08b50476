// Sketches of the rows' dimension: S Z for a matrix Z whose rows arrive as a stream.
//
//   S is m x n, n the length of the stream (not known beforehand), Z is n x cols; row g of Z meets
//   column g of S, a function of (key, g).  The sum S Z is all that is kept.
//
// RowOsnap:   OSNAP (count_sketch.h) with c nonzeros in each column of S; c = 1: CountSketch.
// RowSrht:    an independent SRHT for each block of B = 2^b rows, with independent signs on its m
//             outputs too, all added up: S = sum_b R_b S_b.  Keeps up to B rows, where a
//             block does not come whole.
//
// Unbiased:   E (S Z)^T (S Z) = Z^T Z.
// Variance:   for columns u, v of Z.  RowOsnap: V(u, v) / m (sketch.h).  RowSrht, with u_b the
//             piece of u in block b and rho as in srht.h:
//               (1/m) (sum_b rho V(u_b, v_b) + sum_{b != c} (|u_b|^2 |v_c|^2 + <u_b,v_b><u_c,v_c>))
//             Without the signs R_b equal positions of two blocks would collide for certain.
// Blocks:     rows given in order give the same bits however the stream is cut, at any number of
//             threads; parts added apart and merged agree within rounding.
// Cost:       RowOsnap: c additions an element.  RowSrht: log2 B + m/B additions an element.
// Reference:  Clarkson & Woodruff, "Low rank approximation and regression in input sparsity time",
//             STOC 2013; Balabanov et al., "Block subsampled randomized Hadamard transform", 2022.
// Differs:    the blocks' SRHTs use balanced samples.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "kerf/core/random/random.h"
#include "kerf/core/rows/matrix.h"

namespace kerf::detail {

class RowOsnap {
 public:
  RowOsnap(Index out_rows, Index cols, Index nonzeros, rng::Key key);

  /// Adds rows number first_row, first_row + 1, ... of the stream.
  void add(Index first_row, const RowsView& z);

  /// Adds `factor` times row `row` of the stream to `sum`; called from several threads at once.
  using AddRow = std::function<void(Index row, float factor, std::span<float> sum)>;
  /// Adds rows 0 .. rows - 1 of a stream that can be read in any order, as often as need be: the
  /// bits of add().  One row of S Z after the other is summed up and stays in cache meanwhile,
  /// where add() writes to c of them, anywhere in memory, for every row of Z.
  void add_in_any_order(Index rows, const AddRow& add_row);
  /// Memory of add_in_any_order.
  static Index order_bytes(Index rows, Index nonzeros) { return 4 * rows * nonzeros; }

  /// Adds what a sketch of other rows, with the same dimensions and key, has seen.
  void merge(const RowOsnap& other);
  /// S Z so far.
  MatrixView<const float> result() const { return sum_.view(); }

 private:
  Index nonzeros_;
  rng::Key key_;
  Matrix<float> sum_;
};

class RowSrht {
 public:
  /// `block_rows`: B, a power of two; 0: m rounded up to one, at least 256.
  RowSrht(Index out_rows, Index cols, rng::Key key, Index block_rows = 0);

  Index block_rows() const { return block_rows_; }

  void add(Index first_row, const RowsView& z);
  void merge(const RowSrht& other);
  /// S Z so far, m x cols.
  Matrix<float> result() const;

 private:
  /// Keeps rows begin .. end - 1 of z, which begin `offset` rows into the block.
  void add_pending(Index block, Index offset, const RowsView& z, Index begin, Index end);
  /// sum += the sketch of one block of rows.
  void add_block(Index block, MatrixView<const float> rows, Matrix<float>& sum) const;
  void flush();

  rng::Key key_;
  Index out_rows_, cols_, block_rows_;
  Matrix<float> sum_;      // the first columns of all rows, then the next, ...: no far jumps
  Matrix<float> pending_;  // B x cols: the rows of the current block so far, zeros elsewhere
  Index block_ = -1;       // its number; -1: nothing is pending
};

}  // namespace kerf::detail
