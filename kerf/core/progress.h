// Telling a Progress, where there is one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/api/progress.h"

namespace kerf::detail {

inline void report(const Progress& progress, std::string_view stage, Index done, Index total) {
  if (progress) progress({stage, done, total});
}

}  // namespace kerf::detail
