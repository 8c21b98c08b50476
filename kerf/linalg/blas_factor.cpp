// Cholesky factors on fixed tiles: one tile is one single-threaded call of OpenBLAS and one piece of a
// parallel_for.  So the bits are the same for any number of threads and whatever else the process
// computes at the time, and the work can be stopped between tiles (InterruptScope).
//
// All four algorithms go along the diagonal in blocks of kBlock: the diagonal block itself, then the
// blocks beside it, then a product of inner dimension kBlock that updates everything beyond.
//   cholesky    R_kk^T R_kk = A_kk, R_kj = R_kk^-T A_kj, A_ij -= R_ki^T R_kj           n^3 / 3 flops
//   solve       x_k = R_kk^-T b_k, b_j -= R_kj^T x_k (and the like upwards)            n^2 a vector
//   inverse     A_kj = -R_kk^-1 A_kj, A_ij += A_ik A_kj, A_ik = A_ik R_kk^-1, R_kk^-1  n^3 / 3
// (the inverse: of the rows above, A_ij is then -(R^-1 of the blocks so far) R_.j)
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "kerf/core/system/parallel.h"
#include "kerf/linalg/blas.h"
#include "kerf/linalg/blas_calls.h"

namespace kerf::detail::blas {
namespace {

constexpr Index kBlock = 256;                      // along the diagonal
constexpr Index kTileRows = 256, kTileCols = 512;  // of an update
constexpr Index kWhole = 384;                      // matrices up to this order are one call

void potrf(MatrixView<double> a, blasint* info) {
  const blasint n = narrow(a.rows), stride = narrow(std::max<Index>(a.stride, 1));
  dpotrf_("L", &n, a.data, &stride, info);
}
void potrf(MatrixView<float> a, blasint* info) {
  const blasint n = narrow(a.rows), stride = narrow(std::max<Index>(a.stride, 1));
  spotrf_("L", &n, a.data, &stride, info);
}

/// b := alpha op(r)^-1 b (left) or alpha b op(r)^-1, r upper.
void trsm(bool left, bool transpose, double alpha, MatrixView<const double> r,
          MatrixView<double> b) {
  cblas_dtrsm(CblasRowMajor, left ? CblasLeft : CblasRight, CblasUpper, transposed(transpose),
              CblasNonUnit, narrow(b.rows), narrow(b.cols), alpha, r.data, narrow(r.stride), b.data,
              narrow(b.stride));
}
void trsm(bool left, bool transpose, float alpha, MatrixView<const float> r, MatrixView<float> b) {
  cblas_strsm(CblasRowMajor, left ? CblasLeft : CblasRight, CblasUpper, transposed(transpose),
              CblasNonUnit, narrow(b.rows), narrow(b.cols), alpha, r.data, narrow(r.stride), b.data,
              narrow(b.stride));
}

void syrk(MatrixView<const double> a, MatrixView<double> c) {  // c -= a^T a, upper
  cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, narrow(a.cols), narrow(a.rows), -1.0, a.data,
              narrow(a.stride), 1.0, c.data, narrow(c.stride));
}
void syrk(MatrixView<const float> a, MatrixView<float> c) {
  cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, narrow(a.cols), narrow(a.rows), -1.0f, a.data,
              narrow(a.stride), 1.0f, c.data, narrow(c.stride));
}

/// Part of a matrix.
template <class T>
MatrixView<T> part(MatrixView<T> a, Index row, Index rows, Index col, Index cols) {
  return {a.data + row * a.stride + col, rows, cols, a.stride};
}

struct Span {
  Index begin, end;
  Index size() const { return end - begin; }
};

/// The blocks along a diagonal of n.
std::vector<Span> blocks_of(Index n) {
  std::vector<Span> blocks;
  for (Index begin = 0; begin < n; begin += kBlock)
    blocks.push_back({begin, std::min(begin + kBlock, n)});
  return blocks;
}

/// body(rows, columns) over tiles of a rectangle, in parallel.
template <class Body>
void for_each_tile(Span rows, Span cols, const Body& body) {
  const Index down = (rows.size() + kTileRows - 1) / kTileRows;
  const Index across = (cols.size() + kTileCols - 1) / kTileCols;
  parallel_for(down * across, 1, [&](Index tile, Index) {
    const Index i = rows.begin + tile / across * kTileRows;
    const Index j = cols.begin + tile % across * kTileCols;
    body(Span{i, std::min(i + kTileRows, rows.end)}, Span{j, std::min(j + kTileCols, cols.end)});
  });
}

/// a := a - p^T p above the diagonal, from row and column `begin` on; p are the rows `of` of a.
template <class T>
void update_upper(MatrixView<T> a, Span of, Index begin) {
  struct Tile {
    Span rows, cols;
  };
  std::vector<Tile> tiles;
  for (Index i = begin; i < a.rows; i += kTileRows) {
    const Span rows{i, std::min(i + kTileRows, a.rows)};
    tiles.push_back({rows, rows});
    for (Index j = rows.end; j < a.cols; j += kTileCols)
      tiles.push_back({rows, {j, std::min(j + kTileCols, a.cols)}});
  }
  parallel_for(std::ssize(tiles), 1, [&](Index t, Index) {
    const auto [rows, cols] = tiles[t];
    const auto left = part<const T>(a, of.begin, of.size(), rows.begin, rows.size());
    const auto out = part(a, rows.begin, rows.size(), cols.begin, cols.size());
    if (rows.begin == cols.begin)
      syrk(left, out);
    else
      gemm(true, false, T{-1}, left, part<const T>(a, of.begin, of.size(), cols.begin, cols.size()),
           T{1}, out);
  });
}

template <class T>
Index factor(MatrixView<T> a, const Progress& progress) {
  const OneThread one;
  blasint info = 0;
  if (a.rows <= kWhole) {
    potrf(a, &info);
    return info;
  }
  const double n = static_cast<double>(a.rows);
  for (const Span k : blocks_of(a.rows)) {
    const double left = static_cast<double>(a.rows - k.begin) / n;  // its third power is the work
    report(progress, "factoring", static_cast<Index>(n * (1 - left * left * left)), a.rows, "");
    const auto diagonal = part(a, k.begin, k.size(), k.begin, k.size());
    potrf(diagonal, &info);
    if (info != 0) return k.begin + info;
    parallel_for(a.rows - k.end, kBlock, [&](Index begin, Index end) {
      trsm(true, true, T{1}, diagonal, part(a, k.begin, k.size(), k.end + begin, end - begin));
    });
    update_upper(a, k, k.end);
  }
  return 0;
}

/// b := R^-T b (transpose) or R^-1 b, in place, for vectors in the columns of b.
template <class T>
void solve_columns(MatrixView<const T> r, bool transpose, MatrixView<T> b) {
  const OneThread one;
  if (r.rows <= kWhole) return trsm(true, transpose, T{1}, r, b);
  auto blocks = blocks_of(r.rows);
  if (!transpose) std::ranges::reverse(blocks);
  for (const Span k : blocks) {
    const auto solved = b.slice(k.begin, k.end);
    parallel_for(b.cols, kTileCols, [&](Index begin, Index end) {
      trsm(true, transpose, T{1}, part(r, k.begin, k.size(), k.begin, k.size()),
           part(solved, 0, k.size(), begin, end - begin));
    });
    const Span rest = transpose ? Span{k.end, r.rows} : Span{0, k.begin};
    for_each_tile(rest, {0, b.cols}, [&](Span rows, Span cols) {
      const auto factor = transpose ? part(r, k.begin, k.size(), rows.begin, rows.size())
                                    : part(r, rows.begin, rows.size(), k.begin, k.size());
      gemm(transpose, false, T{-1}, factor,
           part<const T>(solved, 0, k.size(), cols.begin, cols.size()), T{1},
           part(b, rows.begin, rows.size(), cols.begin, cols.size()));
    });
  }
}

/// b := b R^-1 or b R^-T (transpose), in place, for vectors in the rows of b.
template <class T>
void solve_rows(MatrixView<const T> r, bool transpose, MatrixView<T> b) {
  const OneThread one;
  if (r.rows <= kWhole) return trsm(false, transpose, T{1}, r, b);
  auto blocks = blocks_of(r.rows);
  if (transpose) std::ranges::reverse(blocks);
  for (const Span k : blocks) {
    const auto solved = part(b, 0, b.rows, k.begin, k.size());
    parallel_for(b.rows, kTileRows, [&](Index begin, Index end) {
      trsm(false, transpose, T{1}, part(r, k.begin, k.size(), k.begin, k.size()),
           solved.slice(begin, end));
    });
    const Span rest = transpose ? Span{0, k.begin} : Span{k.end, r.rows};
    for_each_tile({0, b.rows}, rest, [&](Span rows, Span cols) {
      const auto factor = transpose ? part(r, cols.begin, cols.size(), k.begin, k.size())
                                    : part(r, k.begin, k.size(), cols.begin, cols.size());
      gemm(false, transpose, T{-1}, solved.slice(rows.begin, rows.end), factor, T{1},
           part(b, rows.begin, rows.size(), cols.begin, cols.size()));
    });
  }
}

void invert(MatrixView<double> r) {
  const blasint n = narrow(r.rows), stride = narrow(std::max<Index>(r.stride, 1));
  blasint info = 0;
  dtrtri_("L", "N", &n, r.data, &stride, &info);
  KERF_REQUIRE(info == 0, numeric, "a {0} x {0} matrix has no inverse", r.rows);
}

}  // namespace

Index factor_scratch(Index order) {
  constexpr Index kMost = Index{8} << 20;
  return (order <= kWhole ? 1 : threads()) * std::min(kMost, 3 * order * order);
}

Index cholesky(MatrixView<double> a, const Progress& progress) { return factor(a, progress); }
Index cholesky(MatrixView<float> a, const Progress& progress) { return factor(a, progress); }

void cholesky_solve(MatrixView<const double> r, MatrixView<double> b) {
  for (const bool transpose : {true, false}) solve_columns(r, transpose, b);
}
void cholesky_solve(MatrixView<const float> r, MatrixView<float> b) {
  for (const bool transpose : {true, false}) solve_columns(r, transpose, b);
}

void transposed_solve(MatrixView<const double> r, MatrixView<double> b) {
  solve_columns(r, true, b);
}
void transposed_solve(MatrixView<const float> r, MatrixView<float> b) { solve_columns(r, true, b); }

void triangular_solve_rows(MatrixView<const double> r, bool transpose, MatrixView<double> b) {
  solve_rows(r, transpose, b);
}
void triangular_solve_rows(MatrixView<const float> r, bool transpose, MatrixView<float> b) {
  solve_rows(r, transpose, b);
}

void triangular_inverse(MatrixView<double> r) {
  const OneThread one;
  if (r.rows <= kWhole) return invert(r);
  for (const Span k : blocks_of(r.rows)) {
    const auto diagonal = part(r, k.begin, k.size(), k.begin, k.size());
    const Span beyond{k.end, r.rows};
    parallel_for(beyond.size(), kBlock, [&](Index begin, Index end) {
      trsm(true, false, -1.0, diagonal, part(r, k.begin, k.size(), k.end + begin, end - begin));
    });
    for_each_tile({0, k.begin}, beyond, [&](Span rows, Span cols) {
      gemm(false, false, 1.0, part<const double>(r, rows.begin, rows.size(), k.begin, k.size()),
           part<const double>(r, k.begin, k.size(), cols.begin, cols.size()), 1.0,
           part(r, rows.begin, rows.size(), cols.begin, cols.size()));
    });
    parallel_for(k.begin, kTileRows, [&](Index begin, Index end) {
      trsm(false, false, 1.0, diagonal, part(r, begin, end - begin, k.begin, k.size()));
    });
    invert(diagonal);
  }
}

}  // namespace kerf::detail::blas
