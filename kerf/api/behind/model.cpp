// SPDX-License-Identifier: Apache-2.0
#include "kerf/api/model.h"

#include "kerf/api/behind/inside.h"
#include "kerf/core/options.h"
#include "kerf/core/progress.h"
#include "kerf/core/require.h"
#include "kerf/learn/score/evaluate.h"
#include "kerf/model/model_file.h"

namespace kerf {
namespace {

/// What `predictor` says of a block, which it scales in place; how many rows were far out.
Index predict_block(const detail::Model& model, const detail::Predictor& predictor,
                    detail::RowBlock& block, Predictions& out) {
  const Index far_rows = model.variance ? predictor.scores(block, out.values, out.variances)
                                        : predictor.scores(block, out.values);
  if (model.task == Task::classification) {
    out.classes = detail::best_class(out.values);
    out.probabilities = out.values.copy();
    detail::to_probabilities(model, out.probabilities);
  }
  return far_rows;
}

void append(const Matrix<double>& rows, std::vector<double>& to) {
  to.insert(to.end(), rows.data(), rows.data() + rows.rows() * rows.cols());
}

/// The numbers of a block's rows, of which `done` came before; none while none was left out.
void add_numbers(const Predictions& block, Index done, std::vector<Index>& rows) {
  if (block.rows.empty() && rows.empty()) return;
  if (rows.empty())
    for (Index i = 0; i < done; ++i) rows.push_back(i);
  rows.insert(rows.end(), block.rows.begin(), block.rows.end());
}

Matrix<double> to_matrix(const std::vector<double>& numbers, Index cols) {
  Matrix<double> out(std::ssize(numbers) / std::max<Index>(cols, 1), cols);
  std::ranges::copy(numbers, out.data());
  return out;
}

/// What a table says of targets does not matter to a prediction, and must not stop it.
Table inputs_of(const Table& table) {
  return {.x = table.x, .names = table.names, .words = table.words, .image = table.image};
}

Index input_columns(const detail::io::MemoryTable& table) {
  Index columns = 0;
  for (const auto& part : table.parts) {
    const auto* numbers = std::get_if<detail::io::NumberArray>(&part);
    columns += numbers != nullptr ? numbers->columns : 1;
  }
  return columns;
}

/// With the targets behind all others, and only inputs among these where `inputs_only`.
detail::Encoding targets_last(const detail::Encoding& from, bool inputs_only) {
  using detail::Role;
  detail::Encoding to = from;
  to.columns.clear();
  to.targets.clear();
  for (const auto& column : from.columns)
    if (column.is_input() || (!inputs_only && column.role != Role::target))
      to.columns.push_back(column);
  for (const Index target : from.targets) {
    to.targets.push_back(std::ssize(to.columns));
    to.columns.push_back(from.columns[target]);
  }
  return to;
}

/// Options that would be passed over in silence: the model knows its columns.
detail::DataOptions reading_options(const DataOptions& options) {
  const Params params = options.params();
  for (const char* option :
       {"task", "drop", "categorical", "dates", "missing", "na", "image", "max-levels"})
    KERF_REQUIRE(!params.contains(option), usage,
                 "the model knows its columns: option {} is for rows to learn from", option);
  return detail::read_options<detail::DataOptions>(params, "data");
}

}  // namespace

detail::Encoding encoding_for(const detail::Model& model, const HeldTable& table) {
  detail::Encoding encoding = detail::encoding_of(model);
  const Index targets = encoding.target_count();
  KERF_REQUIRE(table.view.targets.cols == 0 || table.view.targets.cols == targets, data,
               "the table has {} targets, but the model {}", table.view.targets.cols, targets);
  const Index columns = input_columns(table.view);
  if (encoding.kind == detail::SourceKind::pixels && columns > 0)
    KERF_REQUIRE(columns == encoding.inputs, data,
                 "the rows have {} columns, but the model wants {}", columns, encoding.inputs);
  if (encoding.kind != detail::SourceKind::table || !table.view.names.empty() || columns == 0)
    return encoding;
  const Index inputs = std::ranges::count_if(encoding.columns, &detail::EncodedColumn::is_input);
  const Index all = std::ssize(encoding.columns) - std::ssize(encoding.targets);
  KERF_REQUIRE(columns == inputs || columns == all, data,
               "the rows have {} columns, but the model wants {}", columns, inputs);
  return targets_last(encoding, columns == inputs);
}

const detail::Predictor& Model::Inside::predictor(Index memory_limit) const {
  std::call_once(made_, [&] { predictor_.emplace(model, memory_limit); });
  return *predictor_;
}

Model::Model(std::shared_ptr<Inside> inside) : inside_(std::move(inside)) {}

Model Model::load(const std::string& path) {
  return Model(std::make_shared<Inside>(detail::load_model(path)));
}
Model Model::from_bytes(std::string_view bytes) {
  return Model(std::make_shared<Inside>(detail::model_from_bytes(bytes, "in memory")));
}
void Model::save(const std::string& path) const { detail::save_model(inside_->model, path); }
std::string Model::to_bytes() const { return detail::model_to_bytes(inside_->model); }

Task Model::task() const { return inside_->model.task; }
const std::vector<std::string>& Model::classes() const { return inside_->model.classes; }
Index Model::columns() const { return inside_->model.input_columns(); }
Index Model::outputs() const { return inside_->model.outputs(); }
Index Model::features() const { return inside_->model.linear.weights.rows(); }
const std::string& Model::map() const { return inside_->model.recipe.map; }
const Params& Model::options() const { return inside_->model.recipe.options; }
double Model::lambda() const { return inside_->model.training.lambda; }

Dataset Model::open(const std::vector<std::string>& paths, const DataOptions& options) const {
  auto rows = std::make_unique<Dataset::Inside>();
  rows->rows =
      detail::open_for_model(paths, detail::file_encoding(inside_->model), reading_options(options),
                             detail::io::Targets::optional, options.target.value_or(""));
  rows->name = rows->rows->name();
  rows->read_for = inside_;
  return Dataset(std::move(rows));
}

Dataset Model::open(const Table& table) const {
  auto rows = std::make_unique<Dataset::Inside>();
  rows->name = "the table";
  rows->table = std::make_shared<HeldTable>(hold(table));
  rows->rows = std::make_unique<detail::EncodedSource>(
      detail::io::open_memory(rows->table->view), encoding_for(inside_->model, *rows->table),
      rows->name, detail::io::Targets::optional, 0);
  rows->read_for = inside_;
  return Dataset(std::move(rows));
}

void Model::predict(Dataset& rows, const std::function<void(const Predictions&)>& receive,
                    const Context& context) const {
  const detail::Model& model = inside_->model;
  detail::EncodedSource& source = rows.inside().for_model(inside_);
  const detail::Predictor& predictor = inside_->predictor(context.memory_limit);
  detail::RowBlock block;
  Predictions found;
  Index done = 0, far_rows = 0;
  const Progress step = detail::expecting(context.progress, {{"predicting"}});
  while (source.next(block)) {
    far_rows += predict_block(model, predictor, block, found);
    found.rows = block.numbers;
    done += block.rows();
    rows.inside().rows_read = done;
    receive(found);
    detail::report(step, "predicting", done, detail::rows_expected(source, done));
  }
  Predictions last;  // no rows: what is known when all were read
  last.warnings = detail::io::notes_of(source.counts());
  if (const Index dropped = source.counts().dropped_rows; dropped > 0)
    last.warnings.push_back(fmt::format(
        "{} rows were left out for a missing cell: Predictions::rows says which are there",
        dropped));
  if (const std::string far = detail::far_rows_warning(far_rows, done); !far.empty())
    last.warnings.push_back(far);
  if (!last.warnings.empty()) receive(last);
}

Predictions Model::predict(Dataset& rows, const Context& context) const {
  Predictions all;
  Index done = 0;
  std::vector<double> values, probabilities, variances;
  predict(
      rows,
      [&](const Predictions& block) {
        append(block.values, values);
        append(block.probabilities, probabilities);
        append(block.variances, variances);
        all.classes.insert(all.classes.end(), block.classes.begin(), block.classes.end());
        add_numbers(block, done, all.rows);
        done += block.values.rows();
        all.warnings.insert(all.warnings.end(), block.warnings.begin(), block.warnings.end());
      },
      context);
  all.values = to_matrix(values, outputs());
  all.probabilities = to_matrix(probabilities, outputs());
  all.variances = to_matrix(variances, outputs());
  return all;
}

Predictions Model::predict(const Table& table, const Context& context) const {
  Dataset rows = open(inputs_of(table));
  return predict(rows, context);
}

Intervals Model::intervals(Dataset& rows, double level, const Context& context) const {
  const detail::IntervalKind kind = detail::interval_kind(inside_->model);
  detail::check_interval_level(inside_->model, level);
  Predictions found = predict(rows, context);
  const Matrix<double> half =
      detail::half_widths(inside_->model, kind, level, found.values.rows(), found.variances);
  Intervals out{found.values.copy(), std::move(found.values), std::move(found.rows),
                std::move(found.warnings)};
  for (Index i = 0; i < half.rows(); ++i)
    for (Index t = 0; t < half.cols(); ++t) {
      out.lower(i, t) -= half(i, t);
      out.upper(i, t) += half(i, t);
    }
  return out;
}

Intervals Model::intervals(const Table& table, double level, const Context& context) const {
  Dataset rows = open(inputs_of(table));
  return intervals(rows, level, context);
}

ClassSets Model::sets(Dataset& rows, double level, const Context& context) const {
  detail::interval_kind(inside_->model, true);
  detail::check_interval_level(inside_->model, level);
  Predictions found = predict(rows, context);
  const Matrix<double> members =
      detail::class_sets(inside_->model, level, found.probabilities, found.classes);
  ClassSets out{std::vector<std::vector<Index>>(members.rows()), std::move(found.rows),
                std::move(found.warnings)};
  for (Index i = 0; i < members.rows(); ++i)
    for (Index c = 0; c < members.cols(); ++c)
      if (members(i, c) != 0) out.classes[i].push_back(c);
  return out;
}

ClassSets Model::sets(const Table& table, double level, const Context& context) const {
  Dataset rows = open(inputs_of(table));
  return sets(rows, level, context);
}

Score Model::score(Dataset& rows, Index worst, const Context& context) const {
  KERF_REQUIRE(worst >= 0, usage, "{} worst rows cannot be kept", worst);
  const detail::Model& model = inside_->model;
  Score score = detail::evaluate(model, rows.inside().for_model(inside_), context.memory_limit,
                                 context.progress, worst);
  rows.inside().rows_read = score.rows;
  return score;
}

}  // namespace kerf
