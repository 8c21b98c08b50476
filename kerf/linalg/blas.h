// The few BLAS and LAPACK calls we need.  The only place (blas*.cpp) that names OpenBLAS.
//
// Matrices are row-major.  OpenBLAS itself always runs on the calling thread alone; its setting, which
// belongs to the whole process, is put back (Python's numpy may share the library).  Work is shared out
// with parallel_for over tiles of a fixed size, by callers of gemm() and here for everything that is
// said to be tiled: so results depend neither on the number of threads nor on what other threads of the
// process compute, and InterruptScope can stop the work between tiles.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/progress.h"
#include "kerf/core/rows/matrix.h"

namespace kerf::detail::blas {

/// c = alpha a b + beta c, a or b transposed on request: op(a) is c.rows x k, op(b) is k x c.cols.
void gemm(bool transpose_a, bool transpose_b, float alpha, MatrixView<const float> a,
          MatrixView<const float> b, float beta, MatrixView<float> c);
void gemm(bool transpose_a, bool transpose_b, double alpha, MatrixView<const double> a,
          MatrixView<const double> b, double beta, MatrixView<double> c);

/// The same, tiled.
void product(bool transpose_a, bool transpose_b, double alpha, MatrixView<const double> a,
             MatrixView<const double> b, double beta, MatrixView<double> c);
void product(bool transpose_a, bool transpose_b, float alpha, MatrixView<const float> a,
             MatrixView<const float> b, float beta, MatrixView<float> c);

/// Upper triangle of c = a^T a (c is a.cols x a.cols), tiled.
void gram_upper(MatrixView<const float> a, MatrixView<float> c);

/// Factors the symmetric positive definite matrix in the upper triangle of `a` as R^T R, in place
/// (R upper).  Returns 0, or the 1-based order of the leading block that is not positive definite.
/// Tiled, like all calls on factors.
Index cholesky(MatrixView<double> a, const Progress& progress = {});
Index cholesky(MatrixView<float> a, const Progress& progress = {});

/// What OpenBLAS keeps for itself once it has factored a matrix of this order: about 3 bytes an
/// element and thread, at most 8 MB a thread (measured; it has no function that tells).
Index factor_scratch(Index order);

/// b := (R^T R)^-1 b with R from cholesky().
void cholesky_solve(MatrixView<const double> r, MatrixView<double> b);
void cholesky_solve(MatrixView<const float> r, MatrixView<float> b);

/// b := R^-T b with R from cholesky().
void transposed_solve(MatrixView<const double> r, MatrixView<double> b);
void transposed_solve(MatrixView<const float> r, MatrixView<float> b);

/// b := b R^-1, or b R^-T, with R from cholesky(): solves for vectors in the rows of b.
void triangular_solve_rows(MatrixView<const double> r, bool transpose, MatrixView<double> b);
void triangular_solve_rows(MatrixView<const float> r, bool transpose, MatrixView<float> b);

/// R^-1 (upper triangle) in place of R from cholesky(); n^3 / 3 flops.
void triangular_inverse(MatrixView<double> r);

/// Eigenvalues, ascending, of the symmetric matrix in the upper triangle of `a`; its eigenvectors
/// replace it, one per row.  Tiled; takes 2 n^2 numbers of memory besides.
void symmetric_eigen(MatrixView<double> a, std::span<double> eigenvalues,
                     const Progress& progress = {});
/// Its largest matrix: LAPACK counts its workspace, 2 n^2 numbers, in 32 bits.
inline constexpr Index kMostEigen = 32766;

/// Replaces the rows of `a` (rows <= cols) by orthonormal ones that span the same space; for
/// Gaussian rows the result is Haar distributed (signs of the triangular factor's diagonal taken
/// out).
void orthonormalise_rows(MatrixView<double> a);

}  // namespace kerf::detail::blas
