// kerf compare: maps x numbers of features x seeds on a user's data.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/command.h"

namespace kerf::cli {
namespace {

constexpr const char* kSizes = "256,1024,4096";

struct CompareArguments {
  std::vector<std::string> data, test;
  std::string maps = "rff,arccos,ntk-rf", test_labels, report;
  Params data_options, compare_options, fit_options, map_options;
};

void print_comparison(const Comparison& c, const std::string& fit) {
  fmt::print("{}  {} rows, {} columns; {}, {}\n", bold("data    "), with_commas(c.rows),
             with_commas(c.cols), c.error_name(), c.validation);
  std::size_t width = 3;
  for (const auto& entry : c.entries) width = std::max(width, entry.spec.label.size());
  fmt::print("\n  {:<{}}  features      error  +-            seconds    memory  kernel error\n",
             "map", width);
  for (std::size_t e = 0; e < c.entries.size(); ++e) {
    const auto& entry = c.entries[e];
    const Interval error = entry.error();
    const auto kernel = entry.quality("relative_frobenius");
    fmt::print("{} {:<{}}  {:>8}  {:>9.4g}  {:<9}  {:>9.3g}  {:>8}  {}\n",
               e == c.recommended ? "*"
               : entry.on_front   ? "+"
                                  : " ",
               entry.spec.label, width, entry.features > 0 ? with_commas(entry.features) : "",
               error.mean, error.count > 1 ? fmt::format("{:.2g}", error.sd) : "",
               entry.seconds().mean, human_bytes(entry.memory),
               kernel ? fmt::format("{:.3g}", kernel->mean) : "");
  }
  fmt::print("\n  * recommended, + on the Pareto front of error, time and memory\n\n{}\n  {}\n",
             c.recommendation, fit);
}

/// The command that fits what was recommended.
std::string recommended_command(const CompareArguments& arguments, const Common& common,
                                const Comparison& c) {
  const auto& best = c.entries[c.recommended];
  Params options = best.spec.options;
  if (best.features > 0) options["features"] = std::to_string(best.features);
  return fit_command(common, arguments.data, best.spec.map,
                     {arguments.data_options, options, arguments.fit_options});
}

void run_compare(const CompareArguments& arguments, const Common& common) {
  const auto options = read_options<CompareOptions>(arguments.compare_options, "kerf compare");
  const auto fit = read_options<FitOptions>(arguments.fit_options, "kerf compare");
  const auto data_options = read_data_options(arguments.data_options, "kerf compare", common);
  Params common_options = arguments.map_options;
  const auto sizes = parse_sizes(take_option(common_options, "features", kSizes));
  const auto specs = with_common_options(parse_specs(arguments.maps), common_options);
  if (!fit.checkpoint.empty() || fit.variance || fit.noise != Noise::leave_one_out ||
      fit.intervals != Intervals::none)
    throw Error(
        ErrorKind::usage,
        "a comparison keeps no models: no --checkpoint, no --variance, no --noise, no --intervals");
  if (!arguments.test_labels.empty() && arguments.test.empty())
    throw Error(ErrorKind::usage, "--test-labels goes with --test");
  if (!arguments.test.empty() && arguments.compare_options.contains("holdout"))
    throw Error(ErrorKind::usage, "--test and --holdout both say which rows to score on: give one");
  files_of(arguments, arguments.report).reads(arguments.test).reads(arguments.test_labels).check();
  const Progress progress = terminal_progress(common.quiet, common.verbose);
  const bool differences = std::ranges::all_of(
      specs, [](const MapSpec& spec) { return sees_differences(spec.map, spec.options); });
  Dataset data =
      open_settled(arguments.data, data_options, fit.seed, fit.scale, differences, progress);
  std::function<Score(const Model&)> test;
  const auto open_test = [&] {
    return detail::open_test(data, arguments.test, arguments.test_labels);
  };
  if (!arguments.test.empty()) {
    // Opened before any work, so that what is wrong with the file comes first.
    test = [&, opened = std::shared_ptr(open_test())](const Model& model) mutable {
      const auto rows = opened ? std::move(opened) : std::shared_ptr(open_test());
      return evaluate(model, *rows, common.memory_limit());
    };
  }
  Comparison found = compare_maps(*data.source, data.summary, specs, sizes, options, fit, test,
                                  common.memory_limit(), progress);
  if (test) found.validation = fmt::format("{}", fmt::join(arguments.test, ", "));
  clear_progress();
  for (const auto& warning : found.warnings) print_warning(warning);
  const std::string command = recommended_command(arguments, common, found);
  if (!arguments.report.empty())
    write_text(arguments.report, compare_report(found, command, common.command_line));
  if (common.json)
    fmt::print("{}\n", to_json(found, command));
  else if (!common.quiet)
    print_comparison(found, command);
}

}  // namespace

void add_compare(CLI::App& app, Common& common, std::function<void()>& run) {
  const auto arguments = std::make_shared<CompareArguments>();
  CLI::App* command = add_command(
      app, common, "compare", "maps and numbers of features on your data, and which to take",
      "  kerf compare data.csv --maps rff,arccos,ntk-poly --features 256,1024,4096 "
      "--report compare.html\n"
      "  kerf compare data.csv --maps arccos:directions=gaussian,arccos:directions=orthogonal\n"
      "  kerf compare train.csv --test test.csv --maps auto,exact:kernel=ntk --seeds 1 --json");
  add_option(*command, "DATA", arguments->data, "rows with a target, as for kerf fit").required();
  add_option(*command, "--maps", arguments->maps,
             "maps by commas, options of one by colons, as in rff,arccos:order=0 "
             "[rff,arccos,ntk-rf]")
      .type_name("A,B:x=1");
  add_option(*command, "--test", arguments->test, "rows to score on, instead of --holdout")
      .type_name("FILE")
      .expected(1, 1000);
  add_option(*command, "--test-labels", arguments->test_labels,
             "file with one label for each row of --test")
      .type_name("FILE");
  add_option(*command, "--report", arguments->report, "an HTML page about it").output_file();
  add_described(*command, "Comparison", list_options<CompareOptions>(), arguments->compare_options);
  add_described(*command, "Data", list_options<DataOptions>(), arguments->data_options);
  add_described(*command, "Training", list_options<FitOptions>(), arguments->fit_options);
  add_described(*command, kMapOptions, with_sizes(all_map_options(), kSizes),
                arguments->map_options);
  when_asked(*command,
             [=, &common, &run] { run = [=, &common] { run_compare(*arguments, common); }; });
}

}  // namespace kerf::cli
