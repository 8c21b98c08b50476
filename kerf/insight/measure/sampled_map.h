// A feature map on a sample of the rows, for any number of features and any seed: what diagnose,
// plan and compare look at.  Its scaling and options are those that a fit would work out.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

#include "kerf/core/options.h"
#include "kerf/core/progress.h"
#include "kerf/core/rows/data_summary.h"
#include "kerf/features/feature_map.h"
#include "kerf/features/scaling.h"

namespace kerf::detail {

/// "256,1024" to numbers, ascending; Error (usage) for anything else.
std::vector<Index> parse_sizes(const std::string& text);

/// Which rows, and how they are scaled.
struct SampleOptions {
  Index rows = 1000;  ///< at most, drawn by the seed, in row order
  Index seed = 1;
  ScaleKind scale = ScaleKind::automatic;
};

class SampledMap {
 public:
  /// Source and summary must outlive it.  `options` may hold "auto".
  SampledMap(RowSource& source, const DataSummary& summary, std::string map, const Params& options,
             const SampleOptions& sample, Index memory_limit, const Progress& progress = {});

  const std::string& name() const { return map_; }
  const FeatureMapEntry& entry() const { return entry_; }
  RowsView rows() const { return sample_.x(); }
  /// Every option with its value for so many features, nothing automatic: those of a fit.
  Params options(Index features) const;
  std::unique_ptr<Kernel> kernel() const { return entry_.kernel(resolved_); }
  /// Whether the map learns from the rows.
  bool learns() const { return entry_.fit != nullptr; }

  /// Features of the sample.  `seconds`, if given: of transforming, without making the map.
  Matrix<float> features(Index count, std::uint64_t seed, double* seconds = nullptr,
                         const Progress& progress = {}) const;

 private:
  RowSource& source_;
  const DataSummary& summary_;
  std::string map_;
  const FeatureMapEntry& entry_;
  Scaling scaling_;
  Params given_;     // by the user
  Params resolved_;  // with every number worked out, for some number of features
  RowBlock sample_;
  Index memory_limit_;
};

/// Counts maps whose features are all 0 on the rows, by their number of features.
class DeadMaps {
 public:
  void add(Index features, bool dead);
  void add(Index features, MatrixView<const float> z);
  /// A sentence for every number of features that some have.
  std::vector<std::string> warnings(std::string_view map) const;
  /// The largest number of features that some have; 0: none is dead.
  Index largest() const;

 private:
  struct Count {
    Index maps = 0, dead = 0;
  };
  std::map<Index, Count> counts_;
};

}  // namespace kerf::detail
