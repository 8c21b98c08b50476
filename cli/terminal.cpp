// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <cmath>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>

namespace kerf::cli {
namespace {

constexpr unsigned kGrace = 1;  // seconds that the library has to stop by itself
constexpr const char* kClearLine = "\r\033[K";

std::atomic<int> caught = 0;  // the first signal
std::atomic<bool> bar_shown = false, leaving = false;
bool wants_json = false;

/// The last words, ready for a signal handler: two, so that one can be written while the other stands.
struct Words {
  char line[2048], json[4096];
} words[2], written;
std::atomic<const Words*> last_words = nullptr;
std::atomic<bool> says_nothing_written = false;

void prepare(Words& to, const std::string& message) {
  const std::string text = "interrupted: " + message.substr(0, 1500);
  std::snprintf(to.line, sizeof to.line, "kerf: %s\n", text.c_str());
  const nlohmann::json error = {{"error", text}};
  std::snprintf(to.json, sizeof to.json, "%s\n",
                error.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

void put(int descriptor, const char* text) {
  if (::write(descriptor, text, std::strlen(text)) < 0) return;  // nobody reads it
}

/// Only calls that are allowed in a signal handler.
[[noreturn]] void leave_at_once() {
  const int code = 128 + caught;
  if (leaving.exchange(true)) ::_exit(code);
  remove_temporary_files();
  if (bar_shown) put(STDERR_FILENO, kClearLine);
  const Words* said = says_nothing_written && wrote_files() ? &written : last_words.load();
  if (said != nullptr && wants_json) put(STDOUT_FILENO, said->json);
  if (said != nullptr) put(STDERR_FILENO, said->line);
  ::_exit(code);
}

void on_interrupt(int signal) {
  int none = 0;
  if (!caught.compare_exchange_strong(none, signal)) leave_at_once();
  ::alarm(kGrace);
}

void on_alarm(int) { leave_at_once(); }

/// Whatever could not be caught: an exception while there was no memory to report another one.
[[noreturn]] void on_terminate() {
  const char* message = "unexpected error";
  try {
    if (const auto thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    message = "out of memory";
  } catch (const std::exception& error) {
    give_up(error.what());
  } catch (...) {
  }
  give_up(message);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

int terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

/// One for the whole command, whatever calls there are: a bar on a terminal, lines in a log.
class Show {
 public:
  enum class As { bar, lines };

  void update(const ProgressEvent& event, As as) {
    const double now = std::chrono::duration<double>(Clock::now() - start_).count();
    if (as == As::lines) {
      const auto shown = view_.show(event, now);
      if (view_.wants_line(event, now)) print_error(line_of(shown));
      return;
    }
    const bool is_new = event.stage != stage_;
    if (!is_new && now - drawn_ < kPause && event.done != event.total) return;
    stage_ = event.stage;
    drawn_ = now;
    draw(view_.show(event, now));
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr double kPause = 0.1;  // seconds

  static void draw(const ProgressView::Shown& shown) {
    const int width = terminal_width() - 1;
    std::string line = shown.part < 0 ? line_of(shown) : bar_of(shown, width) + line_of(shown);
    line.resize(std::min<int>(width, static_cast<int>(line.size())));
    line.insert(0, kClearLine);
    std::fwrite(line.data(), 1, line.size(), stderr);
    std::fflush(stderr);
    bar_shown = true;
  }

  /// "[####......]  40 %  ", as long as there is room for it.
  static std::string bar_of(const ProgressView::Shown& shown, int width) {
    const int room = std::clamp(width - static_cast<int>(line_of(shown).size()) - 12, 4, 30);
    const int full = static_cast<int>(shown.part * room);
    return fmt::format("[{}{}] {:3.0f} %  ", std::string(full, '#'), std::string(room - full, '.'),
                       100 * shown.part);
  }

  ProgressView view_;
  std::string stage_;
  double drawn_ = 0;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

void catch_interrupts(bool json) {
  wants_json = json;
  prepare(written, "the output was written");
  set_interrupt_message("nothing was written");
  says_nothing_written = true;
  std::set_terminate(on_terminate);
  handle(SIGALRM, on_alarm);
  sigset_t alarm{};
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  ::pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);  // whoever started us may have blocked it
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction inherited {};
    // Whoever started us may not want us to be stopped: nohup, a job in the background.
    if (::sigaction(signal, nullptr, &inherited) == 0 && inherited.sa_handler == SIG_IGN) continue;
    handle(signal, on_interrupt);
  }
  // A failed write says enough (fail_output, main): files that are half written are removed first.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void check_interrupt() {
  if (caught != 0) throw Error(ErrorKind::interrupted, "interrupted");
}

void leave_interrupted() {
  std::fflush(stdout);  // the rows that were written so far
  leave_at_once();
}

void give_up(const char* message) {
  remove_temporary_files();
  if (bar_shown) put(STDERR_FILENO, kClearLine);
  if (wants_json) {
    put(STDOUT_FILENO, "{\"error\": \"");
    for (const char* c = message; *c != 0; ++c)
      if (*c >= ' ' && *c != '"' && *c != '\\')
        if (::write(STDOUT_FILENO, c, 1) < 0) break;
    put(STDOUT_FILENO, "\"}\n");
  }
  put(STDERR_FILENO, "kerf: ");
  put(STDERR_FILENO, message);
  put(STDERR_FILENO, "\n");
  ::_exit(1);
}

void set_interrupt_message(const std::string& message) {
  Words& next = last_words == &words[0] ? words[1] : words[0];
  prepare(next, message);
  last_words = &next;
  says_nothing_written = false;
}

void keep_standard_streams() {
  // Opened the wrong way round, so that reading or writing is an error as before.
  constexpr int kModes[] = {O_WRONLY, O_RDONLY, O_RDONLY};
  for (int number = 0; number < 3; ++number)
    if (::fcntl(number, F_GETFD) < 0 && ::open("/dev/null", kModes[number]) != number) return;
}

std::string printable(std::string_view text) {
  std::string out;
  int following = 0;  // bytes of a character that has begun
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    const bool continues = c >= 0x80 && c < 0xC0 && following > 0;
    const bool begins = c >= 0xC2 && c < 0xF5 && (next & 0xC0) == 0x80;
    const bool control =
        c < 0x20 || c == 0x7F || (c == 0xC2 && next < 0xA0);  // and those of 8 bits
    following = continues ? following - 1 : !begins ? 0 : c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : 1;
    if (c == '\n')
      out += "\\n";
    else if (control || (c >= 0x80 && !continues && !begins))
      out += fmt::format("\\x{:02x}", c);
    else
      out += text[i];
    if (control) following = 0;
  }
  return out;
}

void print_error(const std::string& message) {
  const std::string line = fmt::format("kerf: {}\n", printable(message));
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void print_warning(const std::string& message) { print_error("warning: " + message); }

void fail_output() {
  throw std::system_error(errno, std::generic_category(), "cannot write to standard output");
}

Progress terminal_progress(bool quiet, bool verbose) {
  static const auto shared = std::make_shared<Show>();
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  const bool shows = !quiet && (terminal || verbose);
  const auto as = terminal ? Show::As::bar : Show::As::lines;
  return [shows, as](const ProgressEvent& event) {
    check_interrupt();
    if (shows) shared->update(event, as);
  };
}

void clear_progress() {
  if (bar_shown) std::fputs("\r\033[K", stderr);
  bar_shown = false;
}

bool use_colour() { return ::isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr; }

std::string bold(const std::string& text) {
  return use_colour() ? "\033[1m" + text + "\033[0m" : text;
}

std::string human_seconds(double seconds) {
  if (seconds < 10) return fmt::format("{:.2f} s", seconds);
  if (seconds < 120) return fmt::format("{:.1f} s", seconds);
  const auto whole = std::lround(seconds);
  return fmt::format("{} min {} s", whole / 60, whole % 60);
}

}  // namespace kerf::cli
