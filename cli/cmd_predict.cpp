// kerf predict: apply a model to rows, in order, as a stream.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>

#include "cli/prediction_output.h"

namespace kerf::cli {
namespace {

struct PredictArguments {
  std::string model;
  std::vector<std::string> data;
  std::string output;
  bool probability = false, variance = false;
  std::string level;               // as it was given
  std::optional<double> interval;  // the same as a number
  std::string id;                  // column that names rows
  bool names = false;
  Params data_options;
};

/// The columns of a and then those of b.
Matrix<double> beside(const Matrix<double>& a, const Matrix<double>& b) {
  Matrix<double> both(a.rows(), a.cols() + b.cols());
  for (Index i = 0; i < a.rows(); ++i) {
    std::ranges::copy(a.row(i), both.row(i).begin());
    std::ranges::copy(b.row(i), both.row(i).begin() + a.cols());
  }
  return both;
}

/// Lower and upper end for each target.
Matrix<double> ends_of(const Matrix<double>& values, const Matrix<double>& half) {
  Matrix<double> ends(values.rows(), 2 * values.cols());
  for (Index i = 0; i < values.rows(); ++i)
    for (Index t = 0; t < values.cols(); ++t) {
      ends(i, 2 * t) = values(i, t) - half(i, t);
      ends(i, 2 * t + 1) = values(i, t) + half(i, t);
    }
  return ends;
}

void check_interval(const PredictArguments& arguments, const Model& model, bool text) {
  if (!arguments.interval) return;
  const bool classes = model.task == Task::classification;
  interval_kind(model, classes);
  check_interval_level(model, *arguments.interval);
  if (arguments.probability)
    throw Error(ErrorKind::usage,
                "--interval writes sets of classes, --probability numbers: take one");
  for (const std::string& name : model.classes)
    if (classes && text && name.find(kBetweenClasses) != std::string::npos)
      throw Error(
          ErrorKind::usage,
          fmt::format("sets are written with {} between classes, but '{}' is the name of one: take "
                      "--json, or -o FILE.npy",
                      kBetweenClasses, printable(name)));
}

void check_arguments(const PredictArguments& arguments, const Model& model) {
  if (arguments.probability && model.task != Task::classification)
    throw Error(ErrorKind::usage, "this model predicts numbers: --probability is for classes");
  if (arguments.variance && !model.variance)
    throw Error(ErrorKind::usage,
                "this model was trained without variances: train it with fit --variance");
}

struct Predicted {
  Index rows = 0;
  Index far_rows = 0;  ///< with numbers far outside the range of training
};

/// The columns that are written of a block; how many of its rows are far out.
Index predict_block(const PredictArguments& arguments, const Model& model,
                    const Predictor& predictor, RowBlock& block, Matrix<double>& values) {
  Matrix<double> variance;
  const bool wants_variance = arguments.variance || (arguments.interval && model.variance);
  const Index far_rows =
      wants_variance ? predictor.scores(block, values, variance) : predictor.scores(block, values);
  if (arguments.interval && model.task == Task::classification) {
    const auto best = best_class(values);
    to_probabilities(model, values);
    values = class_sets(model, *arguments.interval, values, best);
  } else if (arguments.interval) {
    const Matrix<double> ends = ends_of(
        values,
        half_widths(model, interval_kind(model), *arguments.interval, values.rows(), variance));
    values = beside(arguments.variance ? beside(values, variance) : std::move(values), ends);
  } else if (arguments.variance) {
    values = beside(values, variance);
  }
  if (arguments.probability) to_probabilities(model, values);
  return far_rows;
}

/// The predictions of all rows, in order.
Predicted predict_all(const PredictArguments& arguments, const Model& model, EncodedSource& source,
                      PredictionOutput& output, Index memory_limit, const Progress& progress) {
  const Predictor predictor(model, memory_limit);
  const Progress step = expecting(progress, {{"predicting"}});
  RowBlock block;
  Matrix<double> values;
  Predicted done;
  while (source.next(block)) {
    check_interrupt();
    done.far_rows += predict_block(arguments, model, predictor, block, values);
    output.add(values, source.ids());
    done.rows += block.rows();
    report(step, "predicting", done.rows, rows_expected(source, done.rows));
  }
  output.finish();
  return done;
}

/// With the level as a number.
PredictArguments read_level(PredictArguments arguments) {
  if (arguments.level.empty()) return arguments;
  arguments.interval = parse_number(arguments.level);
  if (!arguments.interval)
    throw Error(ErrorKind::usage,
                fmt::format("--interval {}: the level is a share between 0 and 1, as in 0.9",
                            printable(arguments.level)));
  return arguments;
}

/// What a column is called: the target, and of several numbers for it what each is.
std::vector<std::string> column_names(const PredictArguments& arguments, const Model& model,
                                      const std::string& id_name) {
  const bool classes = model.task == Task::classification;
  std::vector<std::string> targets, columns;
  const auto& encoding = model.encoding;
  const Index count = classes ? 1 : model.outputs();
  for (Index t = 0; t < count; ++t) {
    const bool known = encoding && t < std::ssize(encoding->targets);
    std::string name = known ? encoding->columns[encoding->targets[t]].name : "";
    if (name.empty()) name = classes ? "class" : "prediction";
    if (count > 1 && name == "prediction") name += fmt::format("_{}", t + 1);
    targets.push_back(name == id_name ? "predicted_" + name : name);
  }
  if (arguments.probability) {
    for (const std::string& name : model.classes) columns.push_back(targets[0] + "=" + name);
    return columns;
  }
  columns = targets;
  if (arguments.variance)
    for (const std::string& name : targets) columns.push_back(name + "_variance");
  if (!arguments.interval || classes) return columns;
  for (const std::string& name : targets) {
    columns.push_back(name + "_lower");
    columns.push_back(name + "_upper");
  }
  return columns;
}

/// Probabilities are numbers, as the targets of a regression are.
Meaning meaning_of(const PredictArguments& arguments, const Model& model,
                   const EncodedSource& source) {
  const bool classes = model.task == Task::classification, sets = classes && arguments.interval;
  const bool has_ids = !arguments.id.empty();
  std::string id_name = source.id_name();
  if (id_name.empty()) id_name = "id";
  return {.model = model,
          .classes = classes && !arguments.probability && !sets,
          .sets = sets,
          .columns = column_names(arguments, model, has_ids ? id_name : ""),
          .titled = arguments.names,
          .has_ids = has_ids,
          .id_name = id_name};
}

void run_predict(const PredictArguments& given, const Common& common) {
  const PredictArguments arguments = read_level(given);
  const std::string path = arguments.output == "-" ? "" : arguments.output;
  check_prediction_file(path, arguments.names || !arguments.id.empty());
  Files().reads(arguments.model).reads(arguments.data).writes(path).check();
  const Model model = load_model(arguments.model);
  check_arguments(arguments, model);
  const bool as_array = path.ends_with(".npy"), as_json = path.empty() && common.json;
  check_interval(arguments, model, !as_array && !as_json);
  const auto data_options = read_data_options(arguments.data_options, "kerf predict", common);
  const auto source = open_for_model(arguments.data, file_encoding(model), data_options,
                                     io::Targets::ignore, "", arguments.id);
  const Meaning meaning = meaning_of(arguments, model, *source);
  Json predictions = Json::object();
  const auto output =
      as_json ? json_predictions(meaning, predictions) : open_predictions(meaning, path);
  const Predicted done =
      predict_all(arguments, model, *source, *output, common.memory_limit(),
                  terminal_progress(common.quiet || path.empty(), common.verbose));
  clear_progress();
  warn_of_far_rows(done.far_rows, done.rows);
  Json json = {{"rows", done.rows}};
  tell_unknown(*source, common, &json);
  if (!common.json) return;
  if (done.far_rows > 0) json["far_rows"] = done.far_rows;
  if (!path.empty()) {
    json["output"] = path;
    return print_json(json);
  }
  if (arguments.probability) json["classes"] = model.classes;
  if (arguments.interval) json["level"] = *arguments.interval;
  json.update(predictions);
  print_json(json);
}

}  // namespace

void add_predict(CLI::App& app, Common& common, std::function<void()>& run) {
  const auto arguments = std::make_shared<PredictArguments>();
  CLI::App* command = add_command(
      app, common, "predict", "apply a model to rows: a line per row, in order",
      "  kerf predict model.kerf new.csv                   predictions on standard output\n"
      "  kerf predict model.kerf new.csv -o predictions.npy\n"
      "  kerf predict model.kerf new.csv --json            one object: rows, predictions\n"
      "  kerf predict price.kerf new.csv --variance        after kerf fit --variance\n"
      "  kerf predict price.kerf new.csv --interval 0.9    after kerf fit --intervals conformal\n"
      "  kerf predict price.kerf new.csv --id customer --names -o prices.csv\n"
      "  zcat new.csv.gz | kerf predict model.kerf -       to the end, in blocks");
  add_option(*command, "MODEL", arguments->model, "a model that `kerf fit` wrote").required();
  add_option(*command, "DATA", arguments->data,
             "rows with or without the target; - reads standard input")
      .required();
  add_option(
      *command, "-o,--out", arguments->output,
      "file for the predictions: lines of text, or by its name csv, tsv or npy; - is standard "
      "output [-]")
      .type_name("FILE");
  add_flag(*command, "--probability", arguments->probability, "a column per class");
  add_flag(*command, "--variance", arguments->variance,
           "one more column for each target: the variance of the prediction");
  add_option(
      *command, "--interval", arguments->level,
      "two more columns for each target: lower and upper end of the interval that holds it with "
      "this probability, as in 0.9; of classes the set, with | between their names")
      .type_name("LEVEL");
  add_option(*command, "--id", arguments->id,
             "column of DATA, by name or number, that stands first in each line as it is written; "
             "the model need not know it")
      .type_name("COL");
  add_flag(*command, "--names", arguments->names, "a first line with the names of the columns");
  add_described(*command, "Data", only(list_options<DataOptions>(), kReadingOptions),
                arguments->data_options);
  when_asked(*command,
             [=, &common, &run] { run = [=, &common] { run_predict(*arguments, common); }; });
}

}  // namespace kerf::cli
