// Talking to a person: a progress bar, interruption by Ctrl-C, numbers that read well.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kerf/kerf.h"

namespace kerf::cli {

/// A progress callback that draws a bar with the time left on standard error when that is a
/// terminal (and `quiet` is false), and stops the work after Ctrl-C.
Progress terminal_progress(bool quiet);

/// Removes the bar, if one is shown.
void clear_progress();

/// From now on Ctrl-C (and termination) stops work at the next progress report; a second one ends
/// the process at once, and may leave a temporary file beside the output.  A signal that was ignored
/// when the program began stays so.
void catch_interrupts();

/// Throws Error (interrupted) if Ctrl-C was pressed.
void check_interrupt();

/// From now on an interruption says this instead of "nothing was written".
void set_interrupt_message(const std::string& message);

/// Throws std::system_error: standard output could not be written (errno says why).
[[noreturn]] void fail_output();

/// Whether standard output is a terminal that shows colours (NO_COLOR is honoured).
bool use_colour();
std::string bold(const std::string& text);

/// 60,000.
std::string with_commas(Index value);
/// "0.84 s", "12.3 s", "3 min 20 s".
std::string human_seconds(double seconds);

}  // namespace kerf::cli
