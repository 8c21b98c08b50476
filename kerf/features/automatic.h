// Options that are worked out from the data: bandwidth, bias and others; and a look at what a map
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

/// Median distance between the sample's rows after scaling.
double typical_distance(const DataSummary& summary, const Scaling& scaling,
                        DistanceNorm norm = DistanceNorm::l2);

/// `params` with every "auto" among `options` replaced by a number:
///   bandwidth   median distance between the sample's rows after scaling, in the kernel's own norm
///   bias        root mean square of the row lengths after scaling
///   image       shape of the rows: HxWxC, or 1x1xCOLUMNS if they are not images (a text option)
///   features    0, of map linear: as many as columns
///   split       of ntk-rf: true or false, by the columns and features (a choice)
/// and `skeleton`, if it names a file, by what the file holds, and a table by its columns.  Options
/// of other names that are "auto" stay so.
Params resolve_automatic(std::span<const OptionInfo> options, Params params,
                         const DataSummary& summary, const Scaling& scaling);

/// Why the option `name` cannot matter where all have the values `complete`: it belongs to another
/// kernel than --kernel names, or goes with another value of some option.  "" if it matters.
std::string why_idle(std::span<const OptionInfo> options, const std::string& name,
                     const Params& complete);

/// `complete` without the options that cannot matter, for people to read.
Params without_idle(std::span<const OptionInfo> options, const Params& complete);

/// Whether all features of all rows of the sample are 0, as those of a network none of whose units
/// fires on them: nothing can be learned from such a map.  Of other maps it looks at one row.
bool features_are_zero(const FeatureMap& map, const DataSummary& summary, const Scaling& scaling);
/// What to say then.
std::string zero_features_warning(std::string_view map);

}  // namespace kerf::detail
