// How long work reports on itself.  The library never prints.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string_view>

#include "kerf/core/view.h"

namespace kerf::detail {

struct ProgressEvent {
  std::string_view stage;  ///< what is going on: "reading", "features", "solving"
  Index done = 0;
  Index total = 0;  ///< 0: not known
};

/// Called a few times a second at most, from the calling thread.  It may throw (for example
/// Error(interrupted)) to stop the work; nothing is then left half-written.
using Progress = std::function<void(const ProgressEvent&)>;

inline void report(const Progress& progress, std::string_view stage, Index done, Index total) {
  if (progress) progress({stage, done, total});
}

}  // namespace kerf::detail
