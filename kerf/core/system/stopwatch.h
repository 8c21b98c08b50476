// Where the time goes: sums of seconds.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>

namespace kerf::detail {

/// Adds the time until it dies to `sum`.
class Stopwatch {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Stopwatch(double& sum) : sum_(sum), start_(Clock::now()) {}
  ~Stopwatch() { sum_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& sum_;
  Clock::time_point start_;
};

/// The same, but while a PhaseClock lives inside another one of its thread only the inner one runs: every
/// second belongs to one phase, and their sums are no more than the whole.
class PhaseClock {
 public:
  using Clock = Stopwatch::Clock;
  explicit PhaseClock(double& sum) : sum_(sum), around_(running_), start_(Clock::now()) {
    if (around_ != nullptr) around_->pause(start_);
    running_ = this;
  }
  ~PhaseClock() {
    const auto now = Clock::now();
    pause(now);
    running_ = around_;
    if (around_ != nullptr) around_->start_ = now;
  }
  PhaseClock(const PhaseClock&) = delete;
  PhaseClock& operator=(const PhaseClock&) = delete;

 private:
  void pause(Clock::time_point now) { sum_ += std::chrono::duration<double>(now - start_).count(); }

  static inline thread_local PhaseClock* running_ = nullptr;
  double& sum_;
  PhaseClock* around_;
  Clock::time_point start_;
};

}  // namespace kerf::detail
