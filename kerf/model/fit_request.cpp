// SPDX-License-Identifier: Apache-2.0
#include "kerf/model/fit_request.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "kerf/core/require.h"

namespace kerf::detail {

using nlohmann::json;

json FitRequest::to_json() const {
  if (!present()) return {};
  json out = {{"map", map}, {"map_options", map_options}, {"fit_options", fit_options}};
  if (!image_options.empty()) out["image_options"] = image_options;
  if (map_seed) out["map_seed"] = *map_seed;
  if (!class_weights.empty()) out["class_weights"] = class_weights;
  if (memory_limit > 0) out["memory_limit"] = memory_limit;
  return out;
}

FitRequest FitRequest::from_json(const json& from) {
  FitRequest request;
  if (from.is_null()) return request;
  request.map = from.at("map").get<std::string>();
  request.map_options = from.at("map_options").get<Params>();
  request.fit_options = from.at("fit_options").get<Params>();
  request.image_options = from.value("image_options", Params());
  if (from.contains("map_seed")) request.map_seed = from.at("map_seed").get<std::uint64_t>();
  request.class_weights = from.value("class_weights", std::vector<double>());
  for (const double weight : request.class_weights)
    KERF_REQUIRE(weight >= 0 && std::isfinite(weight), data, "a class has the weight {}", weight);
  request.memory_limit = from.value("memory_limit", Index{0});
  KERF_REQUIRE(request.memory_limit >= 0, data, "its memory limit is {}", request.memory_limit);
  return request;
}

}  // namespace kerf::detail
