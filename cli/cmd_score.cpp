// kerf score: how well a model does on rows with known targets.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "cli/command.h"

namespace kerf::cli {
namespace {

struct ScoreArguments {
  std::string model;
  std::vector<std::string> data;
  Index worst = 5;
  std::string report;
  Params data_options;
};

/// True classes down, predicted classes across; left out where it would not fit a screen.
void print_confusion(const Model& model, const Score& score) {
  std::size_t width = 6;
  std::vector<std::string> names;
  for (const auto& name : model.classes) {
    names.push_back(printable(name));
    width = std::max(width, names.back().size() + 1);
  }
  for (Index i = 0; i < model.outputs(); ++i)
    for (const double count : score.confusion.row(i))
      width = std::max(width, fmt::format("{:.6g}", count).size() + 1);
  if (model.classes.size() * width > 100) return;
  fmt::print("{}\n{:>{}}", bold("true class down, predicted across"), "", width);
  for (const auto& name : names) fmt::print("{:>{}}", name, width);
  fmt::print("\n");
  for (Index i = 0; i < model.outputs(); ++i) {
    fmt::print("{:>{}}", names[i], width);
    for (const double count : score.confusion.row(i))
      fmt::print("{:>{}}", fmt::format("{:.6g}", count), width);
    fmt::print("\n");
  }
}

std::string value_text(const Model& model, const std::vector<double>& values) {
  if (model.task == Task::classification) return printable(model.classes[values[0]]);
  std::vector<std::string> numbers;
  for (const double value : values) numbers.push_back(fmt::format("{:.5g}", value));
  return fmt::format("{}", fmt::join(numbers, ", "));
}

void print_worst(const Model& model, const Score& score) {
  if (score.worst.empty()) return;
  const bool classes = model.task == Task::classification;
  fmt::print("{}\n",
             bold(classes ? "worst rows, counted from 0, by the probability given to the true class"
                          : "worst rows, counted from 0, by error: " + worst_error_words(score)));
  for (const WorstRow& row : score.worst)
    fmt::print("{:>10}  {}, predicted {}: {} {:.4g}\n", with_commas(row.row),
               value_text(model, row.target), value_text(model, row.predicted),
               classes ? "probability" : "error", classes ? 1 - row.error : row.error);
}

/// "name  value  (what it is; a constant has ...)".
void print_figure(std::string_view name, const std::string& value, const std::string& about) {
  fmt::print("{}  {}  ({})\n", bold(fmt::format("{:<17}", name)), value, about);
}

std::string percent(double share) { return fmt::format("{:.2f} %", 100 * share); }

void print_classes(const Model& model, const Score& score) {
  const bool weighted = score.weight != static_cast<double>(score.rows);
  const std::string rows =
      weighted
          ? fmt::format("of the weight of {} rows", with_commas(score.rows))
          : fmt::format("{} of {} rows",
                        with_commas(std::lround(score.accuracy * static_cast<double>(score.rows))),
                        with_commas(score.rows));
  print_figure(
      "accuracy", percent(score.accuracy),
      fmt::format("{}; the commonest class has {}", rows, percent(score.constant_accuracy)));
  print_figure("balanced accuracy", percent(score.balanced_accuracy),
               fmt::format("mean over the classes; one class for all has {}",
                           percent(score.constant_balanced_accuracy)));
  if (score.ranking) {
    print_figure("auc", fmt::format("{:.4f}", score.ranking->auc),
                 "chance that of a row of each class the right one is ahead; a constant has 0.5");
    print_figure("average precision", fmt::format("{:.4f}", score.ranking->average_precision),
                 fmt::format("of class '{}'; a constant has {:.4f}", printable(model.classes[1]),
                             score.ranking->share));
  } else if (score.classes.size() == 2) {
    fmt::print("{}  not known: all rows are of one class\n", bold("auc              "));
  }
  if (score.log_loss)
    print_figure("log loss", fmt::format("{:.4f}", *score.log_loss),
                 fmt::format("of the probabilities; the shares of the classes have {:.4f}",
                             score.constant_log_loss));
  if (score.calibration)
    print_figure("calibration", percent(score.calibration->error),
                 "mean distance of probability and accuracy");
}

void print_target(const TargetScore& one) {
  print_figure(
      "rmse", fmt::format("{:.4g}", one.rmse),
      fmt::format("root of the mean squared error; the mean has {:.4g}", one.constant_rmse));
  print_figure("mae", fmt::format("{:.4g}", one.mae),
               fmt::format("mean distance; the median has {:.4g}", one.constant_mae));
  print_figure(
      "median error", fmt::format("{:.4g}", one.median_error),
      fmt::format("half of the rows are closer; of the median {:.4g}", one.constant_median_error));
  if (one.constant_rmse > 0)
    print_figure("r2", fmt::format("{:.4g}", one.r2),
                 "share of the variance explained; the mean has 0");
  else
    fmt::print("{}  not known: all targets are equal\n", bold("r2               "));
}

void print_targets(const Model& model, const Score& score) {
  print_figure("rmse", fmt::format("{:.4g}", score.rmse), "over all targets");
  print_figure("r2", fmt::format("{:.4g}", score.r2), "mean over targets; the means have 0");
  const std::vector<std::string> names = target_names(model);
  const auto pair = [](double value, double constant) {
    return fmt::format("{:.4g} ({:.4g})", value, constant);
  };
  fmt::print("{}\n", bold(fmt::format("{:>22}{:>22}{:>22}{:>10}  target, (constant)", "rmse", "mae",
                                      "median error", "r2")));
  for (std::size_t t = 0; t < score.targets.size(); ++t) {
    const TargetScore& one = score.targets[t];
    fmt::print("{:>22}{:>22}{:>22}{:>10}  {}\n", pair(one.rmse, one.constant_rmse),
               pair(one.mae, one.constant_mae), pair(one.median_error, one.constant_median_error),
               one.constant_rmse > 0 ? fmt::format("{:.4g}", one.r2) : "-", printable(names[t]));
  }
}

/// What intervals hold beside what they promise.
void print_intervals(const Model& model, const Score& score) {
  const std::vector<std::string> names = target_names(model);
  const bool several = score.targets.size() > 1;
  bool first = true;
  for (std::size_t t = 0; t < score.targets.size(); ++t)
    for (const IntervalScore& one : score.targets[t].intervals) {
      if (std::exchange(first, false))
        fmt::print("{}\n", bold(fmt::format("{:>10}{:>10}{:>14}  intervals", "promised", "inside",
                                            "mean width")));
      fmt::print("{:>8.0f} %{:>8.1f} %{:>14.4g}  {}{}\n", 100 * one.promised, 100 * one.coverage,
                 one.width, one.kind, several ? ", " + printable(names[t]) : "");
    }
}

/// The same of sets of classes.
void print_sets(const Score& score) {
  if (score.sets.empty()) return;
  fmt::print("{}\n", bold(fmt::format("{:>10}{:>10}{:>11}{:>12}  sets of classes", "promised",
                                      "inside", "mean size", "one class")));
  for (const SetScore& one : score.sets)
    fmt::print("{:>8.0f} %{:>8.1f} %{:>11.2f}{:>10.1f} %\n", 100 * one.promised, 100 * one.coverage,
               one.size, 100 * one.single);
}

/// Precision and recall of each class; left out where it would fill more than a screen.
void print_by_class(const Model& model, const Score& score) {
  constexpr std::size_t kMostClasses = 30;
  if (score.classes.size() > kMostClasses) return;
  fmt::print("{}\n", bold(fmt::format("{:>10}{:>11}{:>9}{:>9}  class", "rows", "precision",
                                      "recall", "f1")));
  for (std::size_t c = 0; c < score.classes.size(); ++c) {
    const ClassScore& one = score.classes[c];
    double predicted = 0;
    for (Index i = 0; i < score.confusion.rows(); ++i)
      predicted += score.confusion(i, static_cast<Index>(c));
    const auto rate = [](double value, double rows) {
      return rows > 0 ? fmt::format("{:.4f}", value) : "-";  // of no rows there is none
    };
    fmt::print("{:>10}{:>11}{:>9}{:>9}  {}\n", fmt::format("{:.6g}", one.weight),
               rate(one.precision, predicted), rate(one.recall, one.weight),
               rate(one.f1, one.weight + predicted), printable(model.classes[c]));
  }
}

}  // namespace

Json score_json(const Model& model, const Score& score) {
  return Json::parse(to_json(model, score));
}

void print_score(const Model& model, const Score& score, bool by_class) {
  if (score.task == Task::classification) {
    print_classes(model, score);
    print_sets(score);
    if (by_class) print_by_class(model, score);
    return;
  }
  if (score.targets.size() == 1)
    print_target(score.targets[0]);
  else
    print_targets(model, score);
  print_intervals(model, score);
}

namespace {

/// The options of data that make sense with a model, and what is special about them then.
std::vector<OptionInfo> score_options() {
  std::vector<std::string> names = {"target", "labels", "missing", "weights"};
  names.insert(names.end(), kReadingOptions.begin(), kReadingOptions.end());
  auto options = only(list_options<DataOptions>(), names);
  options[0].help =
      "target: last, first, a column name or number, where it is not the one of the fit";
  options[0].default_value.clear();
  options[2].help = "missing cells: error, drop the row, or mean of the training rows [as fitted]";
  options[2].default_value.clear();
  options[3].help = "column with the weight that each row counts with [every row counts once]";
  return options;
}

/// The columns of the model, with what --missing says about these rows.
Encoding encoding_for(const Model& model, const ScoreArguments& arguments,
                      const DataOptions& options) {
  Encoding encoding = file_encoding(model);
  if (!arguments.data_options.contains("missing")) return encoding;
  if (options.missing == Missing::mean && encoding.missing == Missing::error)
    throw Error(ErrorKind::usage,
                "--missing mean: the model keeps no means of its columns; fit it with --missing "
                "mean, or leave such rows out with --missing drop");
  if (options.missing == Missing::indicator && encoding.missing != Missing::indicator)
    throw Error(
        ErrorKind::usage,
        "--missing indicator: the model has no such inputs; fit it with --missing indicator, "
        "or leave such rows out with --missing drop");
  encoding.missing = options.missing;
  return encoding;
}

/// The page shows ten of the worst rows, whatever is printed of them; reads the rows once more.
void write_report(const ScoreArguments& arguments, const Common& common, const Model& model,
                  RowSource& source, Score& score) {
  if (arguments.report.empty()) return;
  TestView view =
      look_at_test(model, source, std::move(score),
                   fmt::format("{}", fmt::join(arguments.data, ", ")), common.memory_limit());
  write_text(arguments.report, score_report(model, view, common.command_line));
  score = std::move(view.score);
  if (std::ssize(score.worst) > arguments.worst) score.worst.resize(arguments.worst);
}

void check_report(const ScoreArguments& arguments) {
  if (!arguments.report.empty() && arguments.data == std::vector<std::string>{"-"})
    throw Error(ErrorKind::usage, "--report reads the rows twice: - cannot");
  Files()
      .reads(arguments.model)
      .reads(arguments.data)
      .reads(arguments.data_options)
      .writes(arguments.report)
      .check();
}

void run_score(const ScoreArguments& arguments, const Common& common) {
  check_report(arguments);
  const Model model = load_model(arguments.model);
  const auto data_options = read_data_options(arguments.data_options, "kerf score", common);
  Params given = arguments.data_options;
  const auto source =
      open_for_model(arguments.data, encoding_for(model, arguments, data_options), data_options,
                     io::Targets::require, take_option(given, "target", ""));
  // The weights of a fit are not those of a score unless they are asked for.
  const bool weighted = !data_options.weights.empty();
  const Index worst =
      arguments.report.empty() ? arguments.worst : std::max(arguments.worst, kWorstInReport);
  Score score = evaluate(
      model, *source, {.memory_limit = common.memory_limit(), .worst = worst, .weighted = weighted},
      terminal_progress(common.quiet, common.verbose));
  clear_progress();
  warn_of_far_rows(score.far_rows, score.rows);
  const Index dropped = source->counts().dropped_rows;
  write_report(arguments, common, model, *source, score);
  if (common.json) {
    Json json = score_json(model, score);
    if (weighted) json["weight"] = score.weight;
    if (dropped > 0) json["dropped_rows"] = dropped;
    if (score.far_rows > 0) json["far_rows"] = score.far_rows;
    tell_unknown(*source, common, &json);
    return print_json(json);
  }
  tell_unknown(*source, common, nullptr);
  print_score(model, score, !common.quiet);
  if (common.quiet) return;
  if (dropped > 0)
    fmt::print("{}  {}, for a missing cell\n", bold("rows left out"), with_commas(dropped));
  if (score.task == Task::classification) print_confusion(model, score);
  print_worst(model, score);
  if (!arguments.report.empty()) fmt::print("{}  {}\n", bold("report"), arguments.report);
}

}  // namespace

void add_score(CLI::App& app, Common& common, std::function<void()>& run) {
  const auto arguments = std::make_shared<ScoreArguments>();
  CLI::App* command = add_command(
      app, common, "score", "measure a model on rows with known targets",
      "  kerf score model.kerf test.csv\n"
      "  kerf score model.kerf test.csv --target 0         where the target is elsewhere\n"
      "  kerf score model.kerf test.csv --report score.html   a page to look at\n"
      "  kerf score mnist.kerf t10k-images-idx3-ubyte.gz --json");
  add_option(*command, "MODEL", arguments->model, "a model that `kerf fit` wrote").required();
  add_option(*command, "DATA", arguments->data, "rows with the target").required();
  add_option(*command, "--worst", arguments->worst, "how many of the worst rows to show [5]")
      .type_name("N")
      .range(0, 1000000);
  add_option(*command, "--report", arguments->report, "an HTML page about the score").output_file();
  add_described(*command, "Data", score_options(), arguments->data_options);
  when_asked(*command,
             [=, &common, &run] { run = [=, &common] { run_score(*arguments, common); }; });
}

}  // namespace kerf::cli
