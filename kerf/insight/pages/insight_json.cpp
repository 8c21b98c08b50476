// SPDX-License-Identifier: Apache-2.0
#include "kerf/insight/pages/insight_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kerf/core/option_value.h"
#include "kerf/core/system/memory.h"

namespace kerf::detail {
namespace {

using Json = nlohmann::ordered_json;

Json options_json(const Params& options) { return options_as<Json>(options); }

/// Names of files and columns need not be UTF-8.
std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

Json quality_json(const KernelQuality& quality) {
  Json json;
  for (const auto& metric : quality_metrics()) json[metric.name] = metric.value(quality);
  json["smallest"] = quality.spectral.smallest;
  json["largest"] = quality.spectral.largest;
  json["converged"] = quality.converged;
  return json;
}

Json size_json(const Diagnosis::Size& size) {
  Json json = {{"features", size.features}}, intervals, maps = Json::array();
  for (const auto& metric : quality_metrics()) {
    const Interval found = quality_interval(size.maps, metric.name);
    json[metric.name] = found.mean;
    intervals[metric.name] = {found.low, found.high};
  }
  for (const auto& map : size.maps) maps.push_back(quality_json(map));
  json["intervals"] = intervals;
  json["by_seed"] = maps;
  return json;
}

Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json interval_json(const Interval& found) {
  return {{"mean", found.mean}, {"sd", found.sd}, {"low", found.low}, {"high", found.high}};
}

Json entry_json(const Comparison& c, const Comparison::Entry& entry) {
  Json json = {{"map", entry.spec.label},
               {"features", entry.features > 0 ? Json(entry.features) : Json()},
               {"options", options_json(entry.options)},
               {"error", interval_json(entry.error())},
               {"seconds", interval_json(entry.seconds())},
               {"memory_bytes", entry.memory},
               {"pareto", entry.on_front}};
  if (c.task == Task::classification) json["accuracy"] = 1 - entry.error().mean;
  for (const char* metric : {"relative_frobenius", "spectral_error", "epsilon", "condition_number"})
    if (const auto found = entry.quality(metric)) json[metric] = interval_json(*found);
  Json runs = Json::array();
  for (const auto& run : entry.runs) {
    runs.push_back({{"error", run.error}, {"seconds", run.seconds}, {"lambda", run.lambda}});
    if (c.task == Task::regression) runs.back()["r2"] = run.r2;
    if (run.quality) runs.back()["converged"] = run.quality->converged;
  }
  json["by_seed"] = runs;
  return json;
}

}  // namespace

std::string to_json(const Diagnosis& d) {
  Json json = {{"map", d.map},
               {"options", options_json(d.options)},
               {"rows", d.rows},
               {"columns", d.cols},
               {"sample", d.sample},
               {"lambda", d.lambda},
               {"statistical_dimension", d.statistical_dimension},
               {"mean_diagonal", d.mean_diagonal},
               {"seeds", d.seeds}};
  json.update(size_json(d.sizes.back()));
  json["says"] = describe_quality(d);
  if (!d.warnings.empty()) json["warnings"] = d.warnings;
  json["spectrum"] = d.spectrum;
  json["spectrum_of_features"] = d.sizes.back().maps.front().spectrum;
  for (const auto& size : d.sizes) json["sizes"].push_back(size_json(size));
  json["seconds"] = d.seconds;
  json["peak_memory_bytes"] = peak_memory();
  return text_of(json);
}

std::string to_json(const Plan& plan, const std::string& fit) {
  Json sizes = Json::array(), bounds = Json::array(), costs = Json::array();
  for (const auto& size : plan.sizes)
    sizes.push_back({{"features", size.features}, {"values", size.values}, {"limit", size.limit}});
  for (const auto& bound : plan.bounds)
    bounds.push_back({{"name", bound.name},
                      {"features", bound.features},
                      {"formula", bound.formula},
                      {"note", bound.note}});
  for (const auto& cost : plan.costs)
    costs.push_back({{"features", cost.features},
                     {"seconds", cost.seconds},
                     {"memory_bytes", cost.memory},
                     {"solver", cost.solver}});
  Json json = {{"goal", name_of(plan.goal)},
               {"target", plan.target},
               {"features", plan.features ? Json(*plan.features) : Json()},
               {"extrapolated", plan.extrapolated},
               {"reason", plan.reason},
               {"command", plan.features ? Json(fit) : Json()},
               {"map", plan.map},
               {"options", options_json(plan.options)},
               {"rows", plan.rows},
               {"columns", plan.cols},
               {"sample", plan.sample},
               {"lambda", number_or_null(plan.lambda)},
               {"statistical_dimension", number_or_null(plan.statistical_dimension)},
               {"slope", plan.slope},
               {"measured", sizes},
               {"bounds", bounds},
               {"costs", costs},
               {"seconds", plan.seconds},
               {"peak_memory_bytes", peak_memory()}};
  if (!plan.warnings.empty()) json["warnings"] = plan.warnings;
  return text_of(json);
}

std::string to_json(const Comparison& c, const std::string& fit) {
  Json json = {{"task", name_of(c.task)},
               {"rows", c.rows},
               {"columns", c.cols},
               {"sample", c.sample},
               {"error_is", fmt::format("{}, {}", c.error_name(), c.validation)},
               {"kernel_lambda", c.kernel_lambda}};
  for (const auto& entry : c.entries) json["results"].push_back(entry_json(c, entry));
  const auto& best = c.entries[c.recommended];
  json["recommendation"] = {{"map", best.spec.label},
                            {"features", best.features > 0 ? Json(best.features) : Json()},
                            {"says", c.recommendation},
                            {"command", fit}};
  if (!c.warnings.empty()) json["warnings"] = c.warnings;
  json["seconds"] = c.seconds;
  json["peak_memory_bytes"] = peak_memory();
  return text_of(json);
}

}  // namespace kerf::detail
