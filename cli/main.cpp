// The program: finds the command, runs it, turns errors into one line and an exit code.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <map>
#include <new>
#include <sstream>
#include <system_error>

#include "cli/command.h"

namespace kerf::cli {
namespace {

constexpr AddCommand kCommands[] = {
    add_fit,  add_refit,   add_predict, add_score,    add_transform, add_kernel, add_diagnose,
    add_plan, add_compare, add_select,  add_skeleton, add_info,      add_lists,  add_completion};

/// Freed matrices go back to the system at once.  The allocator would keep some, tens of megabytes
/// that no estimate knows of, since it takes large blocks for small ones once they have been freed.
/// `large`: what counts as such; small numbers cost a few percent of time.
void return_freed_memory(int large) {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, large);
  mallopt(M_TRIM_THRESHOLD, large);
#endif
}

/// One heap for all threads: blocks are read on one and freed on another, and with a heap for each the
/// process grew by some six bytes a row of the file.
void share_one_heap() {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 1);
#endif
}

constexpr int kBrokenPipe = 141;  // what a shell shows for a program that SIGPIPE ended

constexpr const char* kExamples =
    "Examples:\n"
    "  kerf fit data.csv                        train on all columns but the last, which is the "
    "target\n"
    "  kerf fit data.csv -o house.kerf --target price\n"
    "  kerf score house.kerf test.csv\n"
    "  kerf predict house.kerf new.csv -o predictions.txt\n"
    "  kerf COMMAND --help                      options and examples of a command\n\n"
    "Exit codes: 0 done; 1 data, memory, disk; 2 a wrong command; 130 Ctrl-C; 143 SIGTERM";

/// Names that other tools use for our options.
const std::map<std::string, std::string> kForeignNames = {
    {"--gamma", "--bandwidth s, with gamma = 1/(2 s^2)"},
    {"--sigma", "--bandwidth"},
    {"--length-scale", "--bandwidth"},
    {"--alpha", "--lambda, with alpha = n lambda"},
    {"--C", "--lambda, with C = 1/(2 n lambda)"},
    {"--reg", "--lambda"},
    {"--n-components", "--features"},
    {"--components", "--features"},
    {"--random-state", "--seed"},
    {"--n-jobs", "--threads"},
    {"--cv", "--folds"},
    {"--layers", "--depth"},
    {"--output", "-o"},
    {"--label", "--target"},
    {"--y", "--target"},
};

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return 2;
    default:
      return 1;
  }
}

int complain(const std::string& message, int code, bool json) {
  clear_progress();
  try {
    if (json) print_json({{"error", message}});
  } catch (const std::system_error&) {
    // Nobody reads standard output, which may be what the message is about.
  }
  print_error(message);
  return code;
}

/// What was printed has arrived, or std::system_error.
void flush_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) fail_output();
}

/// --help and --version; the exit code.
int print_asked(CLI::App& app, const CLI::Error& asked, const std::vector<std::string>& arguments) {
  for (CLI::App* command : app.get_subcommands()) show_options_of_maps(*command, arguments);
  std::ostringstream text;
  const int code = app.exit(asked, text, text);
  fmt::print("{}", text.str());
  flush_output();
  return code;
}

/// The command among `arguments` that CLI11 was parsing, or the program itself.
CLI::App* command_in(CLI::App& app, const std::vector<std::string>& arguments) {
  for (const auto& argument : arguments)
    for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
      if (command->get_name() == argument) return command;
  return &app;
}

/// What an option that the command does not have may be: of another tool, of a fit, a misspelling.
std::string explain_option(CLI::App& app, const CLI::App& command, const std::string& name,
                           const std::vector<std::string>& options) {
  const auto foreign = kForeignNames.find(name);
  if (foreign != kForeignNames.end()) return fmt::format("; kerf calls it {}", foreign->second);
  if (app.get_subcommand("fit")->get_option_no_throw(name) == nullptr)
    return did_you_mean(name, options);
  const bool has_model = command.get_name() == "predict" || command.get_name() == "score";
  return has_model
             ? fmt::format(": the model knows its columns and its map, {} is an option of kerf fit",
                           name)
             : ": it is an option of kerf fit";
}

/// "kerf fit has no option --fetures (did you mean '--features'?)".
std::string explain_unknown(CLI::App& app, const std::vector<std::string>& arguments) {
  CLI::App* command = command_in(app, arguments);
  if (command == &app) {
    std::vector<std::string> names;
    for (const CLI::App* known : app.get_subcommands([](CLI::App*) { return true; }))
      names.push_back(known->get_name());
    for (const auto& argument : arguments)
      if (!argument.starts_with('-'))
        return fmt::format("there is no command '{}'{}; commands are {}", argument,
                           did_you_mean(argument, names), fmt::join(names, ", "));
  }
  std::vector<std::string> options;
  for (const CLI::Option* option : command->get_options())
    for (const auto& name : option->get_lnames()) options.push_back("--" + name);
  for (const auto& argument : arguments) {
    const std::string name = argument.substr(0, argument.find('='));
    if (!name.starts_with("-") || name == "-" || parse_number(name)) continue;
    if (std::ranges::find(options, name) != options.end()) continue;
    if (name.size() == 2 && command->get_option_no_throw(name) != nullptr) continue;
    return fmt::format("kerf {} has no option {}{}", command == &app ? "" : command->get_name(),
                       name, explain_option(app, *command, name, options));
  }
  return "";
}

/// OpenBLAS starts its threads before main, and where the address space is limited they look for room in
/// it for ever.  We never use them: begin again without.
void start_without_blas_threads(char** argv) {
  constexpr const char* kVariable = "OPENBLAS_NUM_THREADS";
  rlimit space{}, data{};
  const bool limited = ::getrlimit(RLIMIT_AS, &space) == 0 &&
                       ::getrlimit(RLIMIT_DATA, &data) == 0 &&
                       (space.rlim_cur != RLIM_INFINITY || data.rlim_cur != RLIM_INFINITY);
  const char* now = std::getenv(kVariable);
  if (!limited || (now != nullptr && std::string_view(now) == "1")) return;
  if (::setenv(kVariable, "1", 1) == 0) ::execv("/proc/self/exe", argv);
}

/// `--flag true` as `--flag=true`: a flag stands alone or has one of these words behind it.
std::vector<std::string> with_joined_flags(const std::vector<std::string>& arguments) {
  std::vector<std::string> joined;
  for (const auto& argument : arguments) {
    const bool after_name = !joined.empty() && joined.back().starts_with("--") &&
                            joined.back().find('=') == std::string::npos;
    if (after_name && (argument == "true" || argument == "false"))
      joined.back() += "=" + argument;
    else
      joined.push_back(argument);
  }
  return joined;
}

int run(const std::vector<std::string>& arguments) {
  Common common;
  common.command_line = "kerf";
  for (const auto& argument : arguments) common.command_line += " " + quoted(argument);
  const bool json = std::ranges::find(arguments, "--json") != arguments.end();

  CLI::App app("kerf: learning with kernels at the cost of linear models", "kerf");
  app.set_version_flag("--version", fmt::format("kerf {}", version()));
  app.footer(kExamples);
  app.require_subcommand(1);
  std::function<void()> action;
  for (const AddCommand add : kCommands) add(app, common, action);

  try {
    auto reversed = with_joined_flags(arguments);
    std::ranges::reverse(reversed);
    app.parse(reversed);
  } catch (const CLI::CallForHelp& asked) {
    return print_asked(app, asked, arguments);
  } catch (const CLI::CallForAllHelp& asked) {
    return print_asked(app, asked, arguments);
  } catch (const CLI::CallForVersion& asked) {
    return print_asked(app, asked, arguments);
  } catch (const CLI::ParseError& error) {
    if (arguments.empty()) {
      fmt::print("{}", app.help());
      flush_output();
      return 2;
    }
    const std::string unknown = explain_unknown(app, arguments);
    return complain(unknown.empty() ? error.what() : unknown, 2, json);
  }
  if (common.memory_limit() > 0) return_freed_memory(256 << 10);  // a size that is none: an error
  if (common.threads > 0) set_threads(common.threads);
  const InterruptScope interrupts(check_interrupt);
  action();
  clear_progress();
  flush_output();
  return 0;
}

}  // namespace
}  // namespace kerf::cli

int main(int argc, char** argv) {
  using namespace kerf;
  detail::set_face(detail::Face::program);
  cli::share_one_heap();
  cli::return_freed_memory(1 << 20);
  cli::keep_standard_streams();
  cli::start_without_blas_threads(argv);
  const bool json = std::any_of(argv + 1, argv + argc, [](const char* argument) {
    return std::string_view(argument) == "--json";
  });
  cli::catch_interrupts(json);
  try {
    return cli::run({argv + 1, argv + argc});
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) cli::leave_interrupted();
    return cli::complain(error.what(), cli::exit_code(error.kind()), json);
  } catch (const std::system_error& error) {
    // Whoever read our output has gone (`kerf maps | head -1`): end as other programs do then.
    if (error.code() == std::errc::broken_pipe) return cli::kBrokenPipe;
    return cli::complain(error.what(), 1, json);
  } catch (const std::bad_alloc&) {
    cli::give_up("out of memory");
  } catch (const std::exception& error) {
    return cli::complain(fmt::format("unexpected error: {}", error.what()), 1, json);
  }
}
