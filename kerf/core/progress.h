// Telling a Progress, where there is one, and what is left of work of several steps.
//
//   left = what is left of this step + what those after it are expected to take
//
// A step's own pace counts the more, the more of it is done; before, what was expected does.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "kerf/api/progress.h"

namespace kerf::detail {

inline void report(const Progress& progress, std::string_view stage, Index done, Index total,
                   std::string_view unit = "rows") {
  if (progress) progress({stage, done, total, unit});
}

/// A step of longer work.
struct ExpectedStep {
  /// Whose done and total are those of the step, which ends when all is done; "": no stage's are.
  std::string stage;
  double seconds = 0;  ///< that it is expected to take; 0: not known, its pace will tell
};

/// What is left of a step, at an event `elapsed` seconds after it began; negative: not known.
double seconds_left(const ExpectedStep& step, const ProgressEvent& event, double elapsed);

/// Events as they are told, but with what is left of these steps and of what comes `after` them.  Where
/// an event says itself what is left, that is of its step.
Progress expecting(const Progress& to, std::vector<ExpectedStep> steps, double after = 0);

/// Whatever is told, by fits that are parts of larger work, becomes one event: what was asked for is
/// shown, and can still be stopped anywhere.
Progress counting(const Progress& to, std::string stage, Index done, Index total, std::string unit);

}  // namespace kerf::detail
