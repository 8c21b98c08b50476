// kerf predict: apply a model to rows, in order, as a stream.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "cli/command.h"

namespace kerf::cli {
namespace {

struct PredictArguments {
  std::string model;
  std::vector<std::string> data;
  std::string output;
  bool probability = false, variance = false;
  Params data_options;
};

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
  const std::string& name_of(Index number) const { return model.classes[number]; }
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
      if (row.size() == 1)
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

/// The predictions of all rows, in order.
Predicted predict_all(const PredictArguments& arguments, const Model& model, EncodedSource& source,
                      Output& output, Index memory_limit, const Progress& progress) {
  const Predictor predictor(model, memory_limit);
  RowBlock block;
  Matrix<double> values, variance;
  Predicted done;
  while (source.next(block)) {
    check_interrupt();
    if (arguments.variance) {
      done.far_rows += predictor.scores(block, values, variance);
      values = beside(values, variance);
    } else {
      done.far_rows += predictor.scores(block, values);
    }
    if (arguments.probability) to_probabilities(model, values);
    output.add(values);
    done.rows += block.rows();
    report(progress, "predicting", done.rows, 0);
  }
  output.finish();
  return done;
}

void run_predict(const PredictArguments& arguments, const Common& common) {
  const std::string path = arguments.output == "-" ? "" : arguments.output;
  Files().reads(arguments.model).reads(arguments.data).writes(path).check();
  const Model model = load_model(arguments.model);
  check_arguments(arguments, model);
  const auto data_options = read_data_options(arguments.data_options, "kerf predict", common);
  const auto source =
      open_for_model(arguments.data, file_encoding(model), data_options, io::Targets::ignore);
  // Probabilities are numbers, as the targets of a regression are.
  const Meaning meaning{model, model.task == Task::classification && !arguments.probability};
  Json predictions = Json::array();
  std::unique_ptr<Output> output;
  if (path.ends_with(".npy"))
    output = std::make_unique<ArrayOutput>(meaning.classes, path,
                                           model.outputs() * (arguments.variance ? 2 : 1));
  else if (path.empty() && common.json)
    output = std::make_unique<JsonOutput>(meaning, predictions);
  else
    output = std::make_unique<TextOutput>(meaning, path);
  const Predicted done = predict_all(arguments, model, *source, *output, common.memory_limit(),
                                     terminal_progress(common.quiet || path.empty()));
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
  add_described(*command, "Data", only(list_options<DataOptions>(), kReadingOptions),
                arguments->data_options);
  when_asked(*command,
             [=, &common, &run] { run = [=, &common] { run_predict(*arguments, common); }; });
}

}  // namespace kerf::cli
