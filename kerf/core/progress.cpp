// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/progress.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace kerf::detail {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kOwnPace = 0.25;     // of a step done, and its pace alone counts
constexpr double kOverdue = 0.1;      // of the time so far: never nothing before the end
constexpr double kLeastShare = 1e-3;  // below this, and sooner than that in seconds,
constexpr double kLeastTime = 0.1;    // a pace is noise

double share_of(const ProgressEvent& event) {
  return std::clamp(static_cast<double>(event.done) / static_cast<double>(event.total), 0.0, 1.0);
}

bool is_own(const ExpectedStep& step, const ProgressEvent& event) {
  return event.stage == step.stage && event.total > 0;
}

/// Where the work stands.
struct Standing {
  std::size_t step = 0;
  std::optional<Clock::time_point> start;  // of that step
};

}  // namespace

double seconds_left(const ExpectedStep& step, const ProgressEvent& event, double elapsed) {
  if (event.seconds_left >= 0) return event.seconds_left;
  const bool known = step.seconds > 0;
  const double expected = std::max(step.seconds - elapsed, kOverdue * elapsed);
  const double share = is_own(step, event) ? share_of(event) : 0;
  if (share < kLeastShare || (elapsed < kLeastTime && share < 1)) return known ? expected : -1;
  const double pace = elapsed * (1 - share) / share;
  const double weight = known ? std::min(1.0, share / kOwnPace) : 1;
  return weight * pace + (1 - weight) * expected;
}

Progress expecting(const Progress& to, std::vector<ExpectedStep> steps, double after) {
  if (!to || steps.empty()) return to;
  const auto standing = std::make_shared<Standing>();
  return [to, steps = std::move(steps), after, standing](const ProgressEvent& event) {
    const auto now = Clock::now();
    if (!standing->start) standing->start = now;
    const ExpectedStep& step = steps[standing->step];
    const double left =
        seconds_left(step, event, std::chrono::duration<double>(now - *standing->start).count());
    ProgressEvent told = event;
    told.seconds_left = left < 0 ? left : left + after;
    for (std::size_t k = standing->step + 1; k < steps.size() && left >= 0; ++k)
      told.seconds_left += steps[k].seconds;
    if (is_own(step, event) && event.done >= event.total && standing->step + 1 < steps.size())
      *standing = {standing->step + 1, now};
    to(told);
  };
}

Progress counting(const Progress& to, std::string stage, Index done, Index total,
                  std::string unit) {
  if (!to) return {};
  return [to, stage = std::move(stage), done, total, unit = std::move(unit)](const ProgressEvent&) {
    to({stage, done, total, unit});
  };
}

}  // namespace kerf::detail
