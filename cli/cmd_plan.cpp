// kerf plan: how many features meet a target, and what they cost.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/command.h"

namespace kerf::cli {
namespace {

struct PlanArguments {
  std::vector<std::string> data;
  std::string map = "rff", report;
  Params data_options, plan_options, map_options;
};

/// To three digits: a bound is not known better.
std::string rounded(double value) {
  if (!(value < 1e15)) return fmt::format("{:.1g}", value);
  const double unit = std::pow(10.0, std::max(0.0, std::floor(std::log10(value)) - 2));
  return with_commas(std::llround(std::ceil(value / unit) * unit));
}

void print_plan(const Plan& plan, const std::string& why_map, const std::string& fit) {
  fmt::print("{}  {} {:g}, map {}{}\n", bold("target  "), name_of(plan.goal), plan.target, plan.map,
             plan.lambda ? fmt::format(", lambda {:g}", *plan.lambda) : "");
  if (!why_map.empty()) fmt::print("          {}\n", why_map);
  for (const auto& size : plan.sizes) {
    const Interval found = interval_of(size.values);
    const auto cost = std::ranges::find(plan.costs, size.features, &FitCost::features);
    fmt::print("{}  {:>6} features: {:.4g} (another map stays below {:.4g}); a fit: {}, {}\n",
               bold("measured"), with_commas(size.features), found.mean, size.limit,
               human_seconds(cost->seconds), human_bytes(cost->memory));
  }
  for (const auto& bound : plan.bounds)
    fmt::print("{}  {} features are enough, by {}{}\n", bold("theory  "), rounded(bound.features),
               bound.name, bound.note.empty() ? "" : " (" + bound.note + ")");
  if (!plan.bounds.empty())
    fmt::print(
        "          theory holds for the worst data and is pessimistic: take what was "
        "measured\n");
  if (!plan.features) {
    fmt::print("{}  out of reach: {}\n", bold("answer  "), plan.reason);
    return;
  }
  fmt::print("{}  {} features ({})\n", bold("answer  "), with_commas(*plan.features), plan.reason);
  for (const auto& cost : plan.costs)
    if (cost.features == *plan.features)
      fmt::print("{}  about {} and {} to fit {} rows (solver {})\n", bold("cost    "),
                 human_seconds(cost.seconds), human_bytes(cost.memory), with_commas(plan.rows),
                 cost.solver);
  fmt::print("{}  {}\n", bold("do      "), fit);
}

void run_plan(const PlanArguments& arguments, const Common& common) {
  require_features(arguments.map);
  auto options = read_options<PlanOptions>(arguments.plan_options, "kerf plan");
  const auto data_options = read_data_options(arguments.data_options, "kerf plan", common);
  if (arguments.map_options.contains("features"))
    throw Error(ErrorKind::usage,
                "kerf plan finds --features; kerf diagnose looks at a given number of them");
  check_map_options(arguments.map, arguments.map_options);
  if (options.validation_error == 0 && arguments.plan_options.contains("holdout"))
    throw Error(ErrorKind::usage,
                "--holdout is for --validation-error: other targets hold out no rows");
  files_of(arguments, arguments.report).check();
  const Context context{common.memory_limit(), terminal_progress(common.quiet, common.verbose)};
  Dataset data = open_dataset(arguments.data, data_options,
                              rng::Key{static_cast<std::uint64_t>(options.seed)}, context.progress);
  ChosenFeatures chosen = features_for(
      data, {arguments.map, arguments.map_options, options.scale, options.seed}, context);
  chosen.options.erase("features");
  options.scale = chosen.scale;
  const Plan plan = make_plan(*data.source, data.summary, chosen.map, chosen.options, options,
                              common.memory_limit(), context.progress);
  clear_progress();
  for (const auto& warning : plan.warnings) print_warning(warning);
  Params fit_options;
  if (plan.fit_lambda) fit_options["lambda"] = format_number(*plan.fit_lambda);
  if (arguments.plan_options.contains("scale"))
    fit_options["scale"] = arguments.plan_options.at("scale");
  Params map_options = chosen.options;
  if (plan.features) map_options["features"] = std::to_string(*plan.features);
  const std::string fit = fit_command(common, arguments.data, plan.map,
                                      {arguments.data_options, map_options, fit_options});
  if (!arguments.report.empty())
    write_text(arguments.report, plan_report(plan, fit, common.command_line));
  if (common.json)
    fmt::print("{}\n", to_json(plan, fit));
  else if (!common.quiet)
    print_plan(plan, chosen.reason, fit);
}

}  // namespace

void add_plan(CLI::App& app, Common& common, std::function<void()>& run) {
  const auto arguments = std::make_shared<PlanArguments>();
  CLI::App* command =
      add_command(app, common, "plan", "how many features meet a target, and what they cost",
                  "  kerf plan data.csv --map rff --epsilon 0.5 --lambda 1e-4\n"
                  "  kerf plan data.csv --map ntk-rf --kernel-error 0.05 --report plan.html\n"
                  "  kerf plan data.csv --map arccos --validation-error 0.03");
  add_option(*command, "DATA", arguments->data, "rows, as for kerf fit").required();
  add_option(*command, "--map", arguments->map,
             "feature map, see `kerf maps`; auto: as a fit would choose it [rff]")
      .type_name("NAME");
  add_option(*command, "--report", arguments->report, "an HTML page about it").output_file();
  add_described(*command, "Plan", list_options<PlanOptions>(), arguments->plan_options);
  add_described(*command, "Data", list_options<DataOptions>(), arguments->data_options);
  // What plan finds is not listed, but whoever gives it is told so.
  add_described(*command, "", only(all_map_options(), {"features"}), arguments->map_options);
  add_described(*command, kMapOptions, all_map_options(), arguments->map_options);
  when_asked(*command,
             [=, &common, &run] { run = [=, &common] { run_plan(*arguments, common); }; });
}

}  // namespace kerf::cli
