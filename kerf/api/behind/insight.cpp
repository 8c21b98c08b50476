// SPDX-License-Identifier: Apache-2.0
#include "kerf/api/insight.h"

#include <algorithm>

#include "kerf/api/behind/inside.h"
#include "kerf/core/require.h"
#include "kerf/insight/compare/compare.h"
#include "kerf/insight/measure/diagnose.h"
#include "kerf/insight/pages/insight_json.h"
#include "kerf/insight/plan/plan.h"
#include "kerf/learn/fit/journey.h"
#include "kerf/learn/fit/select.h"

namespace kerf {
namespace {

constexpr const char* kCommand = "kerf.h";  // what repeats it: no command line does

Estimate estimate_of(const detail::Interval& interval) {
  return {interval.mean, interval.low, interval.high};
}

/// The data with their sample of this seed, and columns as a fit of these maps would have them.
detail::Dataset& settled(Dataset& data, Index seed, detail::ScaleKind scale,
                         std::span<const MapSpec> maps, const Context& context) {
  detail::Dataset& rows = data.inside().to_learn_from(static_cast<std::uint64_t>(seed), context);
  detail::settle_columns(rows, scale, std::ranges::all_of(maps, [](const MapSpec& map) {
                           return detail::sees_differences(map.name, map.options);
                         }));
  return rows;
}

/// "rff with features=512".
std::string in_words(const std::string& map, Index features) {
  return features > 0 ? fmt::format("{} with features={}", map, features) : map;
}

}  // namespace

Diagnosis diagnose(Dataset& data, const MapSpec& map, const std::vector<Index>& features,
                   const DiagnoseOptions& options, const Context& context) {
  const auto read = detail::read_options<detail::DiagnoseOptions>(options.params(), "diagnose");
  const auto& entry = detail::find_feature_map(map.name);
  const Params params = detail::rows_as_they_are(entry.options(), map.options);
  entry.complete(params);
  detail::Dataset& rows = settled(data, read.seed, read.scale, {&map, 1}, context);
  const auto found = detail::diagnose(*rows.source, rows.summary, map.name, params, features, read,
                                      context.memory_limit, context.progress);
  Diagnosis diagnosis{.sizes = {},
                      .statistical_dimension = found.statistical_dimension,
                      .warnings = found.warnings,
                      .written = {to_json(found), diagnose_report(found, kCommand)}};
  for (const auto& size : found.sizes)
    diagnosis.sizes.push_back({size.features, estimate_of(quality_interval(size.maps, "epsilon")),
                               estimate_of(quality_interval(size.maps, "relative_frobenius")),
                               estimate_of(quality_interval(size.maps, "condition_number"))});
  return diagnosis;
}

Plan plan(Dataset& data, const MapSpec& map, const PlanOptions& options, const Context& context) {
  const auto read = detail::read_options<detail::PlanOptions>(options.params(), "plan");
  KERF_REQUIRE(!map.options.contains("features"), usage,
               "a plan finds the number of features: the map must not say it");
  detail::Dataset& rows = settled(data, read.seed, read.scale, {&map, 1}, context);
  const auto found = detail::make_plan(*rows.source, rows.summary, map.name, map.options, read,
                                       context.memory_limit, context.progress);
  const std::string take = in_words(map.name, found.features.value_or(0));
  return {.features = found.features,
          .extrapolated = found.extrapolated,
          .reason = found.reason,
          .warnings = found.warnings,
          .written = {to_json(found, take), plan_report(found, take, kCommand)}};
}

Comparison compare(Dataset& data, const std::vector<MapSpec>& maps,
                   const std::vector<Index>& features, const CompareOptions& options,
                   const FitOptions& fit, const Context& context) {
  const auto read = detail::read_options<detail::CompareOptions>(options.params(), "compare");
  const auto fit_read = detail::read_options<detail::FitOptions>(fit.params(), "compare");
  std::vector<detail::MapSpec> specs;
  for (const MapSpec& map : maps) specs.push_back({map.name, map.name, map.options});
  specs = detail::with_common_options(std::move(specs), {});
  detail::Dataset& rows = settled(data, fit_read.seed, fit_read.scale, maps, context);
  const auto found =
      detail::compare_maps(*rows.source, rows.summary, specs, features, read, fit_read, nullptr,
                           context.memory_limit, context.progress);
  const auto& best = found.entries[found.recommended];
  const std::string take = in_words(best.spec.label, best.features);
  Comparison comparison{.entries = {},
                        .recommended = found.recommended,
                        .recommendation = found.recommendation,
                        .warnings = found.warnings,
                        .written = {to_json(found, take), compare_report(found, take, kCommand)}};
  for (const auto& entry : found.entries)
    comparison.entries.push_back({entry.spec.label, entry.features, estimate_of(entry.error()),
                                  estimate_of(entry.seconds()), entry.memory, entry.on_front});
  return comparison;
}

Selection select_rows(Dataset& data, const MapSpec& map, const SelectOptions& options,
                      const Context& context) {
  const auto read = detail::read_options<detail::SelectOptions>(options.params(), "select");
  detail::find_feature_map(map.name).complete(map.options);
  detail::Dataset& rows =
      data.inside().to_learn_from(static_cast<std::uint64_t>(read.seed), context);
  auto selected = detail::select_rows(rows, map.name, map.options, read, context);
  Selection selection{std::move(selected.rows), std::nullopt};
  if (read.method == detail::DesignMethod::greedy) {
    double explained = 0;
    for (const double gain : selected.design.gains) explained += gain;
    selection.explained = explained / selected.design.total;
  }
  return selection;
}

}  // namespace kerf
