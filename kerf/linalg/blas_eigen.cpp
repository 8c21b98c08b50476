// Eigenvalues and eigenvectors of a symmetric matrix, as LAPACK's dsyevd finds them, cut into tiles that
// parallel_for shares out: the bits do not depend on threads, and the work can be stopped in between.
//
//   1. A = H T H^T with T tridiagonal, by reflections in panels of kPanel columns        4/3 n^3 flops
//      (dsytrd; half of it is the product of the rest of A with a vector, bound by memory)
//   2. T = Q D Q^T by divide and conquer: T is two smaller tridiagonals and a matrix of rank one; their
//      eigenvectors times those of the merged problem (dlaed1 to dlaed4): blas_tridiagonal.cpp
//                                                                                at most 4/3 n^3
//   3. H Q                                                                                 2 n^3
//
// Error: that of LAPACK, a few ulps of |A|.  Memory: A, Q and as much again for the merges.
// References: Dongarra, Sorensen and Hammarling 1989 (panels); Gu and Eisenstat 1995, Tisseur and
// Dongarra 1999 (divide and conquer).  Difference from dsyevd: the order of summation in step 1.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <vector>

#include "kerf/core/system/parallel.h"
#include "kerf/linalg/blas.h"
#include "kerf/linalg/blas_calls.h"
#include "kerf/linalg/blas_tridiagonal.h"

namespace kerf::detail::blas {
namespace {

constexpr Index kWhole = 128;       // matrices up to this order are one call
constexpr Index kPanel = 32;        // columns that are reduced before the rest is updated
constexpr Index kTile = 256;        // rows and columns of an update
constexpr Index kVectorTile = 128;  // columns of a piece of the product with a vector
constexpr Index kStripRows = 1024, kStripCols = 32;  // of that product: what the cache holds
constexpr Index kFewRows = 384;  // below that a product with a vector is not shared out
constexpr blasint kOne = 1;

void gemv(bool transpose, Index rows, Index cols, double alpha, Columns a, const double* x,
          Index step, double beta, double* y) {
  if (rows == 0 || cols == 0) return;
  cblas_dgemv(CblasColMajor, transposed(transpose), narrow(rows), narrow(cols), alpha, a.data,
              narrow(a.stride), x, narrow(step), beta, y, 1);
}

// ---- 1. to tridiagonal form ----------------------------------------------------------------------

/// y = A x for the lower triangle of A, n x n.  `parts` has a row for each piece.
void symmetric_times(Columns a, Index n, const double* x, double* y, Matrix<double>& parts) {
  if (n < kFewRows)
    return cblas_dsymv(CblasColMajor, CblasLower, narrow(n), 1.0, a.data, narrow(a.stride), x, 1,
                       0.0, y, 1);
  const Index pieces = (n + kVectorTile - 1) / kVectorTile;
  parallel_for(pieces, 1, [&](Index piece, Index) {
    const Index begin = piece * kVectorTile, end = std::min(begin + kVectorTile, n);
    double* out = parts.row(piece).data();
    std::fill(out + begin, out + n, 0.0);
    cblas_dsymv(CblasColMajor, CblasLower, narrow(end - begin), 1.0, a.at(begin, begin),
                narrow(a.stride), x + begin, 1, 1.0, out + begin, 1);
    for (Index col = begin; col < end; col += kStripCols)
      for (Index row = end; row < n; row += kStripRows) {  // each tile is read from memory once
        const Index rows = std::min(kStripRows, n - row), cols = std::min(kStripCols, end - col);
        const Columns tile{a.at(row, col), a.stride};
        gemv(false, rows, cols, 1.0, tile, x + col, 1, 1.0, out + row);
        gemv(true, rows, cols, 1.0, tile, x + row, 1, 1.0, out + col);
      }
  });
  std::fill(y, y + n, 0.0);
  for (Index piece = 0; piece < pieces; ++piece)
    for (Index i = piece * kVectorTile; i < n; ++i) y[i] += parts(piece, i);
}

/// A -= V W^T + W V^T below the diagonal, in tiles; the columns of V and W are n long.
void update_rest(Columns a, Index n, Columns v, Columns w) {
  Matrix<double> left(2 * kPanel, n), right(2 * kPanel, n);  // columns (V, W) and (W, V)
  for (Index k = 0; k < kPanel; ++k) {
    std::copy_n(v.at(0, k), n, left.row(k).data());
    std::copy_n(w.at(0, k), n, left.row(kPanel + k).data());
    std::copy_n(w.at(0, k), n, right.row(k).data());
    std::copy_n(v.at(0, k), n, right.row(kPanel + k).data());
  }
  const Index count = (n + kTile - 1) / kTile;
  parallel_for(count * count, 1, [&](Index tile, Index) {
    const Index row = tile / count * kTile, col = tile % count * kTile;
    if (row < col) return;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, narrow(std::min(kTile, n - row)),
                narrow(std::min(kTile, n - col)), narrow(2 * kPanel), -1.0, left.data() + row,
                narrow(n), right.data() + col, narrow(n), 1.0, a.at(row, col), narrow(a.stride));
  });
}

/// Reduces kPanel columns of A, n x n: leaves the reflections in them and W for update_rest().
void reduce_panel(Columns a, Index n, Columns w, double* diagonal, double* beside, double* tau,
                  Matrix<double>& parts) {
  std::vector<double> inner(kPanel);
  for (Index i = 0; i < kPanel; ++i) {
    // The column, with the reflections of this panel that it has not seen.
    gemv(false, n - i, i, -1.0, {a.at(i, 0), a.stride}, w.at(i, 0), w.stride, 1.0, a.at(i, i));
    gemv(false, n - i, i, -1.0, {w.at(i, 0), w.stride}, a.at(i, 0), a.stride, 1.0, a.at(i, i));
    diagonal[i] = *a.at(i, i);
    const Index rest = n - i - 1;
    const blasint length = narrow(rest);
    double* v = a.at(i + 1, i);
    dlarfg_(&length, v, a.at(std::min(i + 2, n - 1), i), &kOne, &tau[i]);
    beside[i] = *v;
    *v = 1;
    // w = tau (A - V W^T - W V^T) v, then what makes it orthogonal enough to v.
    double* out = w.at(i + 1, i);
    symmetric_times({a.at(i + 1, i + 1), a.stride}, rest, v, out, parts);
    const Columns before{a.at(i + 1, 0), a.stride}, its{w.at(i + 1, 0), w.stride};
    gemv(true, rest, i, 1.0, its, v, 1, 0.0, inner.data());
    gemv(false, rest, i, -1.0, before, inner.data(), 1, 1.0, out);
    gemv(true, rest, i, 1.0, before, v, 1, 0.0, inner.data());
    gemv(false, rest, i, -1.0, its, inner.data(), 1, 1.0, out);
    cblas_dscal(length, tau[i], out, 1);
    cblas_daxpy(length, -0.5 * tau[i] * cblas_ddot(length, out, 1, v, 1), v, 1, out, 1);
  }
}

Tridiagonal reduce(Columns a, Index n, const Steps& steps) {
  Tridiagonal t;
  for (auto* each : {&t.diagonal, &t.beside, &t.tau}) each->resize(n);
  Matrix<double> w(kPanel, n), parts((n + kVectorTile - 1) / kVectorTile, n);
  Index first = 0;
  for (; n - first > kWhole; first += kPanel) {
    const Index rest = n - first - kPanel;
    const double left = static_cast<double>(n - first) / static_cast<double>(n);
    steps.at(kReduced * (1 - left * left * left));
    const Columns panel{a.at(first, first), a.stride}, product{w.data(), n};
    double *d = &t.diagonal[first], *e = &t.beside[first];
    reduce_panel(panel, n - first, product, d, e, &t.tau[first], parts);
    update_rest({panel.at(kPanel, kPanel), a.stride}, rest, {panel.at(kPanel, 0), a.stride},
                {product.at(kPanel, 0), n});
    for (Index i = 0; i < kPanel; ++i) *panel.at(i + 1, i) = e[i];
  }
  const blasint rest = narrow(n - first), stride = narrow(a.stride);
  std::vector<double> work(kWhole * 64);
  const auto size = static_cast<blasint>(work.size());
  blasint info = 0;
  const auto at = static_cast<std::size_t>(first);
  dsytrd_("L", &rest, a.at(first, first), &stride, &t.diagonal[at], &t.beside[at], &t.tau[at],
          work.data(), &size, &info);
  return t;
}

// ---- 3. back ----------------------------------------------------------------------------------------

/// Q := H Q, a few columns at a time.
void apply_reflections(Columns a, const Tridiagonal& t, Columns q, Index n, const Steps& steps) {
  const Index grain = std::clamp<Index>(n / 8, 64, 256), chunks = (n + grain - 1) / grain;
  const blasint rows = narrow(n), stride = narrow(a.stride), its = narrow(q.stride);
  const Index together = std::max<Index>(1, 1'000'000'000 / (n * n * grain)) * threads();
  for (Index from = 0; from < chunks; from += together) {
    steps.at(kSolved + (1 - kSolved) * static_cast<double>(from) / static_cast<double>(chunks));
    const Index first = from * grain, last = std::min((from + together) * grain, n);
    parallel_for(last - first, grain, [&](Index begin, Index end) {
      std::vector<double> work(grain * 64 + 64 * 65);
      const blasint cols = narrow(end - begin), size = static_cast<blasint>(work.size());
      blasint info = 0;
      dormtr_("L", "L", "N", &rows, &cols, a.data, &stride, t.tau.data(), q.at(0, first + begin),
              &its, work.data(), &size, &info);
    });
  }
}

void small_eigen(MatrixView<double> a, std::span<double> eigenvalues) {
  const blasint n = narrow(a.rows), stride = narrow(std::max<Index>(a.stride, 1));
  const auto sizes = std::pair(1 + 6 * n + 2 * n * n, 3 + 5 * n);
  std::vector<double> work(sizes.first);
  std::vector<blasint> integers(sizes.second);
  blasint info = 0;
  dsyevd_("V", "L", &n, a.data, &stride, eigenvalues.data(), work.data(), &sizes.first,
          integers.data(), &sizes.second, &info);
  KERF_REQUIRE(info == 0, numeric, "the eigenvalue decomposition of a {0} x {0} matrix failed",
               a.rows);
}

}  // namespace

void symmetric_eigen(MatrixView<double> a, std::span<double> eigenvalues,
                     const Progress& progress) {
  KERF_REQUIRE(a.rows <= kMostEigen, memory,
               "the eigenvalues of a {0} x {0} matrix are beyond what LAPACK counts: at most {1}",
               a.rows, kMostEigen);
  const OneThread one;
  if (a.rows <= kWhole) return small_eigen(a, eigenvalues);
  const Index n = a.rows;
  const Steps steps{progress, n};
  // The upper triangle of rows is the lower one of columns.
  const Columns matrix{a.data, a.stride};
  Tridiagonal t = reduce(matrix, n, steps);
  Matrix<double> vectors(n, n);
  vectors.fill(0);
  const Columns q{vectors.data(), n};
  const std::vector<Index> order = solve_tridiagonal(t, q, n, steps);
  apply_reflections(matrix, t, q, n, steps);
  parallel_for(n, 16, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index from = order[i];
      eigenvalues[i] = t.diagonal[from];
      std::ranges::copy(vectors.row(from), a.row(i).begin());
    }
  });
}

}  // namespace kerf::detail::blas
