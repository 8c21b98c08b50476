// OpenBLAS and LAPACK as the files blas*.cpp call them: no other file includes this.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cblas.h>

#include "kerf/core/require.h"
#include "kerf/core/rows/matrix.h"

// LAPACK, as OpenBLAS exports it (Fortran: column-major, all by address).
extern "C" {
void dpotrf_(const char* uplo, const blasint* n, double* a, const blasint* lda, blasint* info);
void spotrf_(const char* uplo, const blasint* n, float* a, const blasint* lda, blasint* info);
void dtrtri_(const char* uplo, const char* diag, const blasint* n, double* a, const blasint* lda,
             blasint* info);
void dsyevd_(const char* jobz, const char* uplo, const blasint* n, double* a, const blasint* lda,
             double* w, double* work, const blasint* lwork, blasint* iwork, const blasint* liwork,
             blasint* info);
void dsytrd_(const char* uplo, const blasint* n, double* a, const blasint* lda, double* d,
             double* e, double* tau, double* work, const blasint* lwork, blasint* info);
void dlarfg_(const blasint* n, double* alpha, double* x, const blasint* incx, double* tau);
void dsteqr_(const char* compz, const blasint* n, double* d, double* e, double* z,
             const blasint* ldz, double* work, blasint* info);
void dlaed2_(blasint* k, const blasint* n, const blasint* n1, double* d, double* q,
             const blasint* ldq, blasint* indxq, double* rho, double* z, double* dlamda, double* w,
             double* q2, blasint* indx, blasint* indxc, blasint* indxp, blasint* coltyp,
             blasint* info);
void dlaed4_(const blasint* n, const blasint* i, const double* d, const double* z, double* delta,
             const double* rho, double* dlam, blasint* info);
void dlamrg_(const blasint* n1, const blasint* n2, const double* a, const blasint* dtrd1,
             const blasint* dtrd2, blasint* index);
void dormtr_(const char* side, const char* uplo, const char* trans, const blasint* m,
             const blasint* n, const double* a, const blasint* lda, const double* tau, double* c,
             const blasint* ldc, double* work, const blasint* lwork, blasint* info);
void dgeqrf_(const blasint* m, const blasint* n, double* a, const blasint* lda, double* tau,
             double* work, const blasint* lwork, blasint* info);
void dorgqr_(const blasint* m, const blasint* n, const blasint* k, double* a, const blasint* lda,
             const double* tau, double* work, const blasint* lwork, blasint* info);
}

namespace kerf::detail::blas {

/// BLAS counts in 32-bit integers.
inline blasint narrow(Index value) {
  KERF_REQUIRE(value >= 0 && value <= 0x7FFFFFFF, memory, "a matrix dimension of {} is too large",
               value);
  return static_cast<blasint>(value);
}

inline CBLAS_TRANSPOSE transposed(bool yes) { return yes ? CblasTrans : CblasNoTrans; }

/// Keeps OpenBLAS on the calling thread while it lives.  Its number of threads belongs to the whole
/// process (numpy may share the library) and decides about bits: the first scope sets it to 1, and the
/// last one that ends, on whatever thread, puts back what was there.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
};

}  // namespace kerf::detail::blas
