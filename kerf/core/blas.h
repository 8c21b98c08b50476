// The few BLAS and LAPACK calls we need.  The only place that names OpenBLAS.
//
// Matrices are row-major.  Calls run on the calling thread alone: callers share work out with
// parallel_for, over tiles of a fixed size, so that results do not depend on the number of threads.
// The exceptions are the calls on Cholesky factors and eigenvalues, which let OpenBLAS use
// threads() threads and put its global setting back (Python's numpy may share the library).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/matrix.h"

namespace kerf::blas {

/// Keeps OpenBLAS on `count` threads while it lives, then restores what was set before.
class ThreadScope {
 public:
  explicit ThreadScope(int count);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
};

/// c = alpha a b + beta c, a or b transposed on request: op(a) is c.rows x k, op(b) is k x c.cols.
void gemm(bool transpose_a, bool transpose_b, float alpha, MatrixView<const float> a,
          MatrixView<const float> b, float beta, MatrixView<float> c);
void gemm(bool transpose_a, bool transpose_b, double alpha, MatrixView<const double> a,
          MatrixView<const double> b, double beta, MatrixView<double> c);

/// Upper triangle of c = a^T a (c is a.cols x a.cols).
void gram_upper(MatrixView<const float> a, MatrixView<float> c);

/// Factors the symmetric positive definite matrix in the upper triangle of `a` as R^T R, in place
/// (R upper).  Returns 0, or the 1-based order of the leading block that is not positive definite.
/// `thread_count`: 0: threads(), if n is worth it.
Index cholesky(MatrixView<double> a, int thread_count = 0);
Index cholesky(MatrixView<float> a);

/// What OpenBLAS keeps for itself once it has factored a matrix of this order: about 3 bytes an
/// element and thread, at most 64 MB a thread (measured; it has no function that tells).
Index factor_scratch(Index order);

/// b := (R^T R)^-1 b with R from cholesky().
void cholesky_solve(MatrixView<const double> r, MatrixView<double> b);
void cholesky_solve(MatrixView<const float> r, MatrixView<float> b);

/// b := R^-T b with R from cholesky().
void transposed_solve(MatrixView<const double> r, MatrixView<double> b);
void transposed_solve(MatrixView<const float> r, MatrixView<float> b);

/// b := b R^-1, or b R^-T, with R from cholesky(): solves for vectors in the rows of b.
/// `thread_count`: 0: threads(); 1 from a piece of a parallel_for.
void triangular_solve_rows(MatrixView<const double> r, bool transpose, MatrixView<double> b,
                           int thread_count = 0);
void triangular_solve_rows(MatrixView<const float> r, bool transpose, MatrixView<float> b);

/// R^-1 (upper triangle) in place of R from cholesky(); n^3 / 3 flops.
void triangular_inverse(MatrixView<double> r);

/// Eigenvalues, ascending, of the symmetric matrix in the upper triangle of `a`; its eigenvectors
/// replace it, one per row.
void symmetric_eigen(MatrixView<double> a, std::span<double> eigenvalues);
/// Its largest matrix: LAPACK counts its workspace, 2 n^2 numbers, in 32 bits.
inline constexpr Index kMostEigen = 32766;

/// Replaces the rows of `a` (rows <= cols) by orthonormal ones that span the same space; for
/// Gaussian rows the result is Haar distributed (signs of the triangular factor's diagonal taken
/// out). Runs on as many threads as OpenBLAS is set to.
void orthonormalise_rows(MatrixView<double> a);

}  // namespace kerf::blas
