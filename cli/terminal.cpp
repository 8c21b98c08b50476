// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <cmath>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <system_error>

namespace kerf::cli {
namespace {

volatile std::sig_atomic_t interrupts = 0;
bool bar_shown = false;
std::string interrupt_message = "nothing was written";

void on_interrupt(int) {
  if (interrupts != 0) ::_exit(130);
  interrupts = 1;
}

int terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

std::string clock_time(double seconds) {
  const auto whole = std::lround(seconds);
  return whole >= 3600 ? fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
                       : fmt::format("{}:{:02}", whole / 60, whole % 60);
}

/// Draws at most ten times a second.
class Bar {
 public:
  void update(const ProgressEvent& event) {
    const auto now = Clock::now();
    if (event.stage != stage_) {
      stage_ = event.stage;
      start_ = now;
    } else if (now - drawn_ < std::chrono::milliseconds(100) && event.done != event.total) {
      return;
    }
    drawn_ = now;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const int width = terminal_width() - 1;
    std::string line = event.total > 0 ? with_bar(event, seconds, width)
                                       : fmt::format("{}  {}", stage_,
                                                     event.done > 0 ? with_commas(event.done) : "");
    line.resize(static_cast<std::size_t>(std::min<int>(width, static_cast<int>(line.size()))));
    fmt::print(stderr, "\r\033[K{}", line);
    std::fflush(stderr);
    bar_shown = true;
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::string with_bar(const ProgressEvent& event, double seconds, int width) const {
    const double part =
        std::min(1.0, static_cast<double>(event.done) / static_cast<double>(event.total));
    const std::string left =
        part > 0.01 && seconds > 0.5 ? "  ETA " + clock_time(seconds * (1 - part) / part) : "";
    const std::string tail = fmt::format(" {:3.0f} %  {} of {} rows{}", 100 * part,
                                         with_commas(event.done), with_commas(event.total), left);
    const int room = std::clamp(width - static_cast<int>(stage_.size() + tail.size()) - 4, 4, 40);
    const int full = static_cast<int>(part * room);
    return fmt::format("{}  [{}{}]{}", stage_, std::string(static_cast<std::size_t>(full), '#'),
                       std::string(static_cast<std::size_t>(room - full), '.'), tail);
  }

  std::string stage_;
  Clock::time_point start_, drawn_;
};

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction inherited {};
    // Whoever started us may not want us to be stopped: nohup, a job in the background.
    if (::sigaction(signal, nullptr, &inherited) == 0 && inherited.sa_handler == SIG_IGN) continue;
    ::sigaction(signal, &action, nullptr);
  }
  // A failed write says enough (fail_output, main): files that are half written are removed first.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void check_interrupt() {
  if (interrupts > 0) throw Error(ErrorKind::interrupted, "interrupted: " + interrupt_message);
}

void set_interrupt_message(const std::string& message) { interrupt_message = message; }

void fail_output() {
  throw std::system_error(errno, std::generic_category(), "cannot write to standard output");
}

Progress terminal_progress(bool quiet) {
  const bool draw = !quiet && ::isatty(STDERR_FILENO) != 0;
  return [draw, bar = Bar()](const ProgressEvent& event) mutable {
    check_interrupt();
    if (draw) bar.update(event);
  };
}

void clear_progress() {
  if (bar_shown) fmt::print(stderr, "\r\033[K");
  bar_shown = false;
}

bool use_colour() { return ::isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr; }

std::string bold(const std::string& text) {
  return use_colour() ? "\033[1m" + text + "\033[0m" : text;
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

std::string human_seconds(double seconds) {
  if (seconds < 10) return fmt::format("{:.2f} s", seconds);
  if (seconds < 120) return fmt::format("{:.1f} s", seconds);
  const auto whole = std::lround(seconds);
  return fmt::format("{} min {} s", whole / 60, whole % 60);
}

}  // namespace kerf::cli
