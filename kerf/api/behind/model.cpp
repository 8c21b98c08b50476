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

Matrix<double> to_matrix(const std::vector<double>& numbers, Index cols) {
  Matrix<double> out(std::ssize(numbers) / std::max<Index>(cols, 1), cols);
  std::ranges::copy(numbers, out.data());
  return out;
}

}  // namespace

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
      detail::open_for_model(paths, detail::file_encoding(inside_->model),
                             detail::read_options<detail::DataOptions>(options.params(), "data"));
  rows->name = rows->rows->name();
  rows->read_for = &inside_->model;
  return Dataset(std::move(rows));
}

Dataset Model::open(const Table& table) const {
  auto rows = std::make_unique<Dataset::Inside>();
  rows->name = "the table";
  rows->table = std::make_shared<HeldTable>(hold(table));
  rows->rows = std::make_unique<detail::EncodedSource>(
      detail::io::open_memory(rows->table->view), detail::encoding_of(inside_->model), rows->name,
      detail::io::Targets::optional, 0);
  rows->read_for = &inside_->model;
  return Dataset(std::move(rows));
}

void Model::predict(Dataset& rows, const std::function<void(const Predictions&)>& receive,
                    const Context& context) const {
  const detail::Model& model = inside_->model;
  detail::EncodedSource& source = rows.inside().for_model(model);
  const detail::Predictor& predictor = inside_->predictor(context.memory_limit);
  detail::RowBlock block;
  Predictions found;
  Index done = 0, far_rows = 0;
  while (source.next(block)) {
    far_rows += predict_block(model, predictor, block, found);
    done += block.rows();
    rows.inside().rows_read = done;
    receive(found);
    detail::report(context.progress, "predicting", done, 0);
  }
  Predictions last;  // no rows: what is known when all were read
  last.warnings = detail::io::notes_of(source.counts());
  if (const std::string far = detail::far_rows_warning(far_rows, done); !far.empty())
    last.warnings.push_back(far);
  if (!last.warnings.empty()) receive(last);
}

Predictions Model::predict(Dataset& rows, const Context& context) const {
  Predictions all;
  std::vector<double> values, probabilities, variances;
  predict(
      rows,
      [&](const Predictions& block) {
        append(block.values, values);
        append(block.probabilities, probabilities);
        append(block.variances, variances);
        all.classes.insert(all.classes.end(), block.classes.begin(), block.classes.end());
        all.warnings.insert(all.warnings.end(), block.warnings.begin(), block.warnings.end());
      },
      context);
  all.values = to_matrix(values, outputs());
  all.probabilities = to_matrix(probabilities, outputs());
  all.variances = to_matrix(variances, outputs());
  return all;
}

Predictions Model::predict(const Table& table, const Context& context) const {
  Dataset rows = open(table);
  return predict(rows, context);
}

Score Model::score(Dataset& rows, Index worst, const Context& context) const {
  const detail::Model& model = inside_->model;
  Score score = detail::evaluate(model, rows.inside().for_model(model), context.memory_limit,
                                 context.progress, worst);
  rows.inside().rows_read = score.rows;
  return score;
}

}  // namespace kerf
