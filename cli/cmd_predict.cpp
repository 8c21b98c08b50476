// kerf predict: apply a model to rows, in order, as a stream.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <optional>

#include "cli/command.h"

namespace kerf::cli {
namespace {

struct PredictArguments {
  std::string model;
  std::vector<std::string> data;
  std::string output;
  bool probability = false, variance = false;
  std::string level;               // as it was given
  std::optional<double> interval;  // the same as a number
  Params data_options;
};

/// Stands between the names of a set in text.
constexpr std::string_view kBetweenClasses = "|";

/// Where predictions go, block by block.
class Output {
 public:
  virtual ~Output() = default;
  virtual void add(const Matrix<double>& values) = 0;
  virtual void finish() {}
};

/// What stands in the columns of a prediction.
struct Meaning {
  const Model& model;
  bool classes;  ///< scores of classes, of which the best is meant; else the numbers themselves
  bool sets = false;  ///< or 1 for each class that belongs to the row's set, else 0
  const std::string& name_of(Index number) const { return model.classes[number]; }
  std::vector<std::string> set_of(std::span<const double> members) const {
    std::vector<std::string> names;
    for (std::size_t c = 0; c < members.size(); ++c)
      if (members[c] != 0) names.push_back(model.classes[c]);
    return names;
  }
};

/// A line per row: on standard output, or in a file that appears when whole.  Names of classes as they
/// are, for programs to read; on a terminal as a person may see them.
class TextOutput final : public Output {
 public:
  TextOutput(const Meaning& meaning, const std::string& path)
      : meaning_(meaning), seen_(path.empty() && ::isatty(STDOUT_FILENO) != 0) {
    if (!path.empty()) file_ = std::make_unique<AtomicFile>(path);
  }
  void add(const Matrix<double>& values) override {
    const std::string text = to_lines(values);
    if (file_) return file_->write(text.data(), text.size());
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) fail_output();
  }
  void finish() override {
    if (file_) file_->commit();
  }

 private:
  std::string to_lines(const Matrix<double>& values) const {
    fmt::memory_buffer lines;
    const auto out = std::back_inserter(lines);
    if (meaning_.classes) {
      for (const Index best : best_class(values))
        fmt::format_to(out, "{}\n",
                       seen_ ? printable(meaning_.name_of(best)) : meaning_.name_of(best));
    } else if (meaning_.sets) {
      for (Index i = 0; i < values.rows(); ++i) {
        const std::string set =
            fmt::format("{}", fmt::join(meaning_.set_of(values.row(i)), kBetweenClasses));
        fmt::format_to(out, "{}\n", seen_ ? printable(set) : set);
      }
    } else {
      for (Index i = 0; i < values.rows(); ++i)
        fmt::format_to(out, "{}\n", fmt::join(values.row(i), ","));
    }
    return fmt::to_string(lines);
  }

  Meaning meaning_;
  bool seen_;
  std::unique_ptr<AtomicFile> file_;
};

/// npy, with predicted classes as a column of numbers: it has no text.
class ArrayOutput final : public Output {
 public:
  ArrayOutput(bool classes, const std::string& path, Index columns)
      : classes_(classes), writer_(path, classes ? 1 : columns, NpyWriter::Type::float64) {}
  void add(const Matrix<double>& values) override {
    if (!classes_) return writer_.append(values.view());
    Matrix<double> column(values.rows(), 1);
    std::ranges::copy(best_class(values), column.data());
    writer_.append(column.view());
  }
  void finish() override { writer_.commit(); }

 private:
  bool classes_;
  NpyWriter writer_;
};

/// One object on standard output must be whole: a list that is printed at the end.
class JsonOutput final : public Output {
 public:
  JsonOutput(const Meaning& meaning, Json& list) : meaning_(meaning), list_(list) {}
  void add(const Matrix<double>& values) override {
    if (meaning_.classes) {
      for (const Index best : best_class(values)) list_.push_back(meaning_.name_of(best));
      return;
    }
    for (Index i = 0; i < values.rows(); ++i) {
      const auto row = values.row(i);
      if (meaning_.sets)
        list_.push_back(meaning_.set_of(row));
      else if (row.size() == 1)
        list_.push_back(row[0]);
      else
        list_.push_back(std::vector<double>(row.begin(), row.end()));
    }
  }

 private:
  Meaning meaning_;
  Json& list_;
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
                      Output& output, Index memory_limit, const Progress& progress) {
  const Predictor predictor(model, memory_limit);
  const Progress step = expecting(progress, {{"predicting"}});
  RowBlock block;
  Matrix<double> values;
  Predicted done;
  while (source.next(block)) {
    check_interrupt();
    done.far_rows += predict_block(arguments, model, predictor, block, values);
    output.add(values);
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

void run_predict(const PredictArguments& given, const Common& common) {
  const PredictArguments arguments = read_level(given);
  const std::string path = arguments.output == "-" ? "" : arguments.output;
  Files().reads(arguments.model).reads(arguments.data).writes(path).check();
  const Model model = load_model(arguments.model);
  check_arguments(arguments, model);
  const bool as_array = path.ends_with(".npy"), as_json = path.empty() && common.json;
  check_interval(arguments, model, !as_array && !as_json);
  const auto data_options = read_data_options(arguments.data_options, "kerf predict", common);
  const auto source =
      open_for_model(arguments.data, file_encoding(model), data_options, io::Targets::ignore);
  // Probabilities are numbers, as the targets of a regression are.
  const bool classes = model.task == Task::classification, sets = classes && arguments.interval;
  const Meaning meaning{model, classes && !arguments.probability && !sets, sets};
  Json predictions = Json::array();
  std::unique_ptr<Output> output;
  if (as_array)
    output =
        std::make_unique<ArrayOutput>(meaning.classes, path,
                                      model.outputs() * (1 + (arguments.variance ? 1 : 0) +
                                                         (arguments.interval && !classes ? 2 : 0)));
  else if (as_json)
    output = std::make_unique<JsonOutput>(meaning, predictions);
  else
    output = std::make_unique<TextOutput>(meaning, path);
  const Predicted done =
      predict_all(arguments, model, *source, *output, common.memory_limit(),
                  terminal_progress(common.quiet || path.empty(), common.verbose));
  clear_progress();
  warn_of_far_rows(done.far_rows, done.rows, common);
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
  json["predictions"] = std::move(predictions);
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
      "  zcat new.csv.gz | kerf predict model.kerf -       to the end, in blocks");
  add_option(*command, "MODEL", arguments->model, "a model that `kerf fit` wrote").required();
  add_option(*command, "DATA", arguments->data,
             "rows with or without the target; - reads standard input")
      .required();
  add_option(*command, "-o,--out", arguments->output,
             "file for the predictions: text, or npy by its name; - is standard output [-]")
      .type_name("FILE");
  add_flag(*command, "--probability", arguments->probability, "a column per class");
  add_flag(*command, "--variance", arguments->variance,
           "one more column for each target: the variance of the prediction");
  add_option(
      *command, "--interval", arguments->level,
      "two more columns for each target: lower and upper end of the interval that holds it with "
      "this probability, as in 0.9; of classes the set, with | between their names")
      .type_name("LEVEL");
  add_described(*command, "Data", only(list_options<DataOptions>(), kReadingOptions),
                arguments->data_options);
  when_asked(*command,
             [=, &common, &run] { run = [=, &common] { run_predict(*arguments, common); }; });
}

}  // namespace kerf::cli
