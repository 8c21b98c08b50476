// Preloaded by the tests of the program: allocations fail once it has started, that is, once its signal
// handlers stand.  KERF_FAIL_AT=n: the n-th one does; KERF_FAIL_ON=1: and all that follow.
//
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include <atomic>

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
}

namespace {

std::atomic<bool> started{false};
std::atomic<long> seen{0};
long fail_at = -1;
bool fail_on = false;
using Sigaction = int (*)(int, const struct sigaction*, struct sigaction*);
Sigaction real_sigaction = nullptr;

__attribute__((constructor)) void prepare() {
  real_sigaction = reinterpret_cast<Sigaction>(dlsym(RTLD_NEXT, "sigaction"));
  if (const char* at = getenv("KERF_FAIL_AT")) fail_at = atol(at);
  fail_on = getenv("KERF_FAIL_ON") != nullptr;
}

bool fails() {
  if (!started || fail_at < 0) return false;
  const long number = ++seen;
  if (number != fail_at && !(fail_on && number > fail_at)) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

extern "C" {
int sigaction(int signal, const struct sigaction* action, struct sigaction* before) {
  const int result = real_sigaction(signal, action, before);
  if (signal == SIGHUP) started = true;  // the last one that the program asks for
  return result;
}
void* malloc(size_t size) { return fails() ? nullptr : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return fails() ? nullptr : __libc_calloc(count, size); }
void* realloc(void* block, size_t size) { return fails() ? nullptr : __libc_realloc(block, size); }
void* memalign(size_t alignment, size_t size) {
  return fails() ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** out, size_t alignment, size_t size) {
  *out = memalign(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}
}
