// Of the process.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/api/export.h"

namespace kerf {

/// "0.1.0"
KERF_API const char* version();

/// Threads that all work shares, at least 1; the default is KERF_NUM_THREADS of the environment, else
/// OMP_NUM_THREADS, else the cores that the process may run on.  Results do not depend on it.
KERF_API int threads();
KERF_API void set_threads(int count);

}  // namespace kerf
