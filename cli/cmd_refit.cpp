// kerf refit: a model again with another lambda, from sums that were kept.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/command.h"

namespace kerf::cli {
namespace {

struct RefitArguments {
  std::string model, output;
  Params options;
};

/// The options of fit that make sense without rows.
std::vector<OptionInfo> refit_options() {
  return only(list_options<FitOptions>(),
              {"checkpoint", "lambda", "lambda-grid", "lambda-per-target", "validation"});
}

void print_refit(const FitReport& report, const RefitArguments& arguments, bool given) {
  if (report.quality) fmt::print("{}  {}\n", bold("quality "), describe(*report.quality));
  fmt::print(
      "{}  {:.3g}{}\n", bold("lambda  "), report.lambda,
      given ? ", as given"
            : fmt::format(", the best of {} tried, by {}", report.path.size(), report.validation));
  if (report.cv_error)
    fmt::print("{}  {:.5g}: {}, {}\n", bold("error   "), *report.cv_error, report.metric,
               report.validation);
  fmt::print("{}  {}\n", bold("time    "), human_seconds(report.seconds.total));
  fmt::print("{}  {}\n", bold("model   "), arguments.output);
}

void run_refit(const RefitArguments& arguments, const Common& common) {
  const auto options = read_options<FitOptions>(arguments.options, "kerf refit");
  if (options.checkpoint.empty())
    throw Error(ErrorKind::usage,
                "kerf refit needs --checkpoint DIR, the folder that the model was fitted with");
  Files().reads(arguments.model).writes(arguments.output).keeps(options.checkpoint).check();
  FitResult result =
      refit(load_model(arguments.model), options, terminal_progress(common.quiet, common.verbose));
  result.model.training.command = common.command_line;
  save_model(result.model, arguments.output);
  clear_progress();
  const FitReport& report = result.report;
  if (common.json)
    print_json({{"lambda", report.lambda},
                {"cv_error", report.cv_error ? Json(*report.cv_error) : Json()},
                {"quality", quality_json(report.quality)},
                {"seconds", report.seconds.total},
                {"warnings", report.warnings},
                {"model", arguments.output}});
  else if (!common.quiet)
    print_refit(report, arguments, options.lambda.has_value());
  for (const auto& warning : report.warnings) print_warning(warning);
}

}  // namespace

void add_refit(CLI::App& app, Common& common, std::function<void()>& run) {
  const auto arguments = std::make_shared<RefitArguments>();
  CLI::App* command = add_command(
      app, common, "refit", "a model again with another lambda, from sums that were kept",
      "  kerf fit data.csv --map rff --solver cholesky --checkpoint sums -o model.kerf\n"
      "  kerf refit model.kerf --checkpoint sums --lambda 1e-4 -o stiffer.kerf");
  add_option(*command, "MODEL", arguments->model, "a model that `kerf fit --checkpoint` wrote")
      .required();
  add_option(*command, "-o,--out", arguments->output, "where the new model goes")
      .output_file()
      .required();
  add_described(*command, "Training", refit_options(), arguments->options);
  when_asked(*command,
             [=, &common, &run] { run = [=, &common] { run_refit(*arguments, common); }; });
}

}  // namespace kerf::cli
