// What --help shows of options that belong to some maps only: those of the map that is named, or a
// line for each map.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "cli/command.h"

namespace kerf::cli {
namespace {

/// The value of --map among the arguments; "": there is none.
std::string map_in(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].starts_with("--map=")) return arguments[i].substr(6);
    if (arguments[i] == "--map" && i + 1 < arguments.size()) return arguments[i + 1];
  }
  return "";
}

using Choice = std::vector<std::pair<std::string, std::vector<OptionInfo>>>;

/// Every map that the command may take, with its options.
Choice maps_with_options() {
  Choice maps;
  for (const auto& entry : feature_maps()) maps.emplace_back(entry.name, entry.options());
  OptionInfo kernel{"kernel", OptionType::choice, "", "the kernel, see `kerf kernels`"};
  for (const auto& entry : kernels()) kernel.choices.emplace_back(entry.name);
  maps.emplace_back(kExactMap, all_kernel_options());
  maps.back().second.push_back(std::move(kernel));
  return maps;
}

std::string described(const OptionInfo& info, const std::string& value) {
  return info.help + (value.empty() ? "" : fmt::format(" [{}]", value));
}

/// One option stands for those of all maps, which may mean other things by it, with other defaults and
/// choices: help shows what this map means.  What a command has put in its place stays.
void say_as(CLI::Option& option, const std::vector<OptionInfo>& own) {
  const std::string name = option.get_lnames()[0];
  const OptionInfo& info = *std::ranges::find(own, name, &OptionInfo::name);
  if (!info.choices.empty()) option.type_name(fmt::format("{}", fmt::join(info.choices, "|")));
  const auto all = all_map_options();
  const auto common = std::ranges::find(all, name, &OptionInfo::name);
  if (common == all.end()) return;
  const std::string now = option.get_description();
  if (!common->as_is.empty() && now == described(*common, common->as_is))
    option.description(described(info, info.as_is.empty() ? info.default_value : info.as_is));
  else if (now == described(*common, common->default_value))
    option.description(described(info, info.default_value));
}

}  // namespace

void show_options_of_maps(CLI::App& command, const std::vector<std::string>& arguments) {
  std::vector<CLI::Option*> options;
  for (CLI::Option* option : command.get_options())
    if (option->get_group() == kMapOptions) options.push_back(option);
  if (options.empty()) return;
  const auto has = [](const std::vector<OptionInfo>& own, const CLI::Option* option) {
    return std::ranges::find(own, option->get_lnames()[0], &OptionInfo::name) != own.end();
  };
  const Choice maps = maps_with_options();
  const std::string asked = map_in(arguments);
  const auto named = std::ranges::find(maps, asked, &Choice::value_type::first);
  std::string table = fmt::format(
      "Options of maps (`kerf {0} --help --map rff` or `kerf maps rff` says what they mean):\n",
      command.get_name());
  if (named != maps.end()) {
    for (CLI::Option* option : options) {
      const bool own = has(named->second, option);
      option->group(own ? "Options of " + asked : "");
      if (own) say_as(*option, named->second);
    }
    return;
  }
  for (CLI::Option* option : options) option->group("");
  for (const auto& [name, own] : maps) {
    std::string flags;
    for (const CLI::Option* option : options)
      if (has(own, option)) flags += " --" + option->get_lnames()[0];
    if (!flags.empty()) table += fmt::format("  {:<13}{}\n", name, flags);
  }
  command.footer(table + "\n" + command.get_footer());
}

}  // namespace kerf::cli
