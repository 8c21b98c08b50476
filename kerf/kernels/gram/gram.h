// Gram blocks at the speed of a matrix product: out(i, j) = k(x_i, y_j), single or double.
//
// Kernels of an angle or of a Euclidean distance take one GEMM a tile and a vectorised function of
// each entry (pointwise.h).  Both work with squared distances of prepared rows,
//   D = |p|^2 + |q|^2 - 2 <p, q>,    p = x / |x| - c (angle: 1 - cos = D / 2)  or  (x - c) / s,
// c = mean of (a sample of) y's prepared rows: a distance does not change when both rows move, and
// the rounding error of D is relative to |p|^2 + |q|^2, not to the distance from the origin.  A
// pair with D < t (|p|^2 + |q|^2), or nearly opposite rows, is computed again in double from the
// difference (sum) of its rows; equal rows have D = 0 exactly.  t = 0.1 in single, 0.01 in double.
// laplacian and cauchy have no product form: they run over the coordinates in vector loops, the
// products of cauchy in double always.  Any other kernel evaluates small blocks of pairs itself.
// Sparse rows with few entries take sparse dot products, others are made dense a tile at a time.
// If y is x, half of the tiles are computed and the others are their mirror images.
//
// Error:      with e = 3e-7 (single) or 1e-15 (double) the rounding of D is about e (|p|^2 + |q|^2)
//             or e D / t, hence that of an angle 2 e and that of exp(-D / 2) e (D / 2t) relative,
//             4 e absolute; cauchy and laplacian 1e-7 or 1e-16 times the exponent.
// Bits:       those of an entry do not depend on threads, on the rows asked for at a time, or on
//             memory; they do depend on the number of rows of x and y (the size of the tiles).
// Cost:       10,000 x 10,000 NTK of depth 3, 784 columns, CPU time against the GEMM of the same
//             tiles alone: 1.2 to 1.4 times in single, 1.6 in double (bench/gram_bench.cpp).
// Memory:     five numbers a row; 2 x 512 x 2048 + 512 x 512 numbers a thread.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/core/view.h"
#include "kerf/kernels/gram/gram_side.h"
#include "kerf/kernels/kernel.h"

namespace kerf::detail {

/// A Gram matrix, prepared once and computed by blocks of rows: a caller can write a matrix larger
/// than memory block by block.  Keeps references to the kernel and the rows.  T: float or double.
template <class T>
class Gram {
 public:
  /// x against y.  If y is the same view as x the matrix is symmetric, to the last bit.
  Gram(const Kernel& kernel, const RowsView& x, const RowsView& y);

  Index rows() const { return x_.rows.rows(); }
  Index cols() const { return y_.rows.rows(); }

  /// Rows begin <= i < end of the matrix; out is (end - begin) x cols().
  void compute(Index begin, Index end, MatrixView<T> out) const;

  /// Bytes that compute() needs besides `out`, on threads() threads.
  Index memory() const;

 private:
  enum class Engine { product, sparse_product, coordinates, pairs };

  struct Tile;
  struct Scratch;
  static Scratch& scratch();

  Index chunk() const;

  std::vector<Tile> tiles(Index begin, Index end) const;
  void compute_tile(const Tile& tile, Index begin, Index end, MatrixView<T> out) const;
  void products(const Tile& tile, Scratch& s) const;
  void sparse_products(const Tile& tile, Scratch& s) const;
  void coordinate_sums(const Tile& tile, Scratch& s) const;
  void pair_numbers(const Tile& tile, Scratch& s) const;
  void pair_values(const Tile& tile, Scratch& s) const;
  void values_from_distances(const Tile& tile, Index i, Scratch& s) const;
  void redo(Index i, Index j, T& number, T* other) const;

  const Kernel& kernel_;
  PairForm form_;
  Engine engine_;
  bool symmetric_;
  GramSide<T> x_, y_;
  std::vector<T> centre_;
};

/// All of it at once.
template <class T>
void gram(const Kernel& kernel, const RowsView& x, const RowsView& y, MatrixView<T> out) {
  Gram<T>(kernel, x, y).compute(0, x.rows(), out);
}

/// Rows begin .. end - 1 of it; for many blocks of one matrix keep a Gram.
template <class T>
void gram_rows(const Kernel& kernel, const RowsView& x, const RowsView& y, Index begin, Index end,
               MatrixView<T> out) {
  Gram<T>(kernel, x, y).compute(begin, end, out);
}

extern template class Gram<float>;
extern template class Gram<double>;

}  // namespace kerf::detail
