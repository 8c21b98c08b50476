// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "kerf/core/require.h"
#include "kerf/model/model_parts.h"

namespace kerf::detail {

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
  if (const Metric* metric = scaling.metric.get())
    KERF_REQUIRE(metric->columns() == model.recipe.in_dim && metric->columns() > 0 &&
                     (metric->is_diagonal() || metric->factor.rows() == metric->columns()),
                 data, "its metric is a matrix of {} x {} for {} columns", metric->factor.rows(),
                 metric->columns(), columns);
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
  if (model.conformal)
    model.conformal->check(classification ? 1 : model.outputs(),
                           classification ? 1 : std::numeric_limits<double>::max());
  const auto& scale = model.training.target_scale;
  KERF_REQUIRE((scale.empty() || scale.size() == outputs) &&
                   std::ranges::all_of(scale, [](double s) { return s > 0 && std::isfinite(s); }),
               data, "{} scales of targets for {} outputs", scale.size(), outputs);
  if (!model.rows) return;
  const RowsView rows = model.rows->x();
  KERF_REQUIRE(rows.cols() == model.recipe.in_dim && rows.rows() == model.linear.weights.rows(),
               data, "{} x {} training rows for {} weights and {} columns", rows.rows(),
               rows.cols(), model.linear.weights.rows(), model.recipe.in_dim);
}

}  // namespace kerf::detail
