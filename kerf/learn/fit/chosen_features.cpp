// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/fit/chosen_features.h"

#include <fmt/format.h>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/features/linear_features.h"
#include "kerf/learn/choice/sparse_choice.h"
#include "kerf/learn/fit/fit_kinds.h"
#include "kerf/learn/fit/journey.h"

namespace kerf::detail {
namespace {

/// By map_choice.h, as in a fit with features.
ChosenFeatures choose_features(Dataset& data, const FeaturesAsked& asked, const Context& context) {
  KERF_REQUIRE(data.summary.targets > 0, usage,
               "{} compares maps by how well they predict a target, and these rows have none: name "
               "the target, or the map",
               spell("map", "auto"));
  FitOptions options;
  options.scale = asked.scale;
  options.seed = asked.seed;
  options.needs_features = true;
  SparseChoice sparse;
  if (data.summary.is_sparse && !data.summary.image.present()) {
    sparse = choose_for_sparse(data.summary, options, context.progress);
    options.scale = sparse.scale;
  }
  const FitJob job{*data.source, data.summary, options, context.memory_limit, context.progress};
  if (auto linear = prefers_linear(job, asked.options, sparse))
    return {LinearFeatures::kName, {}, options.scale, std::move(linear->reason)};
  MapChoice choice = choose_feature_map(job, asked.options);
  Params complete = choice.winner().options;
  if (const auto features = asked.options.find("features"); features != asked.options.end())
    complete["features"] = features->second;
  return {choice.winner().map, std::move(complete), options.scale, std::move(choice.reason)};
}

}  // namespace

void require_features(const std::string& map) {
  KERF_REQUIRE(
      map != kExactMap, usage,
      "{} is the kernel itself and has no features, which this needs; {} has features of any "
      "kernel",
      spell("map", map), spell("map", "nystrom"));
}

ChosenFeatures features_for(Dataset& data, const FeaturesAsked& asked, const Context& context) {
  settle_columns(data, asked.scale, sees_differences(asked.map, asked.options));
  if (asked.map == kAutoMap) return choose_features(data, asked, context);
  return {asked.map, asked.options, asked.scale, ""};
}

}  // namespace kerf::detail
