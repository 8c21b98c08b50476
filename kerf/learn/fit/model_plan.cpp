// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/fit/model_plan.h"

#include "kerf/features/automatic.h"

namespace kerf::detail {
namespace {

/// Options that were not given get their defaults; beside a kernel's stands its name.
Params complete(const KernelEntry& kernel, Params params) {
  for (const OptionInfo& info : kernel.options()) params.try_emplace(info.name, info.default_value);
  return params;
}
Params complete(const FeatureMapEntry& map, const Params& params) { return map.complete(params); }

template <class Entry>
ModelPlan plan_with(const Entry& entry, const DataSummary& summary, const std::string& map,
                    const Params& map_options, const FitOptions& options) {
  const ScaleKind scale = resolve_scale(options.scale, summary, entry.convolves);
  Scaling scaling = make_scaling(scale, summary);
  scaling.metric = options.learned_metric;
  Params params = complete(entry, resolve_automatic(entry, map_options, summary, scaling));
  if (options.clip && !summary.image.present()) scaling.keep_range(summary);
  return {scale, std::move(scaling), {map, std::move(params), options.seed_of_map(), summary.cols}};
}

}  // namespace

ModelPlan plan_model(const DataSummary& summary, const std::string& map, const Params& map_options,
                     const FitOptions& options) {
  if (map == kExactMap)
    return plan_with(find_kernel(exact_kernel_name(map_options)), summary, map, map_options,
                     options);
  return plan_with(find_feature_map(map), summary, map, map_options, options);
}

}  // namespace kerf::detail
