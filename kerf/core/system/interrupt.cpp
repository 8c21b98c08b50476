// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/system/interrupt.h"

#include <chrono>
#include <utility>

namespace kerf::detail {
namespace {

using Clock = std::chrono::steady_clock;

thread_local InterruptScope* innermost = nullptr;
thread_local Clock::time_point last_check;

}  // namespace

InterruptScope::InterruptScope(std::function<void()> check)
    : check_(std::move(check)), outer_(std::exchange(innermost, this)) {}

InterruptScope::~InterruptScope() { innermost = outer_; }

void poll_interrupt() {
  if (innermost == nullptr) return;
  const auto now = Clock::now();
  if (now - last_check < std::chrono::milliseconds(50)) return;
  last_check = now;
  innermost->check_();
}

}  // namespace kerf::detail
