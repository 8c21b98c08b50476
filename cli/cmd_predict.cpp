// kerf predict: apply a model to rows, in order, as a stream.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

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

/// Predictions as text, a line per row: on standard output, or in a file that appears when whole.
class TextOutput {
 public:
  explicit TextOutput(const std::string& path) {
    if (!path.empty()) file_ = std::make_unique<AtomicFile>(path);
  }
  void write(std::string_view text) {
    if (file_) return file_->write(text.data(), text.size());
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
      throw Error(ErrorKind::data, "cannot write to standard output");
  }
  void commit() {
    if (file_) file_->commit();
  }

 private:
  std::unique_ptr<AtomicFile> file_;
};

std::string to_lines(const Model& model, const Matrix<double>& scores, bool classes) {
  fmt::memory_buffer lines;
  const auto out = std::back_inserter(lines);
  if (classes) {
    for (const Index best : best_class(scores))
      fmt::format_to(out, "{}\n", model.classes[static_cast<std::size_t>(best)]);
  } else {
    for (Index i = 0; i < scores.rows(); ++i)
      fmt::format_to(out, "{}\n", fmt::join(scores.row(i), ","));
  }
  return fmt::to_string(lines);
}

/// Predicted classes as a column of numbers: npy has no text.
Matrix<double> class_numbers(const Matrix<double>& scores) {
  Matrix<double> column(scores.rows(), 1);
  std::ranges::copy(best_class(scores), column.data());
  return column;
}

/// The columns of a and then those of b.
Matrix<double> beside(const Matrix<double>& a, const Matrix<double>& b) {
  Matrix<double> both(a.rows(), a.cols() + b.cols());
  for (Index i = 0; i < a.rows(); ++i) {
    std::ranges::copy(a.row(i), both.row(i).begin());
    std::ranges::copy(b.row(i), both.row(i).begin() + a.cols());
  }
  return both;
}

void run_predict(const PredictArguments& arguments, const Common& common) {
  const Model model = load_model(arguments.model);
  if (arguments.probability && model.task != Task::classification)
    throw Error(ErrorKind::usage, "this model predicts numbers: --probability is for classes");
  if (arguments.variance && !model.variance)
    throw Error(ErrorKind::usage,
                "this model was trained without variances: train it with fit --variance");
  const auto data_options = read_options<DataOptions>(arguments.data_options, "kerf predict");
  // Probabilities are numbers, as the targets of a regression are.
  const bool classification = model.task == Task::classification && !arguments.probability;
  const bool npy = arguments.output.ends_with(".npy");
  const auto source =
      open_for_model(arguments.data, file_encoding(model), data_options, io::Targets::ignore);
  const Predictor predictor(model, common.memory_limit());
  const Progress progress = terminal_progress(common.quiet || arguments.output.empty());
  std::unique_ptr<NpyWriter> array;
  std::unique_ptr<TextOutput> text;
  if (npy)
    array = std::make_unique<NpyWriter>(
        arguments.output, classification ? 1 : model.outputs() * (arguments.variance ? 2 : 1),
        NpyWriter::Type::float64);
  else
    text = std::make_unique<TextOutput>(arguments.output);
  RowBlock block;
  Matrix<double> scores, variance;
  Index rows = 0;
  while (source->next(block)) {
    check_interrupt();
    if (arguments.variance) {
      predictor.scores(block, scores, variance);
      scores = beside(scores, variance);
    } else {
      predictor.scores(block, scores);
    }
    if (arguments.probability) to_probabilities(model, scores);
    if (text)
      text->write(to_lines(model, scores, classification));
    else
      array->append(classification ? class_numbers(scores).view() : scores.view());
    rows += block.rows();
    report(progress, "predicting", rows, 0);
  }
  if (text)
    text->commit();
  else
    array->commit();
  clear_progress();
  if (common.json) print_json({{"rows", rows}, {"output", arguments.output}});
}

}  // namespace

void add_predict(CLI::App& app, Common& common, std::function<void()>& run) {
  const auto arguments = std::make_shared<PredictArguments>();
  CLI::App* command = add_command(
      app, common, "predict", "apply a model to rows: a line per row, in order",
      "  kerf predict model.kerf new.csv                   predictions on standard output\n"
      "  kerf predict model.kerf new.csv -o predictions.npy\n"
      "  kerf predict price.kerf new.csv --variance        after kerf fit --variance\n"
      "  tail -f stream.csv | kerf predict model.kerf -");
  add_option(*command, "MODEL", arguments->model, "a model that `kerf fit` wrote").required();
  add_option(*command, "DATA", arguments->data,
             "rows with or without the target; - reads standard input")
      .required();
  add_option(*command, "-o,--out", arguments->output,
             "file for the predictions: text, or npy by its name")
      .type_name("FILE");
  add_flag(*command, "--probability", arguments->probability, "a column per class");
  add_flag(*command, "--variance", arguments->variance,
           "one more column for each target: the variance of the prediction");
  add_described(*command, "Data", list_options<DataOptions>(), arguments->data_options);
  when_asked(*command,
             [=, &common, &run] { run = [=, &common] { run_predict(*arguments, common); }; });
}

}  // namespace kerf::cli
