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

void print_diagnosis(const Diagnosis& d, const std::string& note) {
  fmt::print("{}  {} rows of {}, {} columns\n", bold("sample  "), with_commas(d.sample),
             with_commas(d.rows), with_commas(d.cols));
  if (!note.empty()) fmt::print("          {}\n", note);
  fmt::print("{}  {}, {} seeds\n", bold("map     "), d.map, d.seeds.size());
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
  const auto options = read_options<DiagnoseOptions>(arguments.diagnose_options, "kerf diagnose");
  const auto data_options = read_input_options(arguments.data_options, "kerf diagnose", common);
  const FeatureMapEntry& entry = find_feature_map(arguments.map);
  Params params = arguments.map_options;
  const auto sizes = parse_sizes(take_option(params, "features", kSizes));
  params = rows_as_they_are(entry.options(), std::move(params));
  entry.complete(params);
  files_of(arguments, arguments.report).check();
  const Progress progress = terminal_progress(common.quiet);
  Dataset data = open_settled(arguments.data, data_options, options.seed, options.scale,
                              sees_differences(arguments.map, params), progress);
  const Diagnosis found = diagnose(*data.source, data.summary, arguments.map, params, sizes,
                                   options, common.memory_limit(), progress);
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
    print_diagnosis(found, input_note(arguments.data_options, data.encoding));
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
  add_option(*command, "DATA", arguments->data,
             "rows; every column is input unless --target says which one is not")
      .required();
  add_option(*command, "--map", arguments->map, "feature map, see `kerf maps` [rff]")
      .type_name("NAME");
  add_option(*command, "--report", arguments->report, "an HTML page about it").output_file();
  add_described(*command, "Diagnosis", list_options<DiagnoseOptions>(),
                arguments->diagnose_options);
  add_described(*command, "Data", input_options(), arguments->data_options);
  add_described(*command, "Options of maps", as_rows_are(with_sizes(all_map_options(), kSizes)),
                arguments->map_options);
  when_asked(*command,
             [=, &common, &run] { run = [=, &common] { run_diagnose(*arguments, common); }; });
}

}  // namespace kerf::cli
