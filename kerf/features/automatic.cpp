// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/automatic.h"

#include "kerf/kernels/median_distance.h"

namespace kerf {
namespace {

double automatic_bandwidth(const Params& params, const DataSummary& summary,
                           const Scaling& scaling) {
  RowBlock rows;
  MemorySource(summary.sample.x(), {}, kSampleRows).next(rows);
  scaling.apply(rows);
  const auto kernel = params.find("kernel");
  return median_distance(rows.x(),
                         bandwidth_norm(kernel == params.end() ? "gaussian" : kernel->second));
}

}  // namespace

Params resolve_automatic(std::span<const OptionInfo> options, Params params,
                         const DataSummary& summary, const Scaling& scaling) {
  for (const OptionInfo& option : options) {
    if (option.type != OptionType::automatic) continue;
    const auto [entry, was_unset] = params.try_emplace(option.name, option.default_value);
    if (entry->second != "auto") continue;
    if (option.name == "bandwidth")
      entry->second = format_number(automatic_bandwidth(params, summary, scaling));
    else if (option.name == "bias")
      entry->second = format_number(scaling.typical_norm(summary));
  }
  return params;
}

}  // namespace kerf
