// How long work reports on itself, and what it may use.  The library never prints.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string_view>

#include "kerf/api/matrix.h"

namespace kerf {

struct ProgressEvent {
  std::string_view stage;  ///< what is going on: "reading", "features", "solving"
  Index done = 0;
  Index total = 0;  ///< 0: not known
  /// What done and total count: "rows", "lambdas", "candidates", "passes", "seeds".  "": nothing that
  /// has a name; done of total is then a share of the stage's work.
  std::string_view unit = "rows";
  /// Expected to the end of all that was asked for, not of this stage; negative: not known.
  double seconds_left = -1;
};

/// Called a few times a second at most, from the calling thread.  It may throw (for example
/// Error(interrupted)) to stop the work; nothing is then left half-written.
using Progress = std::function<void(const ProgressEvent&)>;

/// What a piece of work may use, and whom it tells how far it is.
struct Context {
  Index memory_limit =
      0;  ///< in bytes; 0: what is free.  Work that needs more throws Error (memory)
  Progress progress = {};
};

}  // namespace kerf
