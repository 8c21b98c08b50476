// Options that are worked out from the data, options that cannot matter, and a look at what a map
// makes of the rows.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/options.h"
#include "kerf/core/rows/data_summary.h"
#include "kerf/features/feature_map.h"
#include "kerf/features/scaling.h"
#include "kerf/kernels/gram/median_distance.h"

namespace kerf::detail {

/// The sample of a summary, scaled.
class ScaledLook final : public DataLook {
 public:
  /// Both must outlive it.
  ScaledLook(const DataSummary& summary, const Scaling& scaling)
      : DataLook(summary), scaling_(scaling) {}

  double typical_distance(DistanceNorm norm) const override;
  double typical_length() const override { return scaling_.typical_norm(summary()); }

 private:
  const Scaling& scaling_;
  mutable std::optional<double> l1_, l2_;  // half a million distances each
};

/// `params` with every "auto" of the map's or kernel's options worked out, as their own resolve()
/// says; options that have none stay as they are.
Params resolve_automatic(const FeatureMapEntry& map, Params params, const DataSummary& summary,
                         const Scaling& scaling);
Params resolve_automatic(const KernelEntry& kernel, Params params, const DataSummary& summary,
                         const Scaling& scaling);

/// Why the option `name` cannot matter where all have the values `complete`: it belongs to another
/// kernel than --kernel names, or goes with another value of some option.  "" if it matters.
std::string why_idle(std::span<const OptionInfo> options, const std::string& name,
                     const Params& complete);

/// `complete` without the options that cannot matter, for people to read.
Params without_idle(std::span<const OptionInfo> options, const Params& complete);

/// Whether a kernel is of differences of rows: a constant may be taken off all of them.
bool ignores_offsets(const Kernel& kernel);
/// The same of the kernel that a map has with these options, in which anything may be left to the data;
/// false for options that the map will refuse.
bool ignores_offsets(const FeatureMapEntry& map, const Params& options);
bool ignores_offsets(const KernelEntry& kernel, Params options);

/// Whether all features of all rows of the sample are 0, as those of a network none of whose units
/// fires on them: nothing can be learned from such a map.  Of other maps it looks at one row.
bool features_are_zero(const FeatureMap& map, const DataSummary& summary, const Scaling& scaling);
/// What to say then.
std::string zero_features_warning(std::string_view map);

}  // namespace kerf::detail
