// `kerf diagnose`: a feature map against its exact kernel, on a sample of the rows.
//
//   sample -> exact kernel matrix, factored once (kernel_quality.h)
//   for each number of features, for each seed: features -> KernelQuality
//   means over the seeds, with confidence intervals (interval.h)
//
// The rows of the sample are the same for all seeds: intervals are about the map's randomness, not
// about the sample's.  Maps that learn from rows learn from all of them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "kerf/core/options.h"
#include "kerf/core/progress.h"
#include "kerf/insight/measure/interval.h"
#include "kerf/insight/measure/kernel_quality.h"
#include "kerf/insight/measure/sampled_map.h"

namespace kerf::detail {

struct DiagnoseOptions {
  Index sample = 1000, seeds = 5;
  double lambda = 1e-4;
  ScaleKind scale = ScaleKind::none;
  Index seed = 1;

  void describe(OptionVisitor& v) {
    v.integer("sample", sample, {2, 100000},
              "rows to look at, drawn by the seed; memory 24 times its square");
    v.integer("seeds", seeds, {1, 1000}, "maps to draw: seed, seed + 1, ...");
    v.real("lambda", lambda, kAnyPositive,
           "ridge penalty, as in fit: the kernel matrices are compared with n lambda added");
    v.choice("scale", scale, "how columns are scaled, as in fit");
    v.integer("seed", seed, {0, 9007199254740992.0}, "seed of the sample and of the first map");
  }
};

/// A number of KernelQuality that the seeds are averaged over.
struct QualityMetric {
  const char* name;   ///< in JSON
  const char* label;  ///< for people
  double (*value)(const KernelQuality&);
  double least = 0, most = INFINITY;  ///< that it can be: no interval goes beyond
};
std::span<const QualityMetric> quality_metrics();
/// One of them, of all these maps.
Interval quality_interval(std::span<const KernelQuality> maps, std::string_view metric);

struct Diagnosis {
  struct Size {
    Index features = 0;
    std::vector<KernelQuality> maps;  ///< one a seed; the first has its spectrum
  };
  std::string map;
  Params options;  ///< of the last size; nothing automatic
  Index rows = 0, cols = 0, sample = 0;
  double lambda = 0, statistical_dimension = 0;
  double mean_diagonal = 0;      ///< of K: what errors of entries are to be compared with
  std::vector<double> spectrum;  ///< of K, descending
  std::vector<std::uint64_t> seeds;
  std::vector<Size> sizes;  ///< ascending
  std::vector<std::string> warnings;
  double seconds = 0;
};

/// `features`: one or more sizes, ascending.
Diagnosis diagnose(RowSource& source, const DataSummary& summary, const std::string& map,
                   const Params& map_options, const std::vector<Index>& features,
                   const DiagnoseOptions& options, Index memory_limit = 0,
                   const Progress& progress = {});

/// The page: what it says, then charts, then numbers.  `command` repeats it.
std::string diagnose_report(const Diagnosis& diagnosis, const std::string& command);

/// "epsilon 0.31: ridge regression on these features has ...": what a person should know.
std::string describe_quality(const Diagnosis& diagnosis);

}  // namespace kerf::detail
