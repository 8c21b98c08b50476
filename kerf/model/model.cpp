// SPDX-License-Identifier: Apache-2.0
#include "kerf/model/model.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/memory.h"
#include "kerf/core/system/parallel.h"
#include "kerf/features/learned/fitted_map.h"
#include "kerf/features/linear_features.h"
#include "kerf/kernels/gram/gram.h"

namespace kerf::detail {
namespace {

/// Rows whose features are held at once when scores are computed: about 16 MB.
Index rows_at_once(Index features) { return std::clamp<Index>((4 << 20) / features, 16, 4096); }

/// out = intercept + weights^T z for one row: double sums in a fixed order.
void score_row(const LinearModel& model, std::span<const float> z, std::span<double> out) {
  const Index outputs = model.weights.cols();
  std::ranges::copy(model.intercept, out.begin());
  const double* w = model.weights.data();
  if (outputs == 1) {
    double sums[4] = {};
    for (std::size_t j = 0; j < z.size(); ++j) sums[j % 4] += z[j] * w[j];
    out[0] += (sums[0] + sums[1]) + (sums[2] + sums[3]);
    return;
  }
  for (const float value : z) {
    for (Index t = 0; t < outputs; ++t) out[t] += value * w[t];
    w += outputs;
  }
}

void require_map_memory(const Recipe& recipe, Index bytes, Index memory_limit) {
  require_memory(bytes, memory_limit,
                 fmt::format("the feature map {} of {} columns", recipe.map, recipe.in_dim),
                 "take fewer " + spell("features") + " or raise " + spell("memory"));
}

}  // namespace

std::shared_ptr<MapState> Recipe::fit(RowSource& rows, Index memory_limit, const Progress& progress,
                                      Matrix<float>* penalty, std::optional<Index> count) {
  const FeatureMapEntry& entry = find_feature_map(map);
  if (entry.fit == nullptr) return nullptr;
  require_map_memory(*this,
                     count && entry.bytes_to_fit != nullptr
                         ? entry.bytes_to_fit(in_dim, options, *count)
                         : entry.bytes(in_dim, options),
                     memory_limit);
  auto learned =
      std::make_shared<MapState>(entry.fit(rows, options, rng::Key{seed}.child("map"), progress));
  if (penalty != nullptr) *penalty = take_penalty(*learned);
  learned->erase(kPenalty);
  state = learned;
  return learned;
}

std::unique_ptr<FeatureMap> Recipe::make(Index memory_limit) const {
  const FeatureMapEntry& entry = find_feature_map(map);
  require_map_memory(*this, bytes(), memory_limit);
  const rng::Key key = rng::Key{seed}.child("map");
  return state ? entry.restore(in_dim, options, key, *state) : entry.make(in_dim, options, key);
}

Index Recipe::bytes() const {
  const FeatureMapEntry& entry = find_feature_map(map);
  return state ? entry.restored_bytes(in_dim, options, *state) : entry.bytes(in_dim, options);
}

namespace {

/// A model may come from anybody, and its map be of any size: without a limit it has a share of what
/// is free.
void require_share(const Recipe& recipe) {
  constexpr Index kShare = 2;
  const Index needed = recipe.bytes(), free = available_memory();
  KERF_REQUIRE(needed >= 0 && needed <= free / kShare, memory,
               "the feature map {} of {} columns needs about {}, more than half of the {} that are "
               "free: a limit that is given ({}) may allow it",
               recipe.map, recipe.in_dim, human_bytes(needed), human_bytes(free), spell("memory"));
}

}  // namespace

Predictor::Predictor(const Model& model, Index memory_limit) : model_(model) {
  if (model.rows) {
    const Params& options = model.recipe.options;
    kernel_ = find_kernel(exact_kernel_name(options)).make(exact_kernel_params(options));
    require_memory(12 * kExpansionRows * features(), memory_limit,
                   fmt::format("the kernel of rows against {} training rows", features()),
                   "raise " + spell("memory"));
    return;
  }
  if (model.from_file && memory_limit == 0) require_share(model.recipe);
  map_ = model.recipe.make(memory_limit);
  KERF_REQUIRE(map_->out_dim() == features(), data,
               "the model has weights for {} features, but its map makes {}", features(),
               map_->out_dim());
}

Index Predictor::prepare(RowBlock& block) const {
  if (model_.images.present()) model_.images.apply(block);
  KERF_REQUIRE(block.x().cols() == model_.recipe.in_dim, data,
               "the rows have {} columns, but the model was trained on {}", block.x().cols(),
               model_.recipe.in_dim);
  return model_.scaling.apply(block);
}

Index Predictor::features(RowBlock& block, Matrix<float>& z) const {
  const Index far_rows = prepare(block);
  z.resize(block.rows(), features());
  if (map_)
    map_->transform(block.x(), z.view());
  else
    gram<float>(*kernel_, block.x(), model_.rows->x(), z.view());
  return far_rows;
}

Index Predictor::scores(RowBlock& block, Matrix<double>& out) const {
  return scores(block, out, nullptr);
}

Index Predictor::scores(RowBlock& block, Matrix<double>& out, Matrix<double>& variance) const {
  KERF_REQUIRE(model_.variance.has_value(), usage,
               "the model was trained without variances: train it with {}", spell_on("variance"));
  return scores(block, out, &variance);
}

Index Predictor::scores(RowBlock& block, Matrix<double>& out, Matrix<double>* variance) const {
  const Index far_rows = prepare(block);
  if (variance != nullptr) variance->resize(block.rows(), model_.outputs());
  out.resize(block.rows(), model_.outputs());
  if (!map_) {
    kernel_expansion(*kernel_, model_.rows->x(), model_.linear.weights.view(),
                     model_.linear.intercept, block.x(), out.view());
    return far_rows;
  }
  if (block.is_sparse && variance == nullptr && model_.recipe.map == LinearFeatures::kName) {
    for (Index i = 0; i < block.rows(); ++i)  // never made dense
      linear_scores(model_.linear, block.sparse.view(), i, out.row(i));
    return far_rows;
  }
  Matrix<float> z;
  const Index step = rows_at_once(map_->out_dim());
  for (Index begin = 0; begin < block.rows(); begin += step) {
    const Index end = std::min(begin + step, block.rows());
    z.resize(end - begin, map_->out_dim());
    map_->transform(block.x().slice(begin, end), z.view());
    linear_scores(model_.linear, z.view(), out.view().slice(begin, end));
    if (variance != nullptr)
      model_.variance->variances(z.view(), variance->view().slice(begin, end));
  }
  return far_rows;
}

std::string far_rows_warning(Index far_rows, Index rows) {
  if (far_rows == 0) return "";
  return fmt::format(
      "{} of {} rows have a number far outside the range of the training rows: they are predicted "
      "as rows near its edge (a model fitted with {} extrapolates)",
      far_rows, rows, spell("clip", "false"));
}

void linear_scores(const LinearModel& model, MatrixView<const float> z, MatrixView<double> out) {
  parallel_for(z.rows, 16, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) score_row(model, z.row(i), out.row(i));
  });
}

void linear_scores(const LinearModel& model, const CsrView& x, Index row, std::span<double> out) {
  std::ranges::copy(model.intercept, out.begin());
  const SparseRow entries = x.row(row);
  for (std::size_t k = 0; k < entries.values.size(); ++k) {
    const auto weights = model.weights.row(entries.columns[k]);
    for (std::size_t t = 0; t < out.size(); ++t) out[t] += entries.values[k] * weights[t];
  }
}

std::string describe(const FitQuality& quality) {
  const bool share = quality.metric.starts_with("accuracy");
  const auto number = [&](double value) {
    return share ? fmt::format("{:.4g} %", 100 * value) : fmt::format("{:.4g}", value);
  };
  return fmt::format("{} {} ({}; {} {})", quality.metric, number(quality.value), quality.how,
                     !share                         ? "the mean has"
                     : quality.metric == "accuracy" ? "the commonest class has"
                                                    : "a single class has",
                     number(quality.constant));
}

const Encoding& file_encoding(const Model& model) {
  KERF_REQUIRE(
      model.encoding.has_value(), usage,
      "the model was trained on matrices, so it does not know how to read a file's columns");
  return *model.encoding;
}

void softmax(std::span<double> scores) {
  const double largest = *std::ranges::max_element(scores);
  double sum = 0;
  for (double& s : scores) sum += s = std::exp(s - largest);
  for (double& s : scores) s /= sum;
}

/// The squared loss regresses on one-hot targets minus 1/classes, whose mean is the probability.
static void from_regression(std::span<double> scores) {
  double sum = 0;
  for (double& s : scores) sum += s = std::max(s + 1 / static_cast<double>(scores.size()), 0.0);
  for (double& s : scores) s = sum > 0 ? s / sum : 1 / static_cast<double>(scores.size());
}

Encoding encoding_of(const Model& model) {
  if (model.encoding) return *model.encoding;
  Encoding encoding;
  encoding.task = model.task;
  encoding.classes = model.classes;
  encoding.inputs = model.input_columns();
  const Index targets = model.task == Task::classification ? 1 : model.outputs();
  if (model.is_sparse) {
    encoding.kind = SourceKind::sparse;
    encoding.labelled = true;
    encoding.labels = targets;
    return encoding;
  }
  encoding.columns.resize(encoding.inputs + targets);
  for (Index t = encoding.inputs; t < encoding.inputs + targets; ++t) {
    encoding.columns[t].role = Role::target;
    encoding.targets.push_back(t);
  }
  return encoding;
}

void to_probabilities(const Model& model, Matrix<double>& scores) {
  KERF_REQUIRE(model.task == Task::classification, usage,
               "this model predicts numbers: probabilities are for classes");
  for (Index i = 0; i < scores.rows(); ++i)
    if (model.temperature) {
      for (double& s : scores.row(i)) s *= *model.temperature;
      softmax(scores.row(i));
    } else {
      from_regression(scores.row(i));
    }
}

std::vector<Index> best_class(const Matrix<double>& scores) {
  std::vector<Index> best;
  for (Index i = 0; i < scores.rows(); ++i) {
    const auto row = scores.row(i);
    best.push_back(std::ranges::max_element(row) - row.begin());
  }
  return best;
}

}  // namespace kerf::detail
