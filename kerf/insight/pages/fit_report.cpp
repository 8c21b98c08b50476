// SPDX-License-Identifier: Apache-2.0
#include "kerf/insight/pages/fit_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "kerf/core/rows/row_filter.h"
#include "kerf/core/system/memory.h"
#include "kerf/insight/pages/html.h"
#include "kerf/insight/pages/score_json.h"

namespace kerf::detail {
namespace {

constexpr Index kPairs = 1000;           // points of the scatter
constexpr std::size_t kCandidates = 12;  // bars of the choice
constexpr Index kMatrixClasses = 40;     // whose confusion is a table
constexpr Index kConfused = 30;          // pairs, of more classes

std::string headline(const TestView* test, const FitReport& report) {
  if (test == nullptr)
    return report.quality ? describe(*report.quality)
                          : "Nothing is known of how good the fit is; no rows were held out";
  const Score& score = test->score;
  if (score.task == Task::classification)
    return fmt::format("{:.2f} % of {} rows right ({})", 100 * score.accuracy, score.rows,
                       test->where);
  return fmt::format("r2 {:.4f}, root mean squared error {} on {} rows ({})", score.r2,
                     html::number(score.rmse), score.rows, test->where);
}

std::string model_facts(const FitResult& result, const DataSummary& summary) {
  const auto& [model, report] = result;
  const bool classes = model.task == Task::classification;
  return html::facts({
      {"rows", fmt::format("{}", summary.rows)},
      {"columns", fmt::format("{}{}", summary.cols, summary.is_sparse ? ", sparse" : "")},
      {"task", classes ? fmt::format("classification, {} classes", model.classes.size())
                       : fmt::format("regression, {} target{}", model.outputs(),
                                     model.outputs() == 1 ? "" : "s")},
      {"map", model.recipe.map},
      {"features", fmt::format("{}", model.linear.weights.rows())},
      {"scale", name_of(report.scale)},
      {"solver", report.solver},
      {"lambda", html::number(report.lambda)},
      {"quality", report.quality ? describe(*report.quality) : "not known"},
      {"time", fmt::format("{:.2f} s", report.seconds.total)},
      {"peak memory", human_bytes(peak_memory())},
      {"options of the map", html::option_text(model.recipe.options)},
  });
}

std::string choice_section(const MapChoice& choice) {
  std::vector<std::pair<std::string, double>> finalists;
  std::vector<std::vector<std::string>> rows;
  const std::size_t rounds = choice.rounds.size();
  for (const auto& trial : choice.trials) {
    if (trial.errors.size() == rounds && finalists.size() < kCandidates)
      finalists.emplace_back(trial.candidate.label, trial.errors.back());
    std::vector<std::string> row = {trial.candidate.label, trial.candidate.map};
    for (std::size_t r = 0; r < rounds; ++r)
      row.push_back(r < trial.errors.size() ? html::number(trial.errors[r]) : "");
    rows.push_back(std::move(row));
  }
  std::vector<std::string> head = {"kernel", "map"};
  for (const auto& round : choice.rounds)
    head.push_back(round.features > 0
                       ? fmt::format("{} rows, {} features", round.rows, round.features)
                       : fmt::format("{} rows, exact", round.rows));
  return fmt::format("<p>{}</p>", html::escape(choice.reason)) +
         html::bars("Mean squared error of the kernels that reached the last round", finalists) +
         fmt::format("<details><summary>All {} candidates, round by round</summary>{}</details>",
                     rows.size(), html::table(head, rows));
}

std::string lambda_section(const FitReport& report) {
  if (report.path.size() < 2) return "";
  html::Series series{"", {}, true};
  for (const auto& point : report.path)
    series.points.push_back({point.lambda, point.cv_error, point.lambda == report.lambda});
  return html::chart(fmt::format("Mean squared error against lambda by {}; {} was chosen",
                                 report.validation, html::number(report.lambda)),
                     {"lambda", true}, {"mean squared error", true}, {series});
}

std::string growth_section(const FitReport& report) {
  if (report.growth.empty()) return "";
  html::Series series{"", {}, true};
  for (const auto& step : report.growth)
    series.points.push_back({static_cast<double>(step.features), step.cv_error});
  return html::chart("Mean squared error against the number of features: " + report.growth_reason,
                     {"features", true}, {"mean squared error", true}, {series});
}

std::string time_section(const FitReport::Seconds& s) {
  std::vector<std::pair<std::string, double>> bars;
  for (const auto& part : s.parts())
    if (part.seconds > 0) bars.emplace_back(part.words, part.seconds);
  return html::bars(fmt::format("Seconds, {:.3g} in all", s.total), bars, bars.size());
}

/// Of the rows as they are read; none if they are not images.
ImageShape shape_of(const Model& model) {
  return model.images.present() ? model.images.input : model.image;
}

std::string value_text(const Model& model, const std::vector<double>& values) {
  if (model.task == Task::classification) return model.classes[values[0]];
  std::vector<std::string> numbers;
  for (const double value : values) numbers.push_back(html::number(value));
  return fmt::format("{}", fmt::join(numbers, ", "));
}

/// The numbers of a block's only row.
std::vector<float> dense_row(const RowBlock& block) {
  if (!block.is_sparse) return {block.dense.row(0).begin(), block.dense.row(0).end()};
  std::vector<float> row(block.x().cols(), 0.0f);
  const SparseRow only = block.x().sparse().row(0);
  for (std::size_t k = 0; k < only.values.size(); ++k) row[only.columns[k]] = only.values[k];
  return row;
}

/// Pixels between 0 and 1, whatever their range.
std::string worst_picture(const RowBlock& block, ImageShape shape, const std::string& caption) {
  const std::vector<float> row = dense_row(block);
  const auto [low, high] = std::ranges::minmax(row);
  std::vector<float> pixels;
  for (const float v : row) pixels.push_back(high > low ? (v - low) / (high - low) : 0.5f);
  return html::picture(pixels, shape.height, shape.width, shape.channels, caption);
}

std::string worst_section(const Model& model, const TestView& test) {
  const bool classes = model.task == Task::classification;
  std::string pictures;
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < test.score.worst.size(); ++i) {
    const WorstRow& worst = test.score.worst[i];
    const std::string target = value_text(model, worst.target),
                      predicted = value_text(model, worst.predicted);
    rows.push_back({fmt::format("{}", worst.row), target, predicted,
                    html::number(classes ? 1 - worst.error : worst.error)});
    if (i < test.worst_rows.size())
      pictures +=
          worst_picture(test.worst_rows[i], shape_of(model),
                        fmt::format("row {}: {}, predicted {}", worst.row, target, predicted));
  }
  if (rows.empty()) return "";
  return (pictures.empty() ? "" : fmt::format("<div class=\"pictures\">{}</div>", pictures)) +
         (classes ? html::table({"row", "true class", "predicted", "probability of the true class"},
                                rows)
                  : fmt::format("<p>Error: {}.</p>", html::escape(worst_error_words(test.score))) +
                        html::table({"row", "target", "predicted", "error"}, rows));
}

/// The pairs of classes that are mistaken most often.
std::string confused_pairs(const Model& model, const Matrix<double>& confusion) {
  struct Pair {
    Index truth, predicted;
    double count;
  };
  std::vector<Pair> pairs;
  for (Index i = 0; i < confusion.rows(); ++i)
    for (Index j = 0; j < confusion.cols(); ++j)
      if (i != j && confusion(i, j) > 0) pairs.push_back({i, j, confusion(i, j)});
  std::ranges::stable_sort(pairs, std::greater{}, &Pair::count);
  if (std::ssize(pairs) > kConfused) pairs.resize(kConfused);
  std::vector<std::vector<std::string>> rows;
  for (const Pair& pair : pairs)
    rows.push_back(
        {model.classes[pair.truth], model.classes[pair.predicted], html::number(pair.count)});
  return rows.empty() ? "<p>None.</p>" : html::table({"true", "predicted", "rows"}, rows);
}

/// Each figure beside that of a constant.
std::string figures(const Model& model, const Score& score) {
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const std::string& name, double value, double constant) {
    rows.push_back({name, html::number(value), html::number(constant)});
  };
  if (score.task == Task::classification) {
    add("accuracy", score.accuracy, score.constant_accuracy);
    add("balanced accuracy", score.balanced_accuracy, score.constant_balanced_accuracy);
    if (score.ranking) {
      add("area under the ROC curve", score.ranking->auc, 0.5);
      add("average precision", score.ranking->average_precision, score.ranking->share);
    }
    if (score.log_loss) add("log loss", *score.log_loss, score.constant_log_loss);
    return html::table({"figure", "model", "constant"}, rows);
  }
  const std::vector<std::string> names = target_names(model);
  for (std::size_t t = 0; t < score.targets.size(); ++t) {
    const TargetScore& one = score.targets[t];
    const std::string of = score.targets.size() > 1 ? " of " + names[t] : "";
    add("root mean squared error" + of, one.rmse, one.constant_rmse);
    add("mean distance" + of, one.mae, one.constant_mae);
    add("median distance" + of, one.median_error, one.constant_median_error);
  }
  return html::table({"figure", "model", "constant"}, rows);
}

/// What intervals or sets hold beside what they promise; "": the model has none.
std::string promises(const Model& model, const Score& score) {
  const auto percent = [](double share) { return fmt::format("{:.1f} %", 100 * share); };
  std::vector<std::vector<std::string>> rows;
  for (const SetScore& one : score.sets)
    rows.push_back({percent(one.promised), percent(one.coverage), fmt::format("{:.2f}", one.size),
                    percent(one.single)});
  if (!rows.empty())
    return html::table({"promised", "class in its set", "classes in a set", "sets of one class"},
                       rows);
  const std::vector<std::string> names = target_names(model);
  for (std::size_t t = 0; t < score.targets.size(); ++t)
    for (const IntervalScore& one : score.targets[t].intervals)
      rows.push_back({names[t], one.kind, percent(one.promised), percent(one.coverage),
                      html::number(one.width)});
  return rows.empty()
             ? ""
             : html::table({"target", "intervals", "promised", "inside", "mean width"}, rows);
}

/// Precision and recall of each class.
std::string by_class(const Model& model, const Score& score) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t c = 0; c < score.classes.size(); ++c) {
    const ClassScore& one = score.classes[c];
    rows.push_back({model.classes[c], html::number(one.weight),
                    fmt::format("{:.3f}", one.precision), fmt::format("{:.3f}", one.recall),
                    fmt::format("{:.3f}", one.f1)});
  }
  return html::table({"class", "rows", "precision", "recall", "F1"}, rows);
}

std::string test_section(const Model& model, const TestView& test) {
  if (test.score.task == Task::classification)
    return std::ssize(model.classes) <= kMatrixClasses
               ? html::heat_table("true \\ predicted", model.classes, test.score.confusion.view()) +
                     by_class(model, test.score)
               : confused_pairs(model, test.score.confusion);
  html::Series fitted{"", {}, false}, residuals{"", {}, false};
  for (const auto& pair : test.pairs) {
    fitted.points.push_back({pair.target, pair.predicted});
    residuals.points.push_back({pair.predicted, pair.target - pair.predicted});
  }
  const std::string which =
      model.outputs() > 1 ? fmt::format(" (the first of {} targets)", model.outputs()) : "";
  return html::chart("Prediction against target, of rows that were not trained on" + which,
                     {"target"}, {"prediction"}, {fitted}, true) +
         html::chart(
             "What is left, target less prediction: a pattern in it is something not learned" +
                 which,
             {"prediction"}, {"residual"}, {residuals});
}

bool is_picture(ImageShape shape) {
  return shape.present() && (shape.channels == 1 || shape.channels == 3) &&
         shape.height * shape.width <= 64 * 64;
}

/// The rows of those numbers, one block each, in the order given.
std::vector<RowBlock> rows_at(RowSource& source, const std::vector<WorstRow>& wanted) {
  std::vector<RowBlock> out(wanted.size());
  RowBlock block;
  Index first = 0;
  for (source.rewind(); source.next(block); first += block.rows())
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const Index at = wanted[i].position - first;
      if (at >= 0 && at < block.rows()) out[i] = reordered(block, std::vector<Index>{at});
    }
  return out;
}

std::vector<TestView::Pair> sample_pairs(const Model& model, RowSource& source, Index rows,
                                         Index memory_limit) {
  std::vector<TestView::Pair> pairs;
  const Predictor predictor(model, memory_limit);
  const Index step = std::max<Index>(1, rows / kPairs);
  RowBlock block;
  Matrix<double> scores;
  Index first = 0;
  for (source.rewind(); source.next(block); first += block.rows()) {
    predictor.scores(block, scores);
    for (Index i = 0; i < block.rows(); ++i)
      if ((first + i) % step == 0) pairs.push_back({block.targets(i, 0), scores(i, 0)});
  }
  return pairs;
}

}  // namespace

TestView look_at_test(const Model& model, RowSource& source, Score score, std::string where,
                      Index memory_limit) {
  TestView view{std::move(score), std::move(where), {}, {}};
  if (model.task == Task::regression)
    view.pairs = sample_pairs(model, source, view.score.rows, memory_limit);
  if (is_picture(shape_of(model))) view.worst_rows = rows_at(source, view.score.worst);
  return view;
}

std::string fit_report(const FitResult& result, const DataSummary& summary, const TestView* test) {
  const auto& [model, report] = result;
  std::string body = model_facts(result, summary);
  if (test != nullptr) {
    body += html::section("How good it is, beside a constant", figures(model, test->score));
    body += html::section(model.task == Task::classification ? "Which classes are confused"
                                                             : "How close the predictions are",
                          test_section(model, *test));
    body += html::section(
        model.task == Task::classification ? "What sets of classes hold" : "What intervals hold",
        promises(model, test->score));
    body += html::section("The worst rows", worst_section(model, *test));
  }
  if (report.map_choice) body += html::section("Which kernel", choice_section(*report.map_choice));
  body += html::section("How many features", growth_section(report));
  body += html::section("How strong a penalty", lambda_section(report));
  body += html::section("Where the time went", time_section(report.seconds));
  body += html::warnings(report.warnings);
  if (!model.training.command.empty())
    body += html::section("Make it again",
                          fmt::format("<pre>{}</pre>", html::escape(model.training.command)));
  return html::page("kerf fit: " + model.recipe.map, headline(test, report), body);
}

}  // namespace kerf::detail
