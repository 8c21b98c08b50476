// SPDX-License-Identifier: Apache-2.0
#include "kerf/model/model_file.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kerf/core/require.h"
#include "kerf/core/shallow_json.h"
#include "kerf/core/system/atomic_file.h"
#include "kerf/model/model_arrays.h"

namespace kerf::detail {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "model files are little-endian");

constexpr char kMagic[9] = "KERFMODL";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kPreamble = 16, kChecksum = 4;

std::uint32_t checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

template <class T>
void append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// ---- writing ------------------------------------------------------------------------------------

json images_json(const ImageSteps& steps) {
  if (!steps.present()) return {};
  return {{"input", {steps.input.height, steps.input.width, steps.input.channels}},
          {"factor", steps.factor},
          {"crop", {steps.height, steps.width}},
          {"per_image", steps.per_image},
          {"patch", steps.patch},
          {"stride", steps.stride}};
}

json quality_json(const std::optional<FitQuality>& quality) {
  if (!quality) return {};
  return {{"metric", quality->metric},
          {"value", quality->value},
          {"constant", quality->constant},
          {"chance", quality->chance},
          {"how", quality->how}};
}

json header_of(const Model& model, const json& arrays) {
  const auto& [recipe, scaling, training] = std::tie(model.recipe, model.scaling, model.training);
  return {
      {"recipe",
       {{"map", recipe.map},
        {"options", recipe.options},
        {"seed", recipe.seed},
        {"in_dim", recipe.in_dim}}},
      {"scaling", {{"common_factor", scaling.common_factor}, {"unit_rows", scaling.unit_rows}}},
      {"encoding", model.encoding ? json::parse(model.encoding->to_json()) : json()},
      {"task", model.task == Task::classification ? "classification" : "regression"},
      {"classes", model.classes},
      {"image", {model.image.height, model.image.width, model.image.channels}},
      {"images", images_json(model.images)},
      {"sparse", model.is_sparse},
      {"temperature", model.temperature ? json(*model.temperature) : json()},
      {"training",
       {{"version", training.version},
        {"command", training.command},
        {"rows", training.rows},
        {"lambda", training.lambda},
        {"cv_error", training.cv_error ? json(*training.cv_error) : json()},
        {"validation", training.validation},
        {"metric", training.metric},
        {"identity", training.identity},
        {"target_scale", training.target_scale},
        {"asked", training.asked.to_json()},
        {"quality", quality_json(training.quality)}}},
      {"arrays", arrays},
  };
}

void add_step(const char* matrix, const char* offset, const LinearStep& step, ArrayWriter& arrays) {
  if (!step.present()) return;
  arrays.add(matrix, step.matrix().view());
  arrays.add(offset, std::span(step.offset()));
}

/// What a model of an exact kernel keeps of its training rows.
void add_rows(const KeptRows& rows, ArrayWriter& arrays) {
  if (rows.wide.rows() > 0) return arrays.add("wide_rows", rows.wide.view());
  if (!rows.is_sparse) return arrays.add("rows", rows.dense.view());
  arrays.add("row_values", std::span(rows.sparse.values));
  arrays.add("row_columns", std::span(rows.sparse.columns));
  arrays.add("row_offsets", std::span(rows.sparse.offsets));
}

// ---- reading ------------------------------------------------------------------------------------

/// The first bytes of a model of a version that we read.
void check_preamble(std::string_view bytes, const std::string& name) {
  KERF_REQUIRE(bytes.size() >= kPreamble && std::memcmp(bytes.data(), kMagic, 8) == 0, data,
               "{} is not a kerf model", name);
  std::uint32_t version = 0;
  std::memcpy(&version, bytes.data() + 8, 4);
  KERF_REQUIRE(version == kVersion, data, "{} is a model of format {}, this kerf reads format {}",
               name, version, kVersion);
}

void check_whole(std::string_view bytes, const std::string& name) {
  std::uint32_t stored = 0;
  const bool whole = bytes.size() > kPreamble + kChecksum;
  if (whole) std::memcpy(&stored, bytes.data() + bytes.size() - kChecksum, kChecksum);
  KERF_REQUIRE(whole && checksum(bytes.substr(0, bytes.size() - kChecksum)) == stored, data,
               "the model {} is damaged (truncated or altered): its checksum does not match", name);
}

/// The bytes of a file; one that is no model is not read whole.
std::string read_file(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  KERF_REQUIRE(!error && file, data, "cannot read the model {}: {}", path,
               error ? error.message() : "it cannot be opened");
  std::string bytes(std::min<std::uintmax_t>(size, kPreamble), '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  check_preamble(bytes, path);
  bytes.resize(size);
  file.read(bytes.data() + kPreamble, static_cast<std::streamsize>(size - kPreamble));
  bytes.resize(kPreamble + static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return bytes;
}

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
void read_wide_rows(ArrayReader& arrays, KeptRows& rows) {
  rows.wide = arrays.matrix<double>("wide_rows");
  rows.dense.resize(rows.wide.rows(), rows.wide.cols());
  for (Index i = 0; i < rows.wide.rows(); ++i)
    for (Index j = 0; j < rows.wide.cols(); ++j)
      rows.dense(i, j) = static_cast<float>(rows.wide(i, j));
}

std::optional<KeptRows> read_rows(ArrayReader& arrays, Index cols) {
  KeptRows rows;
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

constexpr std::string_view kMapPrefix = "map.";

/// What a data-dependent map learned (and prediction needs); nothing for others.
std::shared_ptr<const MapState> read_state(const std::string& map, ArrayReader& arrays) {
  if (map == kExactMap || find_feature_map(map).fit == nullptr) return nullptr;
  auto state = std::make_shared<MapState>();
  for (const std::string& name : arrays.names(kMapPrefix))
    (*state)[name.substr(kMapPrefix.size())] = arrays.matrix<float>(name.c_str());
  return state;
}

void check_consistent(const Model& model) {
  const auto columns = static_cast<std::size_t>(model.recipe.in_dim);
  const bool classification = model.task == Task::classification;
  const auto outputs = static_cast<std::size_t>(model.outputs());
  KERF_REQUIRE(outputs >= 1 && model.linear.weights.cols() == model.outputs(), data,
               "{} intercepts for {} columns of weights", outputs, model.linear.weights.cols());
  KERF_REQUIRE(!classification || model.classes.size() == outputs, data,
               "{} classes for {} outputs", model.classes.size(), outputs);
  KERF_REQUIRE(!model.encoding ||
                   (model.encoding->inputs == model.input_columns() &&
                    model.encoding->task == model.task && model.encoding->classes == model.classes),
               data, "the encoding of its columns does not fit the model");
  KERF_REQUIRE(
      !model.encoding || classification || model.encoding->target_count() == model.outputs(), data,
      "{} target columns for {} outputs", model.encoding->target_count(), outputs);
  const Scaling& scaling = model.scaling;
  KERF_REQUIRE(scaling.centre.size() == scaling.factor.size() &&
                   (scaling.factor.empty() || scaling.factor.size() == columns),
               data, "the scaling is for {} columns, the map for {}", scaling.factor.size(),
               columns);
  const bool in_order = std::ranges::equal(scaling.lower, scaling.upper, [](float a, float b) {
    return std::isfinite(a) && std::isfinite(b) && a <= b;
  });
  KERF_REQUIRE(in_order && (scaling.lower.empty() || scaling.lower.size() == columns), data,
               "the range of its columns is not one of {} columns", columns);
  KERF_REQUIRE(std::isfinite(scaling.common_factor), data, "the scaling factor is not finite");
  KERF_REQUIRE(!model.images.present() || values_of(model.images.output()) == model.recipe.in_dim,
               data, "its images have {} values, its map takes {}",
               values_of(model.images.output()), model.recipe.in_dim);
  // Before a map is made, which may be large: one that learned nothing makes what its options say.
  const auto features = model.recipe.options.find("features");
  const auto made =
      features == model.recipe.options.end() ? std::nullopt : parse_number(features->second);
  KERF_REQUIRE(model.recipe.state || model.rows || !made ||
                   *made == static_cast<double>(model.linear.weights.rows()),
               data, "it has weights for {} features, but its map makes {}",
               model.linear.weights.rows(), features->second);
  KERF_REQUIRE((model.recipe.map == kExactMap) == model.rows.has_value(), data,
               "the map {} goes {} rows of training", model.recipe.map,
               model.rows ? "without" : "with");
  KERF_REQUIRE(
      !model.variance ||
          (std::ssize(model.variance->mean) == model.linear.weights.rows() &&
           std::ssize(model.variance->noise) == model.outputs() && !model.rows && !classification),
      data, "the variance does not fit the model");
  const auto& scale = model.training.target_scale;
  KERF_REQUIRE((scale.empty() || scale.size() == outputs) &&
                   std::ranges::all_of(scale, [](double s) { return s > 0 && std::isfinite(s); }),
               data, "{} scales of targets for {} outputs", scale.size(), outputs);
  if (!model.rows) return;
  const RowsView rows = model.rows->view();
  KERF_REQUIRE(rows.cols() == model.recipe.in_dim && rows.rows() == model.linear.weights.rows(),
               data, "{} x {} training rows for {} weights and {} columns", rows.rows(),
               rows.cols(), model.linear.weights.rows(), model.recipe.in_dim);
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

Model parse(std::string_view bytes) {
  std::uint32_t header_bytes = 0;
  std::memcpy(&header_bytes, bytes.data() + 12, 4);
  bytes.remove_prefix(kPreamble);
  bytes.remove_suffix(kChecksum);
  KERF_REQUIRE(header_bytes <= bytes.size(), data, "its header is longer than the file");
  const json header = parse_shallow_json<json>(bytes.substr(0, header_bytes));
  bytes.remove_prefix(header_bytes);

  Model model;
  constexpr Index kMaxColumns = Index{1} << 31;
  const json& recipe = header.at("recipe");
  model.recipe.map = recipe.at("map").get<std::string>();
  model.recipe.options = recipe.at("options").get<Params>();
  model.recipe.seed = recipe.at("seed").get<std::uint64_t>();
  model.recipe.in_dim = checked_index(recipe.at("in_dim"), kMaxColumns);
  model.scaling.common_factor = header.at("scaling").at("common_factor").get<float>();
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
  model.scaling.centre = narrowed<float>(arrays.vector<double>("centre"));
  model.scaling.factor = narrowed<float>(arrays.vector<double>("factor"));
  if (arrays.has("lower")) {  // earlier files have no range
    model.scaling.lower = narrowed<float>(arrays.vector<double>("lower"));
    model.scaling.upper = narrowed<float>(arrays.vector<double>("upper"));
  }
  model.linear.intercept = arrays.vector<double>("intercept");
  model.linear.weights = arrays.matrix<double>("weights");
  model.rows = read_rows(arrays, model.recipe.in_dim);
  model.images = read_images(header, arrays);
  if (arrays.has("variance_factor")) model.variance = read_variance(arrays);
  model.recipe.state = read_state(model.recipe.map, arrays);
  arrays.require_all_read();
  check_consistent(model);
  return model;
}

}  // namespace

namespace {

/// Error if the file that would be written could not be read again.
void check_readable(const Model& model, const ArrayWriter& arrays) {
  const std::string array = arrays.first_not_finite();
  KERF_REQUIRE(array.empty(), numeric, "array '{}' holds a number that is not finite", array);
  KERF_REQUIRE(std::isfinite(model.training.lambda), numeric, "lambda is not finite");
  KERF_REQUIRE(!model.temperature || (std::isfinite(*model.temperature) && *model.temperature > 0),
               numeric, "the temperature of its probabilities is {}", *model.temperature);
  check_consistent(model);
  if (model.encoding) model.encoding->validate();
}

}  // namespace

std::string model_to_bytes(const Model& model) {
  const std::vector<double> centre(model.scaling.centre.begin(), model.scaling.centre.end());
  const std::vector<double> factor(model.scaling.factor.begin(), model.scaling.factor.end());
  ArrayWriter arrays;
  arrays.add("centre", std::span(centre));
  arrays.add("factor", std::span(factor));
  const std::vector<double> lower(model.scaling.lower.begin(), model.scaling.lower.end());
  const std::vector<double> upper(model.scaling.upper.begin(), model.scaling.upper.end());
  if (!lower.empty()) {
    arrays.add("lower", std::span(lower));
    arrays.add("upper", std::span(upper));
  }
  arrays.add("intercept", std::span(model.linear.intercept));
  arrays.add("weights", model.linear.weights.view());
  if (model.rows) add_rows(*model.rows, arrays);
  std::vector<double> triangle;
  if (model.variance) {
    triangle = packed_triangle(model.variance->factor);
    arrays.add("variance_mean", std::span(model.variance->mean));
    arrays.add("variance_noise", std::span(model.variance->noise));
    arrays.add("variance_weight", std::span(&model.variance->weight, 1));
    arrays.add("variance_factor", std::span<const double>(triangle));
  }
  add_step("zca", "zca_offset", model.images.whitening, arrays);
  add_step("patch_basis", "patch_offset", model.images.patch_basis, arrays);

  if (model.recipe.state)
    for (const auto& [name, array] : *model.recipe.state)
      arrays.add((std::string(kMapPrefix) + name).c_str(), array.view());

  try {
    check_readable(model, arrays);
  } catch (const Error& error) {
    fail(error.kind(), "the model was not written, because it could not be read again: {}",
         error.what());
  }
  // The command holds names of files, which may be any bytes: it is a note, not worth a model.
  const std::string header =
      header_of(model, arrays.list()).dump(-1, ' ', false, json::error_handler_t::replace);
  std::string bytes(kMagic, 8);
  append(bytes, kVersion);
  append(bytes, static_cast<std::uint32_t>(header.size()));
  bytes += header;
  arrays.append_to(bytes);
  append(bytes, checksum(bytes));
  return bytes;
}

void save_model(const Model& model, const std::string& path) {
  const std::string bytes = model_to_bytes(model);
  AtomicFile file(path);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

Model model_from_bytes(std::string_view bytes, const std::string& name) {
  check_preamble(bytes, name);
  check_whole(bytes, name);
  try {
    Model model = parse(bytes);
    model.from_file = true;
    return model;
  } catch (const Error& error) {
    fail(ErrorKind::data, "the model {} is not valid: {}", name, error.what());
  } catch (const json::exception& error) {
    fail(ErrorKind::data, "the model {} is not valid: {}", name, json_words(error));
  }
}

Model load_model(const std::string& path) { return model_from_bytes(read_file(path), path); }

}  // namespace kerf::detail
