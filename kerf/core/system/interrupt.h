// Work that takes long can be stopped from outside: by Ctrl-C in the program, by Python's signals.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

namespace kerf::detail {

/// While it lives, long work of this thread calls `check` up to twenty times a second: between the
/// pieces of a parallel_for, so also between the tiles of a factorisation.  What `check` throws ends
/// the work.  Scopes nest; the innermost counts.
class InterruptScope {
 public:
  explicit InterruptScope(std::function<void()> check);
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  friend void poll_interrupt();
  std::function<void()> check_;
  InterruptScope* outer_;
};

/// Calls this thread's check, if there is one and it was not called a moment ago.  For loops without
/// a parallel_for.
void poll_interrupt();

}  // namespace kerf::detail
