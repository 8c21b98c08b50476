// kerf diagnose: how close a feature map comes to its kernel.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/command.h"

namespace kerf::cli {
namespace {

constexpr const char* kSizes = "1024";

struct DiagnoseArguments {
  std::vector<std::string> data;
  std::string map = "rff", report;
  Params data_options, diagnose_options, map_options;
};

void print_diagnosis(const Diagnosis& d, const std::string& note, const std::string& why_map) {
  fmt::print("{}  {} rows of {}, {} columns\n", bold("sample  "), with_commas(d.sample),
             with_commas(d.rows), with_commas(d.cols));
  if (!note.empty()) fmt::print("          {}\n", note);
  fmt::print("{}  {}, {} seeds\n", bold("map     "), d.map, d.seeds.size());
  if (!why_map.empty()) fmt::print("          {}\n", why_map);
  fmt::print("{}  lambda {:g}: statistical dimension {:.4g}, mean diagonal {:.4g}\n",
             bold("kernel  "), d.lambda, d.statistical_dimension, d.mean_diagonal);
  for (const auto& size : d.sizes) {
    fmt::print("{}  {}\n", bold("features"), with_commas(size.features));
    for (const auto& metric : quality_metrics()) {
      const Interval found = quality_interval(size.maps, metric.name);
      if (!std::isfinite(found.mean)) continue;
      fmt::print("          {:<36} {:>9.4g}", metric.label, found.mean);
      if (found.count > 1) fmt::print("   {:.4g} .. {:.4g}", found.low, found.high);
      fmt::print("\n");
    }
  }
  fmt::print("{}  {}\n", bold("so      "), describe_quality(d));
  fmt::print("{}  {}\n", bold("time    "), human_seconds(d.seconds));
}

void run_diagnose(const DiagnoseArguments& arguments, const Common& common) {
  require_features(arguments.map);
  auto options = read_options<DiagnoseOptions>(arguments.diagnose_options, "kerf diagnose");
  const auto data_options = read_data_options(arguments.data_options, "kerf diagnose", common);
  Params params = arguments.map_options;
  const auto sizes = parse_sizes(take_option(params, "features", kSizes));
  if (arguments.map == kAutoMap) {  // what a fit would choose, of rows as a fit would scale them
    params["features"] = std::to_string(sizes.back());
    if (!arguments.diagnose_options.contains("scale")) options.scale = ScaleKind::automatic;
  } else {
    params = rows_as_they_are(find_feature_map(arguments.map).options(), std::move(params));
  }
  check_map_options(arguments.map, params);
  files_of(arguments, arguments.report).check();
  const Context context{common.memory_limit(), terminal_progress(common.quiet, common.verbose)};
  Dataset data = open_dataset(arguments.data, data_options,
                              rng::Key{static_cast<std::uint64_t>(options.seed)}, context.progress);
  ChosenFeatures chosen =
      features_for(data, {arguments.map, params, options.scale, options.seed}, context);
  chosen.options.erase("features");
  options.scale = chosen.scale;
  const Diagnosis found = diagnose(*data.source, data.summary, chosen.map, chosen.options, sizes,
                                   options, context.memory_limit, context.progress);
  clear_progress();
  for (const auto& size : found.sizes)
    for (const auto& map : size.maps)
      if (!map.converged) {
        print_warning(
            fmt::format("an eigenvalue had not settled after 400 steps: epsilon and the condition "
                        "number of {} features are at least what is shown",
                        size.features));
        break;
      }
  for (const auto& warning : found.warnings) print_warning(warning);
  if (!arguments.report.empty())
    write_text(arguments.report, diagnose_report(found, common.command_line));
  if (common.json)
    fmt::print("{}\n", to_json(found));
  else if (!common.quiet)
    print_diagnosis(found, input_note(arguments.data_options, data.encoding), chosen.reason);
}

}  // namespace

void add_diagnose(CLI::App& app, Common& common, std::function<void()>& run) {
  const auto arguments = std::make_shared<DiagnoseArguments>();
  CLI::App* command = add_command(
      app, common, "diagnose", "how close features come to their kernel",
      "  kerf diagnose data.csv --map rff --features 1024\n"
      "  kerf diagnose data.csv --target price --map arccos --features 256,1024,4096 "
      "--report arccos.html\n"
      "  kerf diagnose data.csv --map ntk-rf --lambda 1e-5 --sample 10000 --seeds 1 --json");
  add_option(*command, "DATA", arguments->data, "rows; the target, if there is one, is left out")
      .required();
  add_option(*command, "--map", arguments->map,
             "feature map, see `kerf maps`; auto: chosen for the target [rff]")
      .type_name("NAME");
  add_option(*command, "--report", arguments->report, "an HTML page about it").output_file();
  add_described(*command, "Diagnosis", list_options<DiagnoseOptions>(),
                arguments->diagnose_options);
  add_described(*command, "Data", list_options<DataOptions>(), arguments->data_options);
  add_described(*command, kMapOptions, as_rows_are(with_sizes(all_map_options(), kSizes)),
                arguments->map_options);
  when_asked(*command,
             [=, &common, &run] { run = [=, &common] { run_diagnose(*arguments, common); }; });
}

}  // namespace kerf::cli
