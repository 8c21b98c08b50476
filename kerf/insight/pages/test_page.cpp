// SPDX-License-Identifier: Apache-2.0
#include "kerf/insight/pages/test_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "kerf/core/rows/row_filter.h"
#include "kerf/insight/pages/html.h"
#include "kerf/insight/pages/score_json.h"

namespace kerf::detail {
namespace {

constexpr Index kPairs = 1000;        // points of the scatter
constexpr Index kMatrixClasses = 40;  // whose confusion is a table
constexpr Index kConfused = 30;       // pairs, of more classes

/// "120 rows"; where they count differently, their weight.
std::string rows_of(const Score& score) {
  if (score.weight == static_cast<double>(score.rows)) return fmt::format("{} rows", score.rows);
  return fmt::format("the weight of {} rows", score.rows);
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
  if (!pictures.empty()) pictures = fmt::format("<div class=\"pictures\">{}</div>", pictures);
  if (classes)
    return "<p>Rows are counted from 0.</p>" + pictures +
           html::table({"row", "true class", "predicted", "probability of the true class"}, rows);
  return fmt::format("<p>Rows are counted from 0. Error: {}.</p>",
                     html::escape(worst_error_words(test.score))) +
         pictures + html::table({"row", "target", "predicted", "error"}, rows);
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
    if (score.calibration) add("calibration error", score.calibration->error, 0);
    return html::table({"figure", "model", "constant"}, rows) +
           "<p>The constant says the commonest class of these rows, and as probabilities the "
           "shares "
           "of their classes.</p>";
  }
  const std::vector<std::string> names = target_names(model);
  for (std::size_t t = 0; t < score.targets.size(); ++t) {
    const TargetScore& one = score.targets[t];
    const std::string of = score.targets.size() > 1 ? " of " + names[t] : "";
    add("root mean squared error" + of, one.rmse, one.constant_rmse);
    add("mean absolute error" + of, one.mae, one.constant_mae);
    add("median error" + of, one.median_error, one.constant_median_error);
    if (one.constant_rmse > 0) add("r2" + of, one.r2, 0);
  }
  return html::table({"figure", "model", "constant"}, rows) +
         "<p>The constant is the mean of these rows, for absolute and median errors their median: "
         "the best one there is.</p>";
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
  std::vector<std::string> head = {"intervals", "promised", "inside", "mean width"};
  const bool several = score.targets.size() > 1;
  if (several) head.insert(head.begin(), "target");
  for (std::size_t t = 0; t < score.targets.size(); ++t)
    for (const IntervalScore& one : score.targets[t].intervals) {
      std::vector<std::string> row = {one.kind, percent(one.promised), percent(one.coverage),
                                      html::number(one.width)};
      if (several) row.insert(row.begin(), names[t]);
      rows.push_back(std::move(row));
    }
  return rows.empty() ? "" : html::table(head, rows);
}

/// Precision and recall of each class; of no rows there are none.
std::string by_class(const Model& model, const Score& score) {
  const auto rate = [](double value, double of) {
    return of > 0 ? fmt::format("{:.3f}", value) : "";
  };
  std::vector<std::vector<std::string>> rows;
  for (std::size_t c = 0; c < score.classes.size(); ++c) {
    const ClassScore& one = score.classes[c];
    double predicted = 0;
    for (Index i = 0; i < score.confusion.rows(); ++i)
      predicted += score.confusion(i, static_cast<Index>(c));
    rows.push_back({model.classes[c], html::number(one.weight), rate(one.precision, predicted),
                    rate(one.recall, one.weight), rate(one.f1, one.weight + predicted)});
  }
  return html::table({"class", "rows", "precision", "recall", "F1"}, rows) +
         "<p>Precision: of the rows predicted so, the share that is. Recall: of the rows that are "
         "so, the share predicted. F1: their harmonic mean.</p>";
}

std::string confusion(const Model& model, const Score& score) {
  if (std::ssize(model.classes) > kMatrixClasses) return confused_pairs(model, score.confusion);
  return html::heat_table("true \\ predicted", model.classes, score.confusion.view()) +
         "<p>The true class down, the class predicted across; the stronger the colour, the larger "
         "the share of the true class.</p>";
}

std::string closeness(const Model& model, const TestView& test) {
  html::Series fitted{"", {}, false}, residuals{"", {}, false};
  for (const auto& pair : test.pairs) {
    fitted.points.push_back({pair.target, pair.predicted});
    residuals.points.push_back({pair.predicted, pair.target - pair.predicted});
  }
  const std::string which =
      model.outputs() > 1 ? fmt::format(" (the first of {} targets)", model.outputs()) : "";
  return html::chart("Prediction against target" + which + "; on the broken line they are equal",
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

std::string test_headline(const TestView& test) {
  const Score& score = test.score;
  if (score.task == Task::classification)
    return fmt::format("{:.2f} % of {} right ({})", 100 * score.accuracy, rows_of(score),
                       test.where);
  const bool varies = std::ranges::any_of(
      score.targets, [](const TargetScore& one) { return one.constant_rmse > 0; });
  return fmt::format("{}root mean squared error {} on {} ({})",
                     varies ? fmt::format("r2 {:.4f}, ", score.r2) : "", html::number(score.rmse),
                     rows_of(score), test.where);
}

std::string test_sections(const Model& model, const TestView& test) {
  const Score& score = test.score;
  std::string body = html::section("How good it is, beside a constant", figures(model, score));
  if (score.task == Task::classification) {
    body += html::section("Rates of each class", by_class(model, score));
    body += html::section("Which classes are confused", confusion(model, score));
    body += html::section("What sets of classes hold", promises(model, score));
  } else {
    body += html::section("How close the predictions are", closeness(model, test));
    body += html::section("What intervals hold", promises(model, score));
  }
  return body + html::section("The worst rows", worst_section(model, test));
}

std::string score_report(const Model& model, const TestView& test, const std::string& command) {
  return html::page(
      "kerf score: " + model.recipe.map, test_headline(test),
      test_sections(model, test) + html::section("Score again", html::command(command)));
}

}  // namespace kerf::detail
