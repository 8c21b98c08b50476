// Threads: one pool for the process, used through parallel_for.  The only place that names
// std::thread.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>

#include "kerf/core/view.h"

namespace kerf::detail {

/// Threads that parallel_for may use, at least 1.  The default is KERF_NUM_THREADS of the environment,
/// else OMP_NUM_THREADS, else the number of cores that this process may run on, or that its container
/// pays for.
int threads();
void set_threads(int count);

/// Another number for what this thread does from now on; 0: as all others.  Returns the one before.
int limit_threads(int count);

/// Cores that this process may run on, or that its container pays for.
int cores();

/// Calls body(begin, end) for pieces of at most `grain` that cover 0 .. count - 1, on up to
/// threads() threads at once; returns when all are done.  Pieces start at multiples of `grain`, so
/// the cut does not depend on the number of threads.  The first exception of a body is thrown
/// again here.  A parallel_for inside a body, or while another thread has one, runs on the calling
/// thread alone.  The calling thread's
/// InterruptScope is asked between pieces.
///
/// Safe to use in a child after fork(), unless another thread forked in the middle of one.
void parallel_for(Index count, Index grain, const std::function<void(Index, Index)>& body);

/// One piece of work at a time on a thread of its own, beside the caller (reading ahead).  With
/// threads() == 1 the work is done by wait(), on the calling thread.
class Background {
 public:
  Background();
  /// Waits for the work; what it threw is forgotten.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Starts `work`; the work before must have been waited for.
  void start(std::function<void()> work);
  /// Returns when the work is done; throws what it threw.  Nothing is done twice.
  void wait();
  /// Work was started and not waited for.
  bool busy() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kerf::detail
