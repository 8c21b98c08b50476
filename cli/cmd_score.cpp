// kerf score: how well a model does on rows with known targets.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "cli/command.h"

namespace kerf::cli {
namespace {

struct ScoreArguments {
  std::string model;
  std::vector<std::string> data;
  Index worst = 5;
  Params data_options;
};

/// A class by its name, a number as it is, several as a list.
Json value_json(const Model& model, const std::vector<double>& values) {
  if (model.task == Task::classification) return model.classes[values[0]];
  return values.size() == 1 ? Json(values[0]) : Json(values);
}

Json worst_json(const Model& model, const Score& score) {
  Json rows = Json::array();
  for (const WorstRow& row : score.worst)
    rows.push_back({{"row", row.row},
                    {"target", value_json(model, row.target)},
                    {"predicted", value_json(model, row.predicted)},
                    {"error", row.error}});
  return rows;
}

}  // namespace

namespace {

/// A sum of weights; of rows that count once a whole number.
Json count_json(double count) {
  return count == std::floor(count) && count < 9e15 ? Json(static_cast<Index>(count)) : Json(count);
}

}  // namespace

Json score_json(const Model& model, const Score& score) {
  if (score.task == Task::regression)
    return {{"rows", score.rows},
            {"mse", score.mse},
            {"rmse", score.rmse},
            {"r2", score.r2},
            {"relative_rmse", score.relative_rmse},
            {"coverage90", score.coverage ? Json(*score.coverage) : Json()},
            {"worst", worst_json(model, score)}};
  Json confusion = Json::array();
  for (Index i = 0; i < model.outputs(); ++i) {
    Json row = Json::array();
    for (const double count : score.confusion.row(i)) row.push_back(count_json(count));
    confusion.push_back(row);
  }
  return {{"rows", score.rows},
          {"accuracy", score.accuracy},
          {"log_loss", score.log_loss ? Json(*score.log_loss) : Json()},
          {"classes", model.classes},
          {"confusion", confusion},
          {"worst", worst_json(model, score)}};
}

namespace {

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
  fmt::print("{}\n", bold("worst rows (counted from 0)"));
  for (const WorstRow& row : score.worst)
    fmt::print("{:>10}  {}, predicted {}\n", with_commas(row.row), value_text(model, row.target),
               value_text(model, row.predicted));
}

}  // namespace

void print_score(const Score& score) {
  const bool weighted = score.weight != static_cast<double>(score.rows);
  if (score.task == Task::classification)
    return fmt::print(
        "{}  {:.2f} %  ({})\n", bold("accuracy"), 100 * score.accuracy,
        weighted ? fmt::format("of the weight of {} rows", with_commas(score.rows))
                 : fmt::format(
                       "{} of {} rows",
                       with_commas(std::lround(score.accuracy * static_cast<double>(score.rows))),
                       with_commas(score.rows)));
  fmt::print("{}  {:.4g}  (root of the mean squared error)\n", bold("rmse         "), score.rmse);
  fmt::print("{}  {:.4g}  (share of the variance explained)\n", bold("r2           "), score.r2);
  fmt::print("{}  {:.4g}  (error relative to the targets)\n", bold("relative rmse"),
             score.relative_rmse);
  if (score.coverage)
    fmt::print("{}  {:.1f} %  (targets inside their 90 % interval)\n", bold("coverage     "),
               100 * *score.coverage);
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
  encoding.missing = options.missing;
  return encoding;
}

void run_score(const ScoreArguments& arguments, const Common& common) {
  const Model model = load_model(arguments.model);
  const auto data_options = read_data_options(arguments.data_options, "kerf score", common);
  Params given = arguments.data_options;
  const auto source =
      open_for_model(arguments.data, encoding_for(model, arguments, data_options), data_options,
                     io::Targets::require, take_option(given, "target", ""));
  // The weights of a fit are not those of a score unless they are asked for.
  const bool weighted = !data_options.weights.empty();
  const Score score = evaluate(
      model, *source,
      {.memory_limit = common.memory_limit(), .worst = arguments.worst, .weighted = weighted},
      terminal_progress(common.quiet));
  clear_progress();
  warn_of_far_rows(score.far_rows, score.rows, common);
  const Index dropped = source->counts().dropped_rows;
  if (common.json) {
    Json json = score_json(model, score);
    if (weighted) json["weight"] = score.weight;
    if (dropped > 0) json["dropped_rows"] = dropped;
    if (score.far_rows > 0) json["far_rows"] = score.far_rows;
    tell_unknown(*source, common, &json);
    return print_json(json);
  }
  tell_unknown(*source, common, nullptr);
  print_score(score);
  if (common.quiet) return;
  if (dropped > 0)
    fmt::print("{}  {}, for a missing cell\n", bold("rows left out"), with_commas(dropped));
  if (score.task == Task::classification) print_confusion(model, score);
  print_worst(model, score);
}

}  // namespace

void add_score(CLI::App& app, Common& common, std::function<void()>& run) {
  const auto arguments = std::make_shared<ScoreArguments>();
  CLI::App* command = add_command(
      app, common, "score", "measure a model on rows with known targets",
      "  kerf score model.kerf test.csv\n"
      "  kerf score model.kerf test.csv --target 0         where the target is elsewhere\n"
      "  kerf score mnist.kerf t10k-images-idx3-ubyte.gz --json");
  add_option(*command, "MODEL", arguments->model, "a model that `kerf fit` wrote").required();
  add_option(*command, "DATA", arguments->data, "rows with the target").required();
  add_option(*command, "--worst", arguments->worst, "how many of the worst rows to show [5]")
      .type_name("N")
      .range(0, 1000000);
  add_described(*command, "Data", score_options(), arguments->data_options);
  when_asked(*command,
             [=, &common, &run] { run = [=, &common] { run_score(*arguments, common); }; });
}

}  // namespace kerf::cli
