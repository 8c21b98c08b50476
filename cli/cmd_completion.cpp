// kerf completion, manual: shell completion and the man page, from the commands as they are.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "cli/command.h"

namespace kerf::cli {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  const auto all =
      app.get_subcommands([](const CLI::App* command) { return !command->get_name().empty(); });
  return {all.begin(), all.end()};
}

/// The option's names with their dashes: {"-o", "--out"}.
std::vector<std::string> flags_of(const CLI::Option& option) {
  std::vector<std::string> flags;
  for (const auto& name : option.get_snames()) flags.push_back("-" + name);
  for (const auto& name : option.get_lnames()) flags.push_back("--" + name);
  return flags;
}

template <class Entries>
std::vector<std::string> names_of(const Entries& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.emplace_back(entry.name);
  return names;
}

/// The words that may follow an option; empty: anything (a file, a number).
std::vector<std::string> values_of(const CLI::Option& option) {
  const auto& names = option.get_lnames();
  const auto is = [&](const char* name) { return std::ranges::find(names, name) != names.end(); };
  if (is("map")) {
    auto maps = names_of(feature_maps());
    maps.insert(maps.begin(), {kAutoMap, kExactMap});
    return maps;
  }
  const std::string type = option.get_type_name();
  if (is("kernel") && type.find('|') == std::string::npos) return names_of(kernels());
  std::vector<std::string> values;
  for (std::size_t begin = 0; type.find('|') != std::string::npos && begin <= type.size();) {
    const std::size_t end = std::min(type.find('|', begin), type.size());
    const std::string word = type.substr(begin, end - begin);
    if (!word.empty() && std::islower(static_cast<unsigned char>(word[0]))) values.push_back(word);
    begin = end + 1;
  }
  return values;
}

// ---- bash and zsh -------------------------------------------------------------------------------

/// A case of the bash function: the command's options, and the words after those that have some.
std::string bash_command(const CLI::App& command) {
  std::string flags, values;
  for (const CLI::Option* option : command.get_options()) {
    const auto names = flags_of(*option);
    if (names.empty()) continue;
    flags += fmt::format(" {}", fmt::join(names, " "));
    const auto words = values_of(*option);
    if (!words.empty())
      values += fmt::format("        {}) words=\"{}\" ;;\n", fmt::join(names, "|"),
                            fmt::join(words, " "));
  }
  return fmt::format(
      "    {})\n      case \"$before\" in\n{}        *) flags=\"{}\" ;;\n"
      "      esac ;;\n",
      command.get_name(), values, flags.empty() ? "" : flags.substr(1));
}

std::string bash_script(const CLI::App& app) {
  std::string commands, cases;
  for (const CLI::App* command : commands_of(app)) {
    commands += (commands.empty() ? "" : " ") + command->get_name();
    cases += bash_command(*command);
  }
  return fmt::format(
      R"(# Completion of kerf for bash: source it, or put it into /etc/bash_completion.d.
_kerf() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  local flags="" words="" command="${{COMP_WORDS[1]}}"
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{} --help --version" -- "$current"))
    return
  fi
  case "$command" in
{}  esac
  if [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  elif [ "${{current#-}}" != "$current" ]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}}
complete -o filenames -F _kerf kerf
)",
      commands, cases);
}

std::string zsh_script(const CLI::App& app) {
  return "#compdef kerf\n# Completion of kerf for zsh: source it from ~/.zshrc.\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         bash_script(app);
}

// ---- fish ---------------------------------------------------------------------------------------

std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish_script(const CLI::App& app) {
  std::string out = "# Completion of kerf for fish: put it into ~/.config/fish/completions.\n";
  for (const CLI::App* command : commands_of(app)) {
    out += fmt::format("complete -c kerf -n __fish_use_subcommand -a {} -d {}\n",
                       command->get_name(), fish_quoted(command->get_description()));
    for (const CLI::Option* option : command->get_options()) {
      if (flags_of(*option).empty()) continue;
      out +=
          fmt::format("complete -c kerf -n '__fish_seen_subcommand_from {}'", command->get_name());
      for (const auto& name : option->get_snames()) out += " -s " + name;
      for (const auto& name : option->get_lnames()) out += " -l " + name;
      const auto words = values_of(*option);
      if (!words.empty())
        out += fmt::format(" -x -a {}", fish_quoted(fmt::format("{}", fmt::join(words, " "))));
      out += fmt::format(" -d {}\n", fish_quoted(option->get_description()));
    }
  }
  return out;
}

// ---- man page -----------------------------------------------------------------------------------

/// Text as roff takes it: backslashes, dashes and leading dots made literal.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
      out += fmt::format("\\&{}", c);
    else
      out += c;
  }
  return out;
}

std::string roff_option(const CLI::Option& option) {
  const auto flags = flags_of(option);
  const std::string name =
      flags.empty() ? option.get_name() : fmt::format("{}", fmt::join(flags, ", "));
  const std::string value =
      flags.empty() || option.get_type_name().empty() ? "" : " " + option.get_type_name();
  return fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(name), roff(value),
                     roff(option.get_description()));
}

std::string roff_command(const CLI::App& command) {
  std::string out =
      fmt::format(".SS kerf {}\n{}.\n", command.get_name(), roff(command.get_description()));
  for (const CLI::Option* option : command.get_options()) out += roff_option(*option);
  if (!command.get_footer().empty())
    out += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(command.get_footer()));
  return out;
}

std::string manual(const CLI::App& app) {
  std::string out = fmt::format(
      ".TH KERF 1 \"\" \"kerf {}\" \"User Commands\"\n.SH NAME\nkerf \\- {}\n.SH SYNOPSIS\n"
      ".B kerf\nCOMMAND [ARGUMENTS] [OPTIONS]\n.SH DESCRIPTION\n"
      "Turns rows or images into random features whose inner products reproduce a kernel, and "
      "fits linear models on them, out of core.\n.PP\n.nf\n{}\n.fi\n.SH COMMANDS\n",
      roff(version()), "learning with kernels at the cost of linear models",
      roff(app.get_footer()));
  for (const CLI::App* command : commands_of(app)) out += roff_command(*command);
  return out +
         ".SH EXIT STATUS\n0 success; 1 bad data, not enough memory or disk; 2 bad usage; "
         "130 interrupted.\n.SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nno colours on a terminal\n";
}

}  // namespace

void add_completion(CLI::App& app, Common& common, std::function<void()>& run) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* command = add_command(app, common, "completion", "print the completion of a shell",
                                  "  source <(kerf completion bash)\n"
                                  "  kerf completion fish > ~/.config/fish/completions/kerf.fish");
  add_option(*command, "SHELL", *shell, "bash, zsh or fish")
      .required()
      .one_of({"bash", "zsh", "fish"});
  when_asked(*command, [=, &app, &run] {
    run = [=, &app] {
      const auto script = *shell == "bash"  ? bash_script
                          : *shell == "zsh" ? zsh_script
                                            : fish_script;
      fmt::print("{}", script(app));
    };
  });
  when_asked(
      *add_command(app, common, "manual", "print the man page",
                   "  kerf manual | man -l -\n  kerf manual > /usr/local/share/man/man1/kerf.1"),
      [&app, &run] { run = [&app] { fmt::print("{}", manual(app)); }; });
}

}  // namespace kerf::cli
