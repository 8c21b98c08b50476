// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/automatic.h"

#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/core/rows/image_text.h"
#include "kerf/features/learned/tefm_features.h"
#include "kerf/features/network/split_network.h"
#include "kerf/kernels/skeleton/skeleton_text.h"

namespace kerf::detail {
namespace {

/// Columns that were one text column: in every row one of them is 1, so that their means sum to 1.
std::vector<std::vector<Index>> one_hot_groups(const DataSummary& summary) {
  std::vector<std::vector<Index>> groups;
  double sum = 1;
  for (std::size_t k = 0; k < summary.one_hot.size(); ++k) {
    if (!summary.one_hot[k]) {
      sum = 1;
      continue;
    }
    if (sum > 1 - 1e-9) {
      groups.emplace_back();
      sum = 0;
    }
    groups.back().push_back(static_cast<Index>(k));
    sum += summary.mean[k];
  }
  return groups;
}

const std::string& value_of(const OptionInfo& option, const Params& params) {
  const auto found = params.find(option.name);
  return found == params.end() ? option.default_value : found->second;
}

bool splits_by_itself(const Params& params, Index cols) {
  const auto options = read_options<NtkMapOptions>(params, "map ntk-rf");
  return SplitNetwork::pays(direction_dim(cols, options.bias.value_or(1)), options);
}

/// The base map's own options of tefm, a split that is left to chance settled.  (Model files from
/// before have none here, and the rule of SplitNetwork::splits().)
std::string settled_base_options(const Params& params, Index cols) {
  const auto options = read_options<TefmOptions>(params, TefmFeatures::kOwner);
  const Params base = TefmFeatures::base_params(options);
  const auto split = base.find("split");
  if (split == base.end() || split->second != "auto") return options.base_options;
  return options.base_options + (options.base_options.empty() ? "" : ",") +
         (splits_by_itself(base, cols) ? "split=true" : "split=false");
}

}  // namespace

double typical_distance(const DataSummary& summary, const Scaling& scaling, DistanceNorm norm) {
  RowBlock rows;
  MemorySource(summary.sample.x(), {}, kSampleRows).next(rows);
  scaling.apply(rows);
  return median_distance(rows.x(), norm);
}

Params resolve_automatic(std::span<const OptionInfo> options, Params params,
                         const DataSummary& summary, const Scaling& scaling) {
  for (const OptionInfo& option : options) {
    if (option.name == "image" && value_of(option, params) == "auto") {
      const ImageShape table{1, 1, summary.cols};
      params["image"] = format_image_shape(summary.image.present() ? summary.image : table);
    }
    if (option.name == "features" && value_of(option, params) == "0")
      params["features"] = std::to_string(summary.cols);
    if (option.name == "skeleton" && params.contains("skeleton"))
      params["skeleton"] = fill_table_skeleton(load_skeleton_text(params["skeleton"]), summary.cols,
                                               one_hot_groups(summary));
    if (option.name == "split" && value_of(option, params) == "auto")
      params["split"] = splits_by_itself(params, summary.cols) ? "true" : "false";
    if (option.name == "base-options" && params.contains("base"))
      params["base-options"] = settled_base_options(params, summary.cols);
    if (option.type != OptionType::automatic) continue;
    const auto [entry, was_unset] = params.try_emplace(option.name, option.default_value);
    if (entry->second != "auto") continue;
    if (option.name == "bandwidth") {
      const auto kernel = params.find("kernel");
      const auto norm = bandwidth_norm(kernel == params.end() ? "gaussian" : kernel->second);
      entry->second = format_number(typical_distance(summary, scaling, norm));
    }
    if (option.name == "bias") entry->second = format_number(scaling.typical_norm(summary));
  }
  return params;
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
  return fmt::format("it goes with --{} {}", info->needs, fmt::join(info->needed_values, " or "));
}

Params without_idle(std::span<const OptionInfo> options, const Params& complete) {
  Params matter;
  for (const auto& [name, value] : complete)
    if (why_idle(options, name, complete).empty()) matter.emplace(name, value);
  return matter;
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
  return fmt::format(
      "all features of the map {} are 0 on these rows: its network is dead, or the rows are; take "
      "more --features, another --seed or a --bias",
      map);
}

}  // namespace kerf::detail
