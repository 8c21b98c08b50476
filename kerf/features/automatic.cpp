// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/automatic.h"

#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"

namespace kerf::detail {
namespace {

Params resolve_with(void (*resolve)(OpenOptions&), Params params, const DataSummary& summary,
                    const Scaling& scaling) {
  const ScaledLook look(summary, scaling);
  OpenOptions open(params, look);
  if (resolve != nullptr) resolve(open);
  return params;
}

}  // namespace

double ScaledLook::typical_distance(DistanceNorm norm) const {
  std::optional<double>& known = norm == DistanceNorm::l1 ? l1_ : l2_;
  if (known) return *known;
  RowBlock rows;
  MemorySource(summary().sample.x(), {}, kSampleRows).next(rows);
  scaling_.apply(rows);
  known = median_distance(rows.x(), norm);
  return *known;
}

Params resolve_automatic(const FeatureMapEntry& map, Params params, const DataSummary& summary,
                         const Scaling& scaling) {
  return resolve_with(map.resolve, std::move(params), summary, scaling);
}

Params resolve_automatic(const KernelEntry& kernel, Params params, const DataSummary& summary,
                         const Scaling& scaling) {
  return resolve_with(kernel.resolve, std::move(params), summary, scaling);
}

std::string why_idle(std::span<const OptionInfo> options, const std::string& name,
                     const Params& complete) {
  const auto has = [&](const KernelEntry& kernel) {
    const auto own = kernel.options();
    return std::ranges::find(own, name, &OptionInfo::name) != own.end();
  };
  const auto kernel = complete.find("kernel");
  for (const KernelEntry& entry : kernels())
    if (kernel != complete.end() && entry.name == kernel->second && !has(entry) &&
        std::ranges::any_of(kernels(), has))
      return fmt::format("the kernel {} has no such option", kernel->second);
  const auto info = std::ranges::find(options, name, &OptionInfo::name);
  if (info == options.end() || info->needs.empty()) return "";
  const auto other = complete.find(info->needs);
  if (other == complete.end() ||
      std::ranges::find(info->needed_values, other->second) != info->needed_values.end())
    return "";
  return "it goes with " + spell(info->needs, info->needed_values);
}

Params without_idle(std::span<const OptionInfo> options, const Params& complete) {
  Params matter;
  for (const auto& [name, value] : complete)
    if (why_idle(options, name, complete).empty()) matter.emplace(name, value);
  return matter;
}

namespace {

/// Any number for what is left to the data.
Params with_numbers(const std::vector<OptionInfo>& options, Params params) {
  for (const OptionInfo& option : options)
    if (option.type == OptionType::automatic)
      if (std::string& value = params.try_emplace(option.name, "auto").first->second;
          value == "auto")
        value = "1";
  return params;
}

}  // namespace

bool ignores_offsets(const Kernel& kernel) {
  const PairGeometry geometry = kernel.form().geometry;
  return geometry != PairGeometry::any && geometry != PairGeometry::angle;
}

bool ignores_offsets(const FeatureMapEntry& map, const Params& options) try {
  Params known = options;
  known.erase("features");  // may be auto, and a kernel has none
  return ignores_offsets(*map.kernel(with_numbers(map.options(), map.complete(known))));
} catch (const Error&) {
  return false;
}

bool ignores_offsets(const KernelEntry& kernel, Params options) try {
  return ignores_offsets(*kernel.make(with_numbers(kernel.options(), std::move(options))));
} catch (const Error&) {
  return false;
}

bool features_are_zero(const FeatureMap& map, const DataSummary& summary, const Scaling& scaling) {
  RowBlock row;
  MemorySource rows(summary.sample.x(), {}, 1);
  std::vector<float> z(map.out_dim());
  while (rows.next(row)) {
    scaling.apply(row);
    map.transform(row.x(), {z.data(), 1, map.out_dim()});
    if (std::ranges::any_of(z, [](float v) { return v != 0; })) return false;
  }
  return summary.sample.rows() > 0;
}

std::string zero_features_warning(std::string_view map) {
  const bool has_bias = std::ranges::any_of(
      find_feature_map(map).options(), [](const OptionInfo& info) { return info.name == "bias"; });
  return fmt::format(
      "all features of the map {} are 0 on these rows: its network is dead, or the rows are; take "
      "more {}{} another {}{}",
      map, spell("features"), has_bias ? "," : " or", spell("seed"),
      has_bias ? " or a " + spell("bias") : "");
}

}  // namespace kerf::detail
