// A feature map on a sample of the rows, for any number of features and any seed: what diagnose,
// plan and compare look at.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kerf/core/data_summary.h"
#include "kerf/core/options.h"
#include "kerf/core/progress.h"
#include "kerf/features/feature_map.h"
#include "kerf/features/scaling.h"

namespace kerf {

/// Up to `count` rows drawn by key, in row order, scaled.
RowBlock draw_sample(RowSource& source, const DataSummary& summary, const Scaling& scaling,
                     Index count, rng::Key key, const Progress& progress = {});

/// "256,1024" to numbers, ascending; Error (usage) for anything else.
std::vector<Index> parse_sizes(const std::string& text);

class SampledMap {
 public:
  /// Everything must outlive it.  `options` may hold "auto"; "features" in it is the default size.
  SampledMap(RowSource& source, const DataSummary& summary, const Scaling& scaling,
             const RowBlock& sample, std::string map, const Params& options, Index memory_limit);

  const std::string& name() const { return map_; }
  const FeatureMapEntry& entry() const { return entry_; }
  const RowBlock& rows() const { return sample_; }
  /// Every option with its value, nothing automatic.
  const Params& options() const { return options_; }
  Params options(Index features) const;
  std::unique_ptr<Kernel> kernel() const { return entry_.kernel(options_); }
  /// Whether the map learns from the rows.
  bool learns() const { return entry_.fit != nullptr; }

  /// Features of the sample.  `seconds`, if given: of transforming, without making the map.
  Matrix<float> features(Index count, std::uint64_t seed, double* seconds = nullptr,
                         const Progress& progress = {}) const;

 private:
  RowSource& source_;
  const DataSummary& summary_;
  const Scaling& scaling_;
  const RowBlock& sample_;
  std::string map_;
  const FeatureMapEntry& entry_;
  Params options_;
  Index memory_limit_;
};

}  // namespace kerf
