// SPDX-License-Identifier: Apache-2.0
#include "kerf/insight/pages/score_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace kerf::detail {
namespace {

using Json = nlohmann::ordered_json;

/// A class by its name, a number as it is, several as a list.
Json value_json(const Model& model, const std::vector<double>& values) {
  if (model.task == Task::classification) return model.classes[values[0]];
  return values.size() == 1 ? Json(values[0]) : Json(values);
}

Json worst_json(const Model& model, const Score& score) {
  Json rows = Json::array();
  for (const WorstRow& row : score.worst) {
    rows.push_back({{"row", row.row},
                    {"target", value_json(model, row.target)},
                    {"predicted", value_json(model, row.predicted)},
                    {"error", row.error}});
    if (model.task == Task::classification) rows.back()["probability"] = 1 - row.error;
  }
  return rows;
}

/// A sum of weights; of rows that count once a whole number.
Json count_json(double count) {
  return count == std::floor(count) && count < 9e15 ? Json(static_cast<Index>(count)) : Json(count);
}

Json intervals_json(const TargetScore& target) {
  Json all = Json::array();
  for (const IntervalScore& one : target.intervals)
    all.push_back({{"kind", one.kind},
                   {"promised", one.promised},
                   {"coverage", one.coverage},
                   {"mean_width", one.width}});
  return all;
}

Json sets_json(const Score& score) {
  Json all = Json::array();
  for (const SetScore& one : score.sets)
    all.push_back({{"promised", one.promised},
                   {"coverage", one.coverage},
                   {"mean_size", one.size},
                   {"single", one.single}});
  return all;
}

/// Of targets that do not vary there is no share of a variance.
Json r2_json(double r2, bool varies) { return varies ? Json(r2) : Json(); }

Json targets_json(const Model& model, const Score& score) {
  Json all = Json::array();
  const std::vector<std::string> names = target_names(model);
  for (std::size_t t = 0; t < score.targets.size(); ++t) {
    const TargetScore& one = score.targets[t];
    all.push_back({{"target", names[t]},
                   {"mse", one.mse},
                   {"rmse", one.rmse},
                   {"r2", r2_json(one.r2, one.constant_rmse > 0)},
                   {"mae", one.mae},
                   {"median_error", one.median_error},
                   {"constant",
                    {{"rmse", one.constant_rmse},
                     {"r2", 0},
                     {"mae", one.constant_mae},
                     {"median_error", one.constant_median_error}}}});
    if (!one.intervals.empty()) all.back()["intervals"] = intervals_json(one);
  }
  return all;
}

Json regression_json(const Model& model, const Score& score) {
  const bool varies = std::ranges::any_of(
      score.targets, [](const TargetScore& one) { return one.constant_rmse > 0; });
  Json json = {{"rows", score.rows},
               {"mse", score.mse},
               {"rmse", score.rmse},
               {"r2", r2_json(score.r2, varies)},
               {"relative_rmse", score.relative_rmse}};
  if (score.targets.size() == 1) {
    const TargetScore& only = score.targets[0];
    json["mae"] = only.mae;
    json["median_error"] = only.median_error;
    json["constant"] = targets_json(model, score)[0]["constant"];
    if (!only.intervals.empty()) json["intervals"] = intervals_json(only);
  } else {
    json["targets"] = targets_json(model, score);
  }
  json["coverage90"] = score.coverage ? Json(*score.coverage) : Json();
  json["worst_error"] = worst_error_words(score);
  json["worst"] = worst_json(model, score);
  return json;
}

Json calibration_json(const Calibration& calibration) {
  Json bins = Json::array();
  for (const auto& bin : calibration.bins)
    bins.push_back({{"rows", count_json(bin.weight)},
                    {"probability", bin.weight > 0 ? Json(bin.confidence) : Json()},
                    {"accuracy", bin.weight > 0 ? Json(bin.accuracy) : Json()}});
  return {{"error", calibration.error}, {"bins", bins}};
}

Json classes_json(const Model& model, const Score& score) {
  Json all = Json::array();
  for (std::size_t c = 0; c < score.classes.size(); ++c) {
    const ClassScore& one = score.classes[c];
    all.push_back({{"class", model.classes[c]},
                   {"rows", count_json(one.weight)},
                   {"precision", one.precision},
                   {"recall", one.recall},
                   {"f1", one.f1}});
  }
  return all;
}

Json classification_json(const Model& model, const Score& score) {
  Json confusion = Json::array();
  for (Index i = 0; i < model.outputs(); ++i) {
    Json row = Json::array();
    for (const double count : score.confusion.row(i)) row.push_back(count_json(count));
    confusion.push_back(row);
  }
  Json constant = {{"accuracy", score.constant_accuracy},
                   {"balanced_accuracy", score.constant_balanced_accuracy},
                   {"log_loss", score.constant_log_loss}};
  Json json = {{"rows", score.rows},
               {"accuracy", score.accuracy},
               {"balanced_accuracy", score.balanced_accuracy},
               {"log_loss", score.log_loss ? Json(*score.log_loss) : Json()}};
  if (score.ranking) {
    json["auc"] = score.ranking->auc;
    json["average_precision"] = score.ranking->average_precision;
    constant["auc"] = 0.5;
    constant["average_precision"] = score.ranking->share;
  } else if (score.classes.size() == 2) {  // rows of one class have no order of two
    json["auc"] = json["average_precision"] = Json();
  }
  json["constant"] = constant;
  json["calibration"] = score.calibration ? calibration_json(*score.calibration) : Json();
  if (!score.sets.empty()) json["sets"] = sets_json(score);
  json["classes"] = model.classes;
  json["by_class"] = classes_json(model, score);
  json["confusion"] = confusion;
  json["worst_error"] = worst_error_words(score);
  json["worst"] = worst_json(model, score);
  return json;
}

}  // namespace

std::vector<std::string> target_names(const Model& model) {
  std::vector<std::string> names;
  const std::optional<Encoding>& encoding = model.encoding;
  for (Index t = 0; t < model.outputs(); ++t) {
    const bool named = encoding && t < std::ssize(encoding->targets);
    const std::string name = named ? encoding->columns[encoding->targets[t]].name : "";
    names.push_back(name.empty() ? fmt::format("target {}", t + 1) : name);
  }
  return names;
}

std::string worst_error_words(const Score& score) {
  if (score.task == Task::classification)
    return "1 - probability that the model gave to the true class";
  return score.targets.size() == 1
             ? "distance of prediction and target, in the target's unit"
             : "root of the summed squared distances of predictions and targets, in their units";
}

std::string to_json(const Model& model, const Score& score) {
  const Json json = score.task == Task::regression ? regression_json(model, score)
                                                   : classification_json(model, score);
  // Names of classes need not be UTF-8.
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kerf::detail
