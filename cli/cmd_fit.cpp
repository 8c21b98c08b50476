// kerf fit: train a model on files.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/command.h"

namespace kerf::cli {
namespace {

struct FitArguments {
  std::vector<std::string> data;
  std::string output = "model.kerf", report;
  FitTask task;
  Params data_options;
};

/// The map's options as a person would write them: "4,096 features, kernel gaussian, ...".
std::string describe_options(const Model& model) {
  const bool exact = model.rows.has_value();
  const auto infos = exact ? find_kernel(exact_kernel_name(model.recipe.options)).options()
                           : find_feature_map(model.recipe.map).options();
  const Params options = without_idle(infos, model.recipe.options);
  std::string text =
      exact ? fmt::format("{} training rows", with_commas(model.rows->x().rows()))
            : fmt::format("{} features", with_commas(std::stoll(options.at("features"))));
  for (const auto& [name, value] : options) {
    if (name == "features" || value.empty()) continue;
    const auto number = parse_number(value);
    // A skeleton written out as a DAG: `kerf info` has all of it.
    const bool is_long = value.size() > 120;
    text += fmt::format(", {} {}", name,
                        number    ? fmt::format("{:.4g}", *number)
                        : is_long ? fmt::format("of {} characters", with_commas(std::ssize(value)))
                                  : value);
  }
  return text;
}

/// "28x28x1 to 24x24x1: crop, per image, ZCA".
std::string describe_images(const ImageSteps& steps) {
  const auto shape = [](ImageShape s) {
    return fmt::format("{}x{}x{}", s.height, s.width, s.channels);
  };
  std::vector<std::string> done;
  if (steps.height > 0) done.emplace_back("crop");
  if (steps.per_image) done.emplace_back("per-image standard");
  if (steps.whitening.present()) done.emplace_back("ZCA");
  if (steps.patch_basis.present()) done.emplace_back("patch PCA");
  return fmt::format("{} to {}: {}", shape(steps.input), shape(steps.output()),
                     fmt::join(done, ", "));
}

Json choice_json(const MapChoice& choice) {
  Json rounds = Json::array(), tried = Json::array();
  for (const auto& round : choice.rounds)
    rounds.push_back(
        {{"rows", round.rows}, {"features", round.features > 0 ? Json(round.features) : Json()}});
  for (const auto& trial : choice.trials)
    tried.push_back({{"candidate", trial.candidate.label},
                     {"map", trial.candidate.map},
                     {"options", options_json(trial.candidate.options)},
                     {"errors", trial.errors}});
  return {
      {"why", choice.reason}, {"seconds", choice.seconds}, {"rounds", rounds}, {"tried", tried}};
}

Json growth_json(const FitReport& report) {
  Json steps = Json::array();
  for (const auto& step : report.growth)
    steps.push_back(
        {{"features", step.features}, {"cv_error", step.cv_error}, {"seconds", step.seconds}});
  return {{"why", report.growth_reason}, {"tried", steps}};
}

Json fit_json(const FitArguments& arguments, const Dataset& data, const DataSummary& summary,
              const FitResult& result) {
  const auto& [model, report] = result;
  const auto& seconds = report.seconds;
  Json where = Json::object();
  for (const auto& part : seconds.parts()) where[part.name] = part.seconds;
  where["total"] = seconds.total;
  Json json = {
      {"task", name_of(model.task)},
      {"rows", summary.rows},
      {"columns", summary.cols},
      {"map", model.recipe.map},
      {"features", model.linear.weights.rows()},
      {"options", options_json(model.recipe.options)},
      {"scale", name_of(report.scale)},
      {"solver", report.solver},
      {"solver_reason", report.solver_reason},
      {"lambda", report.lambda},
      {"cv_error", report.cv_error ? Json(*report.cv_error) : Json()},
      {"validation", report.cv_error ? Json(report.validation) : Json()},
      {"cv_metric",
       report.validation.empty() ? report.metric : report.metric + ", " + report.validation},
      {"quality", quality_json(report.quality)},
      {"seconds", where},
      {"expected_seconds", report.expected_seconds > 0 ? Json(report.expected_seconds) : Json()},
      {"estimated_memory_bytes", report.estimated_memory},
      {"peak_memory_bytes", peak_memory()},
      {"model", arguments.output},
  };
  if (model.conformal) json["calibration_rows"] = model.conformal->rows();
  if (!report.lambda_per_target.empty()) json["lambda_per_target"] = report.lambda_per_target;
  if (report.passes > 0) {
    json["passes"] = report.passes;
    json["residual"] = report.residual;
  }
  json["notes"] = data.notes;
  if (!report.memory_note.empty()) json["notes"].push_back(report.memory_note);
  if (!data.header_note.empty()) json["notes"].push_back(data.header_note);
  for (const auto& note : report.notes) json["notes"].push_back(note);
  json["warnings"] = report.warnings;
  if (model.task == Task::classification) json["classes"] = model.classes;
  if (report.map_choice) json["choice"] = choice_json(*report.map_choice);
  if (!report.growth.empty()) json["growth"] = growth_json(report);
  for (const auto& point : report.path)
    json["lambda_path"].push_back({{"lambda", point.lambda}, {"cv_error", point.cv_error}});
  return json;
}

/// "1e-05, the best of 9 tried, by 5-fold cross-validation".
std::string lambda_words(const FitReport& report, bool given) {
  if (!report.path.empty())
    return fmt::format("{:.3g}, the best of {} tried, by {}", report.lambda, report.path.size(),
                       report.validation);
  if (given) return fmt::format("{:.3g}, as given", report.lambda);
  return report.lambda == 0 ? "none: the fit stops early instead of being penalised"
                            : fmt::format("{:.3g}", report.lambda);
}

/// "2.31 s (reading 0.40 s, features 1.20 s, solving 0.71 s)": all that took a hundredth of it.
std::string time_words(const FitReport::Seconds& seconds) {
  std::string parts;
  for (const auto& part : seconds.parts())
    if (part.seconds >= 0.01 * seconds.total)
      parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", part.words,
                           human_seconds(part.seconds));
  return fmt::format("{} ({})", human_seconds(seconds.total), parts);
}

void print_path(const FitReport& report) {
  for (const auto& point : report.path)
    fmt::print("          {:>8.2e}: {:.5g}{}\n", point.lambda, point.cv_error,
               point.lambda == report.lambda ? " *" : "");
}

void print_summary(const FitArguments& arguments, const Common& common, const Dataset& data,
                   const DataSummary& summary, const FitResult& result) {
  const auto& [model, report] = result;
  const bool classification = model.task == Task::classification;
  const std::string task = classification
                               ? fmt::format("classification, {} classes", model.classes.size())
                               : fmt::format("regression, {} target{}", model.outputs(),
                                             model.outputs() == 1 ? "" : "s");
  if (!report.memory_note.empty()) fmt::print("{}  {}\n", bold("memory  "), report.memory_note);
  fmt::print("{}  {} rows, {} columns{}\n", bold("data    "), with_commas(summary.rows),
             with_commas(summary.cols), summary.is_sparse ? ", sparse" : "");
  if (!data.header_note.empty()) fmt::print("          {}\n", printable(data.header_note));
  for (const auto& note : data.notes) fmt::print("          {}\n", printable(note));
  fmt::print("{}  {}{}\n", bold("task    "), task,
             summary.task_reason.empty() ? "" : " (" + printable(summary.task_reason) + ")");
  fmt::print("{}  {}: {}\n", bold("map     "), model.recipe.map,
             printable(describe_options(model)));
  if (report.map_choice)
    fmt::print("{}  {} ({})\n", bold("chosen  "), report.map_choice->reason,
               human_seconds(report.map_choice->seconds));
  if (!report.growth.empty()) {
    std::string steps;
    for (const auto& step : report.growth)
      steps += fmt::format("{}{}: {:.4g}", steps.empty() ? "" : ", ", step.features, step.cv_error);
    fmt::print("{}  {} ({})\n", bold("features"), steps, report.growth_reason);
  }
  if (model.images.present())
    fmt::print("{}  {}\n", bold("images  "), describe_images(model.images));
  fmt::print("{}  {}\n", bold("scale   "), name_of(report.scale));
  fmt::print("{}  {} ({})\n", bold("solver  "), report.solver, report.solver_reason);
  for (const auto& note : report.notes) fmt::print("          {}\n", printable(note));
  if (report.quality)
    fmt::print("{}  {}\n", bold("quality "), printable(describe(*report.quality)));
  fmt::print("{}  {}\n", bold("lambda  "),
             lambda_words(report, arguments.task.fit_options.contains("lambda")));
  if (common.verbose) print_path(report);
  fmt::print("{}  {}, peak memory {}\n", bold("time    "), time_words(report.seconds),
             human_bytes(peak_memory()));
  fmt::print("{}  {}\n", bold("model   "), arguments.output);
}

/// Scores the model on `source`, which is --test or what --holdout kept back; what a report shows of
/// that.
TestView test_model(const FitArguments& arguments, const Common& common, const Model& model,
                    RowSource& source, Json* json) {
  const bool held_out = arguments.task.holdout > 0;
  const Index worst = arguments.report.empty() ? 0 : kWorstInReport;
  double seconds = 0;
  std::optional<Stopwatch> watch(seconds);
  Score score = evaluate(model, source, common.memory_limit(),
                         terminal_progress(common.quiet, common.verbose), worst);
  clear_progress();
  watch.reset();
  warn_of_far_rows(score.far_rows, score.rows);
  Json* scored = json != nullptr ? &(*json)[held_out ? "holdout" : "test"] : nullptr;
  if (scored != nullptr) {
    *scored = score_json(model, score);
    if (score.far_rows > 0) (*scored)["far_rows"] = score.far_rows;
  } else if (!common.quiet) {
    print_score(model, score, true);
    fmt::print("{}  {} to score {} rows\n", bold("time    "), human_seconds(seconds),
               with_commas(score.rows));
  }
  if (const auto* file = dynamic_cast<const EncodedSource*>(&source))
    tell_unknown(*file, common, scored);
  if (arguments.report.empty()) return {};
  return look_at_test(
      model, source, std::move(score),
      held_out ? fmt::format("{:.0f} % of the rows, held out", 100 * arguments.task.holdout)
               : fmt::format("{}", fmt::join(arguments.task.test, ", ")),
      common.memory_limit());
}

std::string checkpoint_of(const FitArguments& arguments) {
  const auto folder = arguments.task.fit_options.find("checkpoint");
  return folder == arguments.task.fit_options.end() ? "" : folder->second;
}

/// What is wrong with the command is said before any work.
void check_arguments(const FitArguments& arguments) {
  check_task(arguments.task);
  // Options that were given and could not matter would be passed over in silence.
  const std::string idle = idle_option(arguments.task.map, arguments.task.map_options);
  if (!idle.empty()) throw Error(ErrorKind::usage, idle);
  if (!arguments.report.empty() && arguments.task.test == std::vector<std::string>{"-"})
    throw Error(ErrorKind::usage, "--report reads the test rows twice: --test - cannot");
  Files()
      .reads(arguments.data)
      .reads(arguments.task.test)
      .reads(arguments.task.test_labels)
      .reads(arguments.data_options)
      .reads(arguments.task.map_options)
      .writes(arguments.output)
      .writes(arguments.report)
      .keeps(checkpoint_of(arguments))
      .check();
}

/// Summary or JSON, warnings, the score on the test rows and the report.
void tell(const FitArguments& arguments, const Common& common, const Dataset& data,
          const Fitted& fitted) {
  const FitResult& result = fitted.result;
  const DataSummary& summary = fitted.summary();
  RowSource* const test_rows = fitted.test_rows();
  clear_progress();
  Json json;
  if (common.json)
    json = fit_json(arguments, data, summary, result);
  else if (!common.quiet)
    print_summary(arguments, common, data, summary, result);
  for (const auto& warning : result.report.warnings) print_warning(warning);
  TestView test;
  if (test_rows != nullptr)
    test = test_model(arguments, common, result.model, *test_rows, common.json ? &json : nullptr);
  if (!arguments.report.empty()) {
    write_text(arguments.report,
               fit_report(result, summary, test_rows != nullptr ? &test : nullptr));
    if (!common.json && !common.quiet) fmt::print("{}  {}\n", bold("report  "), arguments.report);
  }
  if (common.json) print_json(json);
}

void run_fit(const FitArguments& arguments, const Common& common) {
  FitTask task = arguments.task;
  task.command = common.command_line;
  check_arguments(arguments);
  if (const std::string folder = checkpoint_of(arguments); !folder.empty())
    set_interrupt_message(
        fmt::format("no model was written; the same command goes on from {}", folder));
  const Context context{common.memory_limit(), terminal_progress(common.quiet, common.verbose)};
  const auto data_options = read_data_options(arguments.data_options, "kerf fit", common);
  Dataset data = open_dataset(arguments.data, data_options, task_key(task), context.progress);
  const Fitted fitted = fit_dataset(data, task, context);
  save_model(fitted.result.model, arguments.output);
  set_interrupt_message(fmt::format("the model was written to {}", arguments.output));
  tell(arguments, common, data, fitted);
}

}  // namespace

void add_fit(CLI::App& app, Common& common, std::function<void()>& run) {
  const auto arguments = std::make_shared<FitArguments>();
  CLI::App* command = add_command(
      app, common, "fit", "train a model",
      "  kerf fit data.csv                                 all defaults, writes model.kerf\n"
      "  kerf fit data.csv --target price --task regression -o price.kerf\n"
      "  kerf fit train-images-idx3-ubyte.gz -o mnist.kerf --map rff --features 8192\n"
      "  kerf fit a9a.gz --map rff --kernel laplacian --lambda 1e-6 --json\n"
      "  kerf fit data_batch_*.bin.xz --per-image --zca 0.1 --flip   images, whitened\n"
      "  kerf fit data.csv --holdout 0.2 --features auto    as many features as pay\n"
      "  kerf fit data.csv --test test.csv --report fit.html   a page to look at\n"
      "  kerf fit data.csv --intervals conformal            then: kerf predict ... --interval 0.9\n"
      "  kerf fit data.csv --map exact --kernel ntk --depth 3 --test test.csv");
  add_option(
      *command, "DATA", arguments->data,
      "one or more files: CSV, TSV, LIBSVM, npy, idx; compressed too; of a folder every file "
      "is read; - reads standard input")
      .required();
  add_option(*command, "-o,--out", arguments->output, "where the model goes [model.kerf]")
      .output_file();
  add_option(*command, "--map", arguments->task.map,
             "feature map, see `kerf maps`; auto: chosen for the data; exact: no features, the "
             "kernel itself [" +
                 std::string(kDefaultMap) + "]")
      .type_name("NAME");
  add_option(*command, "--test", arguments->task.test, "rows with targets to score the model on")
      .type_name("FILE")
      .expected(1, 1000);
  add_option(*command, "--test-labels", arguments->task.test_labels,
             "file with one label for each row of --test")
      .type_name("FILE");
  add_option(*command, "--holdout", arguments->task.holdout,
             "part of the rows, as in 0.2, kept out of training and scored")
      .type_name("PART");
  add_option(*command, "--report", arguments->report, "an HTML page about the fit").output_file();
  add_described(*command, "Data", list_options<DataOptions>(), arguments->data_options);
  add_described(*command, "Images", list_options<ImageOptions>(), arguments->task.image_options);
  add_described(*command, "Images", list_options<AugmentOptions>(),
                arguments->task.augment_options);
  add_described(*command, "Training", list_options<FitOptions>(), arguments->task.fit_options);
  add_described(*command, kMapOptions, all_map_options(), arguments->task.map_options);
  when_asked(*command, [=, &common, &run] { run = [=, &common] { run_fit(*arguments, common); }; });
}

}  // namespace kerf::cli
