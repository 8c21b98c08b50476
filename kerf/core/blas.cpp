// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/blas.h"

#include <cblas.h>

#include <algorithm>
#include <vector>

#include "kerf/core/parallel.h"
#include "kerf/core/require.h"

// LAPACK, as OpenBLAS exports it (Fortran: column-major, all by address).
extern "C" {
void dpotrf_(const char* uplo, const blasint* n, double* a, const blasint* lda, blasint* info);
void spotrf_(const char* uplo, const blasint* n, float* a, const blasint* lda, blasint* info);
void dtrtri_(const char* uplo, const char* diag, const blasint* n, double* a, const blasint* lda,
             blasint* info);
void dsyevd_(const char* jobz, const char* uplo, const blasint* n, double* a, const blasint* lda,
             double* w, double* work, const blasint* lwork, blasint* iwork, const blasint* liwork,
             blasint* info);
void dgeqrf_(const blasint* m, const blasint* n, double* a, const blasint* lda, double* tau,
             double* work, const blasint* lwork, blasint* info);
void dorgqr_(const blasint* m, const blasint* n, const blasint* k, double* a, const blasint* lda,
             const double* tau, double* work, const blasint* lwork, blasint* info);
}

namespace kerf::blas {
namespace {

/// BLAS counts in 32-bit integers.
blasint narrow(Index value) {
  KERF_REQUIRE(value >= 0 && value <= 0x7FFFFFFF, memory, "a matrix dimension of {} is too large",
               value);
  return static_cast<blasint>(value);
}

CBLAS_TRANSPOSE transposed(bool yes) { return yes ? CblasTrans : CblasNoTrans; }

/// Threads for a factorisation of n x n.  OpenBLAS's threads wait for each other by yielding, which
/// takes far longer than the work of a small matrix when other programs want the cores.
int worth_threads(Index n) { return n < 384 ? 1 : threads(); }

}  // namespace

ThreadScope::ThreadScope(int count) : before_(openblas_get_num_threads()) {
  if (count != before_) openblas_set_num_threads(count);
}

ThreadScope::~ThreadScope() {
  if (openblas_get_num_threads() != before_) openblas_set_num_threads(before_);
}

void gemm(bool transpose_a, bool transpose_b, float alpha, MatrixView<const float> a,
          MatrixView<const float> b, float beta, MatrixView<float> c) {
  cblas_sgemm(CblasRowMajor, transposed(transpose_a), transposed(transpose_b), narrow(c.rows),
              narrow(c.cols), narrow(transpose_a ? a.rows : a.cols), alpha, a.data,
              narrow(a.stride), b.data, narrow(b.stride), beta, c.data, narrow(c.stride));
}

void gemm(bool transpose_a, bool transpose_b, double alpha, MatrixView<const double> a,
          MatrixView<const double> b, double beta, MatrixView<double> c) {
  if (c.cols == 1 && !transpose_b)  // one vector: without the copy of `a` that a product makes
    return cblas_dgemv(CblasRowMajor, transposed(transpose_a), narrow(a.rows), narrow(a.cols),
                       alpha, a.data, narrow(a.stride), b.data, narrow(b.stride), beta, c.data,
                       narrow(c.stride));
  cblas_dgemm(CblasRowMajor, transposed(transpose_a), transposed(transpose_b), narrow(c.rows),
              narrow(c.cols), narrow(transpose_a ? a.rows : a.cols), alpha, a.data,
              narrow(a.stride), b.data, narrow(b.stride), beta, c.data, narrow(c.stride));
}

void gram_upper(MatrixView<const float> a, MatrixView<float> c) {
  cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, narrow(a.cols), narrow(a.rows), 1.0f, a.data,
              narrow(a.stride), 0.0f, c.data, narrow(c.stride));
}

// In both LAPACK calls our row-major upper triangle is Fortran's column-major lower one.

Index factor_scratch(Index order) {
  constexpr Index kMost = Index{64} << 20;
  return worth_threads(order) * (order < 5000 ? std::min(kMost, 3 * order * order) : kMost);
}

Index cholesky(MatrixView<double> a, int thread_count) {
  const ThreadScope scope(thread_count > 0 ? thread_count : worth_threads(a.rows));
  const blasint n = narrow(a.rows), stride = narrow(std::max<Index>(a.stride, 1));
  blasint info = 0;
  dpotrf_("L", &n, a.data, &stride, &info);
  return info;
}

Index cholesky(MatrixView<float> a) {
  const ThreadScope scope(worth_threads(a.rows));
  const blasint n = narrow(a.rows), stride = narrow(std::max<Index>(a.stride, 1));
  blasint info = 0;
  spotrf_("L", &n, a.data, &stride, &info);
  return info;
}

namespace {
void triangular_solve(CBLAS_TRANSPOSE transpose, MatrixView<const double> r, MatrixView<double> b) {
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, transpose, CblasNonUnit, narrow(b.rows),
              narrow(b.cols), 1.0, r.data, narrow(r.stride), b.data, narrow(b.stride));
}
void triangular_solve(CBLAS_TRANSPOSE transpose, MatrixView<const float> r, MatrixView<float> b) {
  cblas_strsm(CblasRowMajor, CblasLeft, CblasUpper, transpose, CblasNonUnit, narrow(b.rows),
              narrow(b.cols), 1.0f, r.data, narrow(r.stride), b.data, narrow(b.stride));
}
}  // namespace

void cholesky_solve(MatrixView<const double> r, MatrixView<double> b) {
  const ThreadScope scope(worth_threads(r.rows));
  for (const auto transpose : {CblasTrans, CblasNoTrans}) triangular_solve(transpose, r, b);
}
void cholesky_solve(MatrixView<const float> r, MatrixView<float> b) {
  const ThreadScope scope(worth_threads(r.rows));
  for (const auto transpose : {CblasTrans, CblasNoTrans}) triangular_solve(transpose, r, b);
}

void transposed_solve(MatrixView<const double> r, MatrixView<double> b) {
  const ThreadScope scope(worth_threads(r.rows));
  triangular_solve(CblasTrans, r, b);
}
void transposed_solve(MatrixView<const float> r, MatrixView<float> b) {
  const ThreadScope scope(worth_threads(r.rows));
  triangular_solve(CblasTrans, r, b);
}

void triangular_solve_rows(MatrixView<const double> r, bool transpose, MatrixView<double> b,
                           int thread_count) {
  const ThreadScope scope(thread_count > 0 ? thread_count : threads());
  cblas_dtrsm(CblasRowMajor, CblasRight, CblasUpper, transposed(transpose), CblasNonUnit,
              narrow(b.rows), narrow(b.cols), 1.0, r.data, narrow(r.stride), b.data,
              narrow(b.stride));
}

void triangular_solve_rows(MatrixView<const float> r, bool transpose, MatrixView<float> b) {
  const ThreadScope scope(threads());
  cblas_strsm(CblasRowMajor, CblasRight, CblasUpper, transposed(transpose), CblasNonUnit,
              narrow(b.rows), narrow(b.cols), 1.0f, r.data, narrow(r.stride), b.data,
              narrow(b.stride));
}

void triangular_inverse(MatrixView<double> r) {
  const ThreadScope scope(worth_threads(r.rows));
  const blasint n = narrow(r.rows), stride = narrow(std::max<Index>(r.stride, 1));
  blasint info = 0;
  dtrtri_("L", "N", &n, r.data, &stride, &info);
  KERF_REQUIRE(info == 0, numeric, "a {0} x {0} matrix has no inverse", r.rows);
}

void symmetric_eigen(MatrixView<double> a, std::span<double> eigenvalues) {
  KERF_REQUIRE(a.rows <= kMostEigen, memory,
               "the eigenvalues of a {0} x {0} matrix are beyond what LAPACK counts: at most {1}",
               a.rows, kMostEigen);
  const ThreadScope scope(worth_threads(a.rows));
  const blasint n = narrow(a.rows), stride = narrow(std::max<Index>(a.stride, 1));
  blasint info = 0, query = -1, integers = 0;
  double doubles = 0;
  dsyevd_("V", "L", &n, a.data, &stride, eigenvalues.data(), &doubles, &query, &integers, &query,
          &info);
  std::vector<double> work(static_cast<std::size_t>(doubles) + 1);
  std::vector<blasint> integer_work(static_cast<std::size_t>(integers) + 1);
  const auto sizes =
      std::pair(static_cast<blasint>(work.size()), static_cast<blasint>(integer_work.size()));
  dsyevd_("V", "L", &n, a.data, &stride, eigenvalues.data(), work.data(), &sizes.first,
          integer_work.data(), &sizes.second, &info);
  KERF_REQUIRE(info == 0, numeric, "the eigenvalue decomposition of a {0} x {0} matrix failed",
               a.rows);
}

void orthonormalise_rows(MatrixView<double> a) {
  // Our rows are Fortran's columns: A = Q R with Q cols x rows.
  const blasint length = narrow(a.cols), count = narrow(a.rows), stride = narrow(a.stride);
  std::vector<double> tau(static_cast<std::size_t>(count)),
      work(static_cast<std::size_t>(count) * 64 + 1);
  const auto size = static_cast<blasint>(work.size());
  blasint info = 0;
  dgeqrf_(&length, &count, a.data, &stride, tau.data(), work.data(), &size, &info);
  std::vector<double> sign(static_cast<std::size_t>(count));
  for (Index i = 0; i < a.rows; ++i) sign[static_cast<std::size_t>(i)] = a(i, i) < 0 ? -1.0 : 1.0;
  dorgqr_(&length, &count, &count, a.data, &stride, tau.data(), work.data(), &size, &info);
  KERF_REQUIRE(info == 0, numeric, "the QR decomposition of a {} x {} matrix failed", a.rows,
               a.cols);
  for (Index i = 0; i < a.rows; ++i)
    for (double& value : a.row(i)) value *= sign[static_cast<std::size_t>(i)];
}

}  // namespace kerf::blas
