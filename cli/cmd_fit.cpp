// kerf fit: train a model on files.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/command.h"

namespace kerf::cli {
namespace {

struct FitArguments {
  std::vector<std::string> data;
  std::string output = "model.kerf";
  std::string map = kDefaultMap;
  Params data_options, fit_options, map_options;
};

/// The map's options as a person would write them: "features 4096, kernel gaussian, ...".
std::string describe_options(const Params& options) {
  std::string text = fmt::format("{} features", with_commas(std::stoll(options.at("features"))));
  for (const auto& [name, value] : options) {
    if (name == "features") continue;
    const auto number = parse_number(value);
    text += fmt::format(", {} {}", name, number ? fmt::format("{:.4g}", *number) : value);
  }
  return text;
}

Json fit_json(const FitArguments& arguments, const DataSummary& summary, const FitResult& result) {
  const auto& [model, report] = result;
  const auto& seconds = report.seconds;
  Json json = {
      {"task", model.task == Task::classification ? "classification" : "regression"},
      {"rows", summary.rows},
      {"columns", summary.cols},
      {"map", model.recipe.map},
      {"features", model.linear.weights.rows()},
      {"options", options_json(model.recipe.options)},
      {"scale", kScaleNames[static_cast<int>(report.scale)]},
      {"solver", kSolverNames[static_cast<int>(report.solver)]},
      {"solver_reason", report.solver_reason},
      {"lambda", report.lambda},
      {"cv_error", report.cv_error ? Json(*report.cv_error) : Json()},
      {"cv_metric", report.metric + ", " + report.validation},
      {"seconds",
       {{"read", seconds.read},
        {"features", seconds.features},
        {"accumulate", seconds.accumulate},
        {"solve", seconds.solve},
        {"total", seconds.total}}},
      {"estimated_memory_bytes", report.estimated_memory},
      {"peak_memory_bytes", peak_memory()},
      {"model", arguments.output},
  };
  if (!report.lambda_per_target.empty()) json["lambda_per_target"] = report.lambda_per_target;
  if (report.passes > 0) {
    json["passes"] = report.passes;
    json["residual"] = report.residual;
  }
  json["notes"] = report.notes;
  json["warnings"] = report.warnings;
  if (model.task == Task::classification) json["classes"] = model.classes;
  for (const auto& point : report.path)
    json["lambda_path"].push_back({{"lambda", point.lambda}, {"cv_error", point.cv_error}});
  return json;
}

void print_summary(const FitArguments& arguments, const DataSummary& summary,
                   const FitResult& result) {
  const auto& [model, report] = result;
  const bool classification = model.task == Task::classification;
  const std::string task = classification
                               ? fmt::format("classification, {} classes", model.classes.size())
                               : fmt::format("regression, {} target{}", model.outputs(),
                                             model.outputs() == 1 ? "" : "s");
  fmt::print("{}  {} rows, {} columns{}\n", bold("data    "), with_commas(summary.rows),
             with_commas(summary.cols), summary.is_sparse ? ", sparse" : "");
  fmt::print("{}  {}{}\n", bold("task    "), task,
             summary.task_reason.empty() ? "" : " (" + summary.task_reason + ")");
  fmt::print("{}  {}: {}\n", bold("map     "), model.recipe.map,
             describe_options(model.recipe.options));
  fmt::print("{}  {}\n", bold("scale   "), kScaleNames[static_cast<int>(report.scale)]);
  fmt::print("{}  {} ({})\n", bold("solver  "), kSolverNames[static_cast<int>(report.solver)],
             report.solver_reason);
  for (const auto& note : report.notes) fmt::print("          {}\n", note);
  if (report.cv_error)
    fmt::print("{}  {:.3g}, chosen among {} by {} ({} {:.4g})\n", bold("lambda  "), report.lambda,
               report.path.size(), report.validation, report.metric, *report.cv_error);
  else
    fmt::print("{}  {:.3g}, as given\n", bold("lambda  "), report.lambda);
  const auto& s = report.seconds;
  fmt::print("{}  {} (reading {}, features {}, sums {}, solving {}), peak memory {}\n",
             bold("time    "), human_seconds(s.total), human_seconds(s.read),
             human_seconds(s.features), human_seconds(s.accumulate), human_seconds(s.solve),
             human_bytes(peak_memory()));
  fmt::print("{}  {}\n", bold("model   "), arguments.output);
}

void run_fit(const FitArguments& arguments, const Common& common) {
  const auto options = read_options<FitOptions>(arguments.fit_options, "kerf fit");
  const auto data_options = read_options<DataOptions>(arguments.data_options, "kerf fit");
  find_feature_map(arguments.map).complete(arguments.map_options);  // wrong options before any work
  AtomicFile::check_writable(arguments.output);
  const Progress progress = terminal_progress(common.quiet);
  Dataset data = open_dataset(arguments.data, data_options,
                              rng::Key{static_cast<std::uint64_t>(options.seed)}, progress);
  if (resolve_scale(options.scale, data.summary) == ScaleKind::standard)
    data.centre_large_columns();
  FitResult result = fit(*data.source, data.summary, arguments.map, arguments.map_options, options,
                         common.memory_limit(), progress);
  result.model.encoding = data.encoding;
  result.model.training.command = common.command_line;
  save_model(result.model, arguments.output);
  clear_progress();
  if (common.json)
    print_json(fit_json(arguments, data.summary, result));
  else if (!common.quiet)
    print_summary(arguments, data.summary, result);
  for (const auto& warning : result.report.warnings)
    fmt::print(stderr, "kerf: warning: {}\n", warning);
}

}  // namespace

void add_fit(CLI::App& app, Common& common, std::function<void()>& run) {
  const auto arguments = std::make_shared<FitArguments>();
  CLI::App* command = add_command(
      app, common, "fit", "train a model",
      "  kerf fit data.csv                                 all defaults, writes model.kerf\n"
      "  kerf fit data.csv --target price --task regression -o price.kerf\n"
      "  kerf fit train-images-idx3-ubyte.gz -o mnist.kerf --map rff --features 8192\n"
      "  kerf fit a9a.gz --map rff --kernel laplacian --lambda 1e-6 --json");
  command
      ->add_option(
          "DATA", arguments->data,
          "one or more files: CSV, TSV, LIBSVM, npy, idx; compressed too; - reads standard input")
      ->required();
  command->add_option("-o,--out", arguments->output, "where the model goes [model.kerf]")
      ->type_name("FILE");
  command
      ->add_option("--map", arguments->map,
                   "feature map, see `kerf maps` [" + std::string(kDefaultMap) + "]")
      ->type_name("NAME");
  add_described(*command, "Data", list_options<DataOptions>(), arguments->data_options);
  add_described(*command, "Training", list_options<FitOptions>(), arguments->fit_options);
  add_described(*command, "Options of maps", all_map_options(), arguments->map_options);
  command->callback([=, &common, &run] { run = [=, &common] { run_fit(*arguments, common); }; });
}

}  // namespace kerf::cli
