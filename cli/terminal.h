// Talking to a person: a progress bar, interruption by Ctrl-C, numbers that read well.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "kerf/inside.h"

namespace kerf::cli {

using namespace detail;

/// A progress callback that stops the work after Ctrl-C and, unless `quiet`, shows on standard error how far
/// the whole command is: a bar where that is a terminal, and a line every ten seconds where it is not but
/// `verbose` is.
Progress terminal_progress(bool quiet, bool verbose);

/// Removes the bar, if one is shown.
void clear_progress();

/// From now on Ctrl-C, SIGTERM and SIGHUP stop the work where the library next looks (InterruptScope,
/// progress), or after a second in any case; a second signal ends the process at once.  Temporary files
/// are removed, and one line says so (`json`: also on standard output).  A signal that was ignored when
/// the program began stays so.  Running out of memory where nothing can be done about it ends in one
/// line too.
void catch_interrupts(bool json);

/// Throws Error (interrupted) if a signal came.
void check_interrupt();

/// Ends the program as a signal does; for main, after Error (interrupted).  Exit code 130 for SIGINT, 143
/// for SIGTERM.
[[noreturn]] void leave_interrupted();

/// Ends the program with exit code 1 and one line, without any memory.
[[noreturn]] void give_up(const char* message);

/// From now on an interruption says this instead of "nothing was written".
void set_interrupt_message(const std::string& message);

/// "kerf: MESSAGE" as one line on standard error.  Where that is closed or full nobody can be told, and
/// what was done stays done.
void print_error(const std::string& message);
void print_warning(const std::string& message);

/// Text from a file or a model, for a person to read: what a terminal would obey instead of showing
/// it is written as \\x1b, \\n.
std::string printable(std::string_view text);

/// Before any file is opened: a standard stream that is closed would leave its number to that file,
/// and what is printed would go into it.  From now on to use such a stream fails.
void keep_standard_streams();

/// Throws std::system_error: standard output could not be written (errno says why).
[[noreturn]] void fail_output();

/// Whether standard output is a terminal that shows colours (NO_COLOR is honoured).
bool use_colour();
std::string bold(const std::string& text);

/// "0.84 s", "12.3 s", "3 min 20 s".
std::string human_seconds(double seconds);

}  // namespace kerf::cli
