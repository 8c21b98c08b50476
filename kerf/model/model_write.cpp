// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "kerf/model/model_parts.h"

namespace kerf::detail {
namespace {

using nlohmann::json;

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

void add_step(const char* matrix, const char* offset, const LinearStep& step, ArrayWriter& arrays) {
  if (!step.present()) return;
  arrays.add(matrix, step.matrix().view());
  arrays.add(offset, std::span(step.offset()));
}

/// What a model of an exact kernel keeps of its training rows.
void add_rows(const InputRows& rows, ArrayWriter& arrays) {
  if (rows.wide.rows() > 0) return arrays.add("wide_rows", rows.wide.view());
  if (!rows.is_sparse) return arrays.add("rows", rows.dense.view());
  arrays.add("row_values", std::span(rows.sparse.values));
  arrays.add("row_columns", std::span(rows.sparse.columns));
  arrays.add("row_offsets", std::span(rows.sparse.offsets));
}

/// Whether rows come to it in double.
bool has_wide_rows(const Model& model) { return model.encoding && model.encoding->wide; }

}  // namespace

const char* conformal_score_name(const Model& model) {
  if (model.task == Task::classification) return "1 - probability, best class 0";
  return model.variance ? "|error| / deviation" : "|error|";
}

json header_of(const Model& model, const json& arrays) {
  const auto& [recipe, scaling, training] = std::tie(model.recipe, model.scaling, model.training);
  json header = {
      {"recipe",
       {{"map", recipe.map},
        {"options", recipe.options},
        {"seed", recipe.seed},
        {"in_dim", recipe.in_dim}}},
      {"scaling",
       {{"common_factor", has_wide_rows(model) && scaling.exact_common_factor != 0
                              ? scaling.exact_common_factor
                              : double{scaling.common_factor}},
        {"unit_rows", scaling.unit_rows}}},
      {"encoding", model.encoding ? json::parse(model.encoding->to_json()) : json()},
      {"task", name_of(model.task)},
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
  if (model.conformal) header["conformal"] = conformal_score_name(model);
  return header;
}

void add_arrays(const Model& model, ArrayWriter& arrays) {
  const Scaling& scaling = model.scaling;
  // Rounded where single precision is all that is wanted.
  if (has_wide_rows(model) && !scaling.exact_factor.empty()) {
    arrays.add_numbers("centre", scaling.exact_centre);
    arrays.add_numbers("factor", scaling.exact_factor);
  } else {
    arrays.add_numbers("centre", {scaling.centre.begin(), scaling.centre.end()});
    arrays.add_numbers("factor", {scaling.factor.begin(), scaling.factor.end()});
  }
  if (!scaling.lower.empty()) {
    arrays.add_numbers("lower", {scaling.lower.begin(), scaling.lower.end()});
    arrays.add_numbers("upper", {scaling.upper.begin(), scaling.upper.end()});
  }
  if (scaling.metric) arrays.add("metric", scaling.metric->factor.view());
  arrays.add("intercept", std::span(model.linear.intercept));
  arrays.add("weights", model.linear.weights.view());
  if (model.rows) add_rows(*model.rows, arrays);
  if (model.variance) {
    arrays.add("variance_mean", std::span(model.variance->mean));
    arrays.add("variance_noise", std::span(model.variance->noise));
    arrays.add_numbers("variance_weight", {model.variance->weight});
    arrays.add_numbers("variance_factor", packed_triangle(model.variance->factor));
  }
  if (model.conformal) {
    arrays.add("conformal_ranks", std::span(model.conformal->ranks));
    arrays.add("conformal_scores", model.conformal->scores.view());
  }
  add_step("zca", "zca_offset", model.images.whitening, arrays);
  add_step("patch_basis", "patch_offset", model.images.patch_basis, arrays);

  if (model.recipe.state)
    for (const auto& [name, array] : *model.recipe.state)
      arrays.add(std::string(kMapPrefix) + name, array.view());
}

}  // namespace kerf::detail
