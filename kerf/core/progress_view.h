// What a person is shown of a command's progress: words, how much of all is done, how long is left.
//
// Neither goes back: the part done never falls, and the time left moves to a new estimate over a few
// seconds instead of jumping there.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kerf/api/progress.h"

namespace kerf::detail {

class ProgressView {
 public:
  struct Shown {
    std::string what;    ///< "choosing lambda, 5 lambdas", "features, 1,000 of 9,000 rows"
    double part = -1;    ///< of all the work, 0 to 1; negative: not known
    double left = -1;    ///< in seconds; negative: not known
    double elapsed = 0;  ///< since the work began
  };
  /// `now`: seconds since the work began.
  Shown show(const ProgressEvent& event, double now);

  /// Whether a log is to have a line now: where a stage begins, and every ten seconds.  One a second at
  /// most.
  bool wants_line(const ProgressEvent& event, double now);

 private:
  double part_ = 0, left_ = -1, at_ = 0;  // as last shown, and when
  double line_ = -1;                      // when the last line was written; negative: none was
  std::string stage_;                     // that it was of
};

/// "0:20 choosing lambda, 5 lambdas, about 0:11 left".
std::string line_of(const ProgressView::Shown& shown);

/// 60,000.
std::string with_commas(Index value);
/// 1:05, 2:00:00.
std::string clock_time(double seconds);

}  // namespace kerf::detail
