// Before and beside a fit: how close features are to their kernel, how many are needed, which map to
// take, which rows to have labelled.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kerf/api/dataset.h"

namespace kerf {

/// A mean over seeds and its 95 % interval.
struct Estimate {
  double mean = 0, low = 0, high = 0;
};

/// A result as the program prints it, and as a page to look at.
struct Written {
  std::string json, html;
};

/// A feature map against its exact kernel on a sample of the rows.
struct Diagnosis {
  struct Size {
    Index features = 0;
    Estimate epsilon;  ///< (1 - e)(K + n lambda I) <= Z Z' + n lambda I <= (1 + e)(K + n lambda I)
    Estimate kernel_error;  ///< |Z Z' - K| / |K|, Frobenius norm
    Estimate condition_number;
  };
  std::vector<Size> sizes;  ///< ascending
  double statistical_dimension = 0;
  std::vector<std::string> warnings;
  Written written;
};
KERF_API Diagnosis diagnose(Dataset& data, const MapSpec& map, const std::vector<Index>& features,
                            const DiagnoseOptions& options = {}, const Context& context = {});

/// The smallest number of features that meets the target named in the options.
struct Plan {
  std::optional<Index> features;  ///< none: out of reach
  bool extrapolated = false;      ///< beyond what was measured
  std::string reason;             ///< how the answer came about, in words
  std::vector<std::string> warnings;
  Written written;
};
KERF_API Plan plan(Dataset& data, const MapSpec& map, const PlanOptions& options,
                   const Context& context = {});

/// Maps and sizes on the user's data: error on rows that were not trained on, time, memory.
struct Comparison {
  struct Entry {
    std::string map;
    Index features = 0;  ///< 0: the exact kernel
    Estimate error;      ///< part of the rows that is wrong, or root mean squared error
    Estimate seconds;
    Index memory = 0;       ///< of a fit, in bytes
    bool on_front = false;  ///< nothing else beats it in error, time and memory at once
  };
  std::vector<Entry> entries;
  std::size_t recommended = 0;  ///< which of them
  std::string recommendation;   ///< one sentence
  std::vector<std::string> warnings;
  Written written;
};
KERF_API Comparison compare(Dataset& data, const std::vector<MapSpec>& maps,
                            const std::vector<Index>& features, const CompareOptions& options = {},
                            const FitOptions& fit = {}, const Context& context = {});

/// The rows worth labelling for a model on these features, in the order in which they were chosen: their
/// numbers in the files, from 0.
struct Selection {
  std::vector<Index> rows;
  std::optional<double> explained;  ///< greedy: part of the variance of all rows that they explain
};
KERF_API Selection select_rows(Dataset& data, const MapSpec& map, const SelectOptions& options = {},
                               const Context& context = {});

}  // namespace kerf
