// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kerf/core/require.h"
#include "kerf/model/model_parts.h"

namespace kerf::detail {
namespace {

using nlohmann::json;

/// Sparse rows whose offsets and columns make sense.
CsrMatrix read_sparse(ArrayReader& arrays, Index cols) {
  CsrMatrix rows;
  rows.cols = cols;
  rows.values = arrays.vector<float>("row_values");
  rows.columns = arrays.vector<std::int32_t>("row_columns");
  rows.offsets = arrays.vector<Index>("row_offsets");
  const auto count = static_cast<Index>(rows.values.size());
  bool valid = std::ssize(rows.columns) == count && !rows.offsets.empty() &&
               rows.offsets.front() == 0 && rows.offsets.back() == count &&
               std::ranges::is_sorted(rows.offsets);
  for (Index i = 0; valid && i < rows.rows(); ++i) {
    Index before = -1;
    for (const Index column : rows.view().row(i).columns) {
      valid = valid && column > before && column < cols;
      before = column;
    }
  }
  KERF_REQUIRE(valid, data, "its sparse rows are not valid");
  return rows;
}

/// Of a fit in double; the floats are theirs, rounded.
void read_wide_rows(ArrayReader& arrays, InputRows& rows) {
  rows.wide = arrays.matrix<double>("wide_rows");
  rows.dense.resize(rows.wide.rows(), rows.wide.cols());
  for (Index i = 0; i < rows.wide.rows(); ++i)
    for (Index j = 0; j < rows.wide.cols(); ++j)
      rows.dense(i, j) = static_cast<float>(rows.wide(i, j));
}

std::optional<InputRows> read_rows(ArrayReader& arrays, Index cols) {
  InputRows rows;
  rows.is_sparse = arrays.has("row_offsets");
  if (rows.is_sparse)
    rows.sparse = read_sparse(arrays, cols);
  else if (arrays.has("rows"))
    rows.dense = arrays.matrix<float>("rows");
  else if (arrays.has("wide_rows"))
    read_wide_rows(arrays, rows);
  else
    return std::nullopt;
  return rows;
}

PredictiveVariance read_variance(ArrayReader& arrays) {
  PredictiveVariance variance;
  variance.mean = arrays.vector<double>("variance_mean");
  variance.noise = arrays.vector<double>("variance_noise");
  const auto weight = arrays.vector<double>("variance_weight");
  KERF_REQUIRE(weight.size() == 1 && weight[0] > 0, data, "the variance has no number of rows");
  for (const double noise : variance.noise)
    KERF_REQUIRE(noise >= 0, data, "its noise has the variance {}, which is negative", noise);
  variance.weight = weight[0];
  variance.factor =
      unpacked_triangle(arrays.vector<double>("variance_factor"), std::ssize(variance.mean));
  for (Index i = 0; i < variance.factor.rows(); ++i)
    KERF_REQUIRE(variance.factor(i, i) > 0, data, "the factor of the variance is singular");
  return variance;
}

/// Scores that other versions may take in another way are none.
ConformalScores read_conformal(const Model& model, const json& header, ArrayReader& arrays) {
  KERF_REQUIRE(header.value("conformal", "") == conformal_score_name(model), data,
               "its calibration scores are of a kind that this kerf does not know");
  ConformalScores conformal;
  conformal.ranks = arrays.vector<Index>("conformal_ranks");
  conformal.scores = arrays.matrix<double>("conformal_scores");
  return conformal;
}

template <class T>
std::vector<T> narrowed(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

Index checked_index(const json& value, Index max) {
  const auto number = value.get<std::int64_t>();
  KERF_REQUIRE(number >= 0 && number <= max, data, "{} is not between 0 and {}", number, max);
  return number;
}

LinearStep read_step(const char* matrix, const char* offset, ArrayReader& arrays) {
  if (!arrays.has(matrix)) return {};
  Matrix<float> directions = arrays.matrix<float>(matrix);
  std::vector<float> offsets = arrays.vector<float>(offset);
  KERF_REQUIRE(directions.rows() >= 1 && directions.cols() >= 1 &&
                   directions.rows() == static_cast<Index>(offsets.size()),
               data, "{} offsets for {} rows of '{}'", offsets.size(), directions.rows(), matrix);
  return {std::move(directions), std::move(offsets)};
}

/// A model without "images" comes from kerf before there were image steps.
ImageSteps read_images(const json& header, ArrayReader& arrays) {
  const json images = header.value("images", json());
  if (images.is_null()) return {};
  constexpr Index kMaxSide = 1 << 16;
  ImageSteps steps;
  const auto side = [&](const json& value) { return checked_index(value, kMaxSide); };
  steps.input = {side(images.at("input").at(0)), side(images.at("input").at(1)),
                 side(images.at("input").at(2))};
  steps.factor = images.at("factor").get<float>();
  steps.height = side(images.at("crop").at(0));
  steps.width = side(images.at("crop").at(1));
  steps.per_image = images.at("per_image").get<bool>();
  steps.patch = side(images.at("patch"));
  steps.stride = side(images.at("stride"));
  steps.whitening = read_step("zca", "zca_offset", arrays);
  steps.patch_basis = read_step("patch_basis", "patch_offset", arrays);
  steps.check();
  return steps;
}

/// What a data-dependent map learned (and prediction needs); nothing for others.
std::shared_ptr<const MapState> read_state(const std::string& map, ArrayReader& arrays) {
  if (map == kExactMap || find_feature_map(map).fit == nullptr) return nullptr;
  auto state = std::make_shared<MapState>();
  for (const std::string& name : arrays.names(kMapPrefix))
    (*state)[name.substr(kMapPrefix.size())] = arrays.matrix<float>(name);
  return state;
}

TrainingRecord read_training(const json& from) {
  constexpr Index kMaxRows = Index{1} << 53;
  TrainingRecord training;
  training.version = from.at("version").get<std::string>();
  training.command = from.at("command").get<std::string>();
  training.rows = checked_index(from.at("rows"), kMaxRows);
  training.lambda = from.at("lambda").get<double>();
  training.identity = from.value("identity", "");
  training.target_scale = from.value("target_scale", std::vector<double>());
  training.asked = FitRequest::from_json(from.value("asked", json()));
  if (from.contains("quality") && !from.at("quality").is_null()) {
    const json& quality = from.at("quality");
    training.quality = {quality.at("metric").get<std::string>(), quality.at("value").get<double>(),
                        quality.at("constant").get<double>(), quality.at("chance").get<double>(),
                        quality.at("how").get<std::string>()};
  }
  // Earlier files have the number of folds instead of words: 0 for a lambda that was given.
  const Index folds = from.contains("folds") ? checked_index(from.at("folds"), kMaxRows) : 1;
  if (folds == 0 || from.at("cv_error").is_null()) return training;
  training.cv_error = from.at("cv_error").get<double>();
  training.validation = from.value(
      "validation", folds == training.rows ? std::string("leave-one-out")
                                           : fmt::format("{}-fold cross-validation", folds));
  training.metric = from.value("metric", "mean squared error");
  return training;
}

}  // namespace

Model read_parts(const json& header, std::string_view bytes) {
  Model model;
  constexpr Index kMaxColumns = Index{1} << 31;
  const json& recipe = header.at("recipe");
  model.recipe.map = recipe.at("map").get<std::string>();
  model.recipe.options = recipe.at("options").get<Params>();
  model.recipe.seed = recipe.at("seed").get<std::uint64_t>();
  model.recipe.in_dim = checked_index(recipe.at("in_dim"), kMaxColumns);
  const double common_factor = header.at("scaling").at("common_factor").get<double>();
  model.scaling.common_factor = static_cast<float>(common_factor);
  model.scaling.exact_common_factor = common_factor;
  model.scaling.unit_rows = header.at("scaling").at("unit_rows").get<bool>();
  if (!header.at("encoding").is_null())
    model.encoding = Encoding::from_json(header.at("encoding").dump());
  model.task = header.at("task") == "classification" ? Task::classification : Task::regression;
  model.classes = header.at("classes").get<std::vector<std::string>>();
  const json& image = header.at("image");
  model.image = {checked_index(image.at(0), kMaxColumns), checked_index(image.at(1), kMaxColumns),
                 checked_index(image.at(2), kMaxColumns)};
  model.is_sparse = header.at("sparse").get<bool>();
  // Files of the first version do not have it.
  if (const json t = header.value("temperature", json()); !t.is_null()) {
    model.temperature = t.get<double>();
    KERF_REQUIRE(std::isfinite(*model.temperature) && *model.temperature > 0 &&
                     model.task == Task::classification,
                 data, "its temperature is {}", *model.temperature);
  }
  model.training = read_training(header.at("training"));
  ArrayReader arrays(header.at("arrays"), bytes);
  model.scaling.exact_centre = arrays.vector<double>("centre");
  model.scaling.exact_factor = arrays.vector<double>("factor");
  model.scaling.centre = narrowed<float>(model.scaling.exact_centre);
  model.scaling.factor = narrowed<float>(model.scaling.exact_factor);
  if (arrays.has("lower")) {  // earlier files have no range
    model.scaling.lower = narrowed<float>(arrays.vector<double>("lower"));
    model.scaling.upper = narrowed<float>(arrays.vector<double>("upper"));
  }
  if (arrays.has("metric"))
    model.scaling.metric = std::make_shared<const Metric>(arrays.matrix<double>("metric"));
  model.linear.intercept = arrays.vector<double>("intercept");
  model.linear.weights = arrays.matrix<double>("weights");
  model.rows = read_rows(arrays, model.recipe.in_dim);
  model.images = read_images(header, arrays);
  if (arrays.has("variance_factor")) model.variance = read_variance(arrays);
  if (header.contains("conformal")) model.conformal = read_conformal(model, header, arrays);
  model.recipe.state = read_state(model.recipe.map, arrays);
  arrays.require_all_read();
  check_consistent(model);
  return model;
}

}  // namespace kerf::detail
