// Threads: one pool for the process, used through parallel_for.  The only place that names
// std::thread.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "kerf/core/view.h"

namespace kerf {

/// Threads that parallel_for may use, at least 1.  The default is the number of cores that this
/// process may run on.
int threads();
void set_threads(int count);

/// Calls body(begin, end) for pieces of at most `grain` that cover 0 .. count - 1, on up to
/// threads() threads at once; returns when all are done.  Pieces start at multiples of `grain`, so
/// the cut does not depend on the number of threads.  The first exception of a body is thrown
/// again here.  A parallel_for inside a body runs on the calling thread alone.
void parallel_for(Index count, Index grain, const std::function<void(Index, Index)>& body);

}  // namespace kerf
