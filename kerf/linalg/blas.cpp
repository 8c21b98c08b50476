// SPDX-License-Identifier: Apache-2.0
#include "kerf/linalg/blas.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <vector>

#include "kerf/core/system/parallel.h"
#include "kerf/linalg/blas_calls.h"

// OpenBLAS's own allocation of the buffer that a call works in; other libraries have none.
extern "C" {
__attribute__((weak)) void* blas_memory_alloc(int unused);
__attribute__((weak)) void blas_memory_free(void* buffer);
}

namespace kerf::detail::blas {
namespace {

constexpr Index kTileRows = 256, kTileCols = 512;  // of a product: one piece of a parallel_for

/// What a buffer of OpenBLAS takes of the address space, whatever the call needs of it.
constexpr std::size_t kBufferBytes = std::size_t{129} << 20;
constexpr int kMostBuffers = 64;

bool address_space_is_limited() {
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) return true;
  }
  return false;
}

bool has_room() {
  void* trial =
      ::mmap(nullptr, kBufferBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return trial != MAP_FAILED && ::munmap(trial, kBufferBytes) == 0;
}

/// OpenBLAS takes a buffer for every call that runs at the same time, keeps it, and tries for ever when
/// there is no room for one.  Where the address space is limited, all are taken here, or fewer threads.
void take_buffers() {
  if (blas_memory_alloc == nullptr || !address_space_is_limited()) return;
  std::vector<void*> buffers;
  const int wanted = std::min(threads(), kMostBuffers);
  while (std::ssize(buffers) < wanted && has_room()) buffers.push_back(blas_memory_alloc(0));
  for (void* buffer : buffers) blas_memory_free(buffer);
  KERF_REQUIRE(!buffers.empty(), memory,
               "the limit of the address space (ulimit -v or -d) leaves no room for the {} MB that "
               "OpenBLAS works in: raise it",
               kBufferBytes >> 20);
  if (std::ssize(buffers) < wanted) set_threads(static_cast<int>(std::ssize(buffers)));
}

/// How many scopes there are.  Only the first and the last need the lock.
struct Scopes {
  std::mutex lock;
  std::atomic<int> count = 0;
  int before = 1;
  bool ready = false;

  bool join(int least) {  // another scope, if there are that many
    int now = count;
    while (now >= least && !count.compare_exchange_weak(now, now + 1)) {
    }
    return now >= least;
  }
  bool leave() {  // one scope less, if it is not the last
    int now = count;
    while (now > 1 && !count.compare_exchange_weak(now, now - 1)) {
    }
    return now > 1;
  }
};

Scopes& scopes() {
  // Not destroyed: threads may still compute while the process ends.  A forked child has none of the
  // threads whose scopes were alive.
  static auto* const all = new Scopes;
  static const int registered = ::pthread_atfork(nullptr, nullptr, [] { std::construct_at(all); });
  static_cast<void>(registered);
  return *all;
}

}  // namespace

OneThread::OneThread() {
  Scopes& all = scopes();
  if (all.join(1)) return;
  const std::lock_guard guard(all.lock);
  if (!all.ready) take_buffers();
  all.ready = true;
  if (all.count == 0) {
    all.before = openblas_get_num_threads();
    if (all.before != 1) openblas_set_num_threads(1);
  }
  ++all.count;
}

OneThread::~OneThread() {
  Scopes& all = scopes();
  if (all.leave()) return;
  const std::lock_guard guard(all.lock);
  if (--all.count == 0 && all.before != 1) openblas_set_num_threads(all.before);
}

void gemm(bool transpose_a, bool transpose_b, float alpha, MatrixView<const float> a,
          MatrixView<const float> b, float beta, MatrixView<float> c) {
  const OneThread one;
  cblas_sgemm(CblasRowMajor, transposed(transpose_a), transposed(transpose_b), narrow(c.rows),
              narrow(c.cols), narrow(transpose_a ? a.rows : a.cols), alpha, a.data,
              narrow(a.stride), b.data, narrow(b.stride), beta, c.data, narrow(c.stride));
}

void gemm(bool transpose_a, bool transpose_b, double alpha, MatrixView<const double> a,
          MatrixView<const double> b, double beta, MatrixView<double> c) {
  const OneThread one;
  if (c.cols == 1 && !transpose_b)  // one vector: without the copy of `a` that a product makes
    return cblas_dgemv(CblasRowMajor, transposed(transpose_a), narrow(a.rows), narrow(a.cols),
                       alpha, a.data, narrow(a.stride), b.data, narrow(b.stride), beta, c.data,
                       narrow(c.stride));
  cblas_dgemm(CblasRowMajor, transposed(transpose_a), transposed(transpose_b), narrow(c.rows),
              narrow(c.cols), narrow(transpose_a ? a.rows : a.cols), alpha, a.data,
              narrow(a.stride), b.data, narrow(b.stride), beta, c.data, narrow(c.stride));
}

namespace {

template <class T>
void tiled_product(bool transpose_a, bool transpose_b, T alpha, MatrixView<const T> a,
                   MatrixView<const T> b, T beta, MatrixView<T> c) {
  const OneThread one;
  const Index down = (c.rows + kTileRows - 1) / kTileRows;
  const Index across = (c.cols + kTileCols - 1) / kTileCols;
  parallel_for(down * across, 1, [&](Index tile, Index) {
    const Index i = tile / across * kTileRows, j = tile % across * kTileCols;
    const Index rows = std::min(kTileRows, c.rows - i), cols = std::min(kTileCols, c.cols - j);
    const auto left = transpose_a ? a.columns(i, i + rows) : a.slice(i, i + rows);
    const auto right = transpose_b ? b.slice(j, j + cols) : b.columns(j, j + cols);
    gemm(transpose_a, transpose_b, alpha, left, right, beta,
         c.slice(i, i + rows).columns(j, j + cols));
  });
}

}  // namespace

void product(bool transpose_a, bool transpose_b, double alpha, MatrixView<const double> a,
             MatrixView<const double> b, double beta, MatrixView<double> c) {
  tiled_product(transpose_a, transpose_b, alpha, a, b, beta, c);
}
void product(bool transpose_a, bool transpose_b, float alpha, MatrixView<const float> a,
             MatrixView<const float> b, float beta, MatrixView<float> c) {
  tiled_product(transpose_a, transpose_b, alpha, a, b, beta, c);
}

void gram_upper(MatrixView<const float> a, MatrixView<float> c) {
  const OneThread one;
  parallel_for(a.cols, kTileCols, [&](Index begin, Index end) {
    const auto left = a.columns(begin, end);
    cblas_ssyrk(CblasRowMajor, CblasUpper, CblasTrans, narrow(left.cols), narrow(a.rows), 1.0f,
                left.data, narrow(a.stride), 0.0f, &c(begin, begin), narrow(c.stride));
    if (end < a.cols)
      gemm(true, false, 1.0f, left, a.columns(end, a.cols), 0.0f,
           {&c(begin, end), end - begin, a.cols - end, c.stride});
  });
}

void orthonormalise_rows(MatrixView<double> a) {
  // Our rows are Fortran's columns: A = Q R with Q cols x rows.
  const OneThread one;
  const blasint length = narrow(a.cols), count = narrow(a.rows), stride = narrow(a.stride);
  std::vector<double> tau(count), work(static_cast<std::size_t>(count) * 64 + 1);
  const auto size = static_cast<blasint>(work.size());
  blasint info = 0;
  dgeqrf_(&length, &count, a.data, &stride, tau.data(), work.data(), &size, &info);
  std::vector<double> sign(count);
  for (Index i = 0; i < a.rows; ++i) sign[i] = a(i, i) < 0 ? -1.0 : 1.0;
  dorgqr_(&length, &count, &count, a.data, &stride, tau.data(), work.data(), &size, &info);
  KERF_REQUIRE(info == 0, numeric, "the QR decomposition of a {} x {} matrix failed", a.rows,
               a.cols);
  for (Index i = 0; i < a.rows; ++i)
    for (double& value : a.row(i)) value *= sign[i];
}

}  // namespace kerf::detail::blas
