// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/progress_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kerf::detail {
namespace {

constexpr double kSettles = 2;                  // seconds in which a new estimate is believed
constexpr double kPause = 10, kLeastPause = 1;  // seconds between lines
constexpr double kTooSoon = 0.5;                // to say how long it will take
constexpr double kAlmost = 0.99;                // the most that is shown before the end

std::string words_of(const ProgressEvent& event) {
  std::string text(event.stage);
  if (event.unit.empty()) {
    if (event.total > 0)
      text += fmt::format(", {:.0f} %",
                          100 * static_cast<double>(event.done) / static_cast<double>(event.total));
  } else if (event.total > 0) {
    text +=
        fmt::format(", {} of {} {}", with_commas(event.done), with_commas(event.total), event.unit);
  } else if (event.done > 0) {
    text += fmt::format(", {} {}", with_commas(event.done), event.unit);
  }
  return text;
}

}  // namespace

ProgressView::Shown ProgressView::show(const ProgressEvent& event, double now) {
  Shown shown{words_of(event), -1, -1, now};
  if (event.seconds_left < 0) {
    left_ = -1;
    return shown;
  }
  if (left_ < 0) {
    left_ = event.seconds_left;
  } else {
    const double passed = std::max(0.0, now - at_), before = std::max(0.0, left_ - passed);
    left_ = before + (1 - std::exp(-passed / kSettles)) * (event.seconds_left - before);
  }
  at_ = now;
  if (now < kTooSoon) return shown;
  part_ = std::max(part_, std::min(kAlmost, now / (now + left_)));
  shown.part = part_;
  shown.left = left_;
  return shown;
}

bool ProgressView::wants_line(const ProgressEvent& event, double now) {
  const double since = line_ < 0 ? kPause : now - line_;
  if (since < kLeastPause || (since < kPause && event.stage == stage_)) return false;
  line_ = now;
  stage_ = event.stage;
  return true;
}

std::string line_of(const ProgressView::Shown& shown) {
  return fmt::format("{} {}{}", clock_time(shown.elapsed), shown.what,
                     shown.left < 0 ? "" : fmt::format(", about {} left", clock_time(shown.left)));
}

std::string with_commas(Index value) {
  const std::string digits = std::to_string(value);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && digits[i - 1] != '-' && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string clock_time(double seconds) {
  const auto whole = std::lround(seconds);
  return whole >= 3600 ? fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
                       : fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace kerf::detail
