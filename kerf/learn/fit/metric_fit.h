// The metric of a fit: whether one is learned, of which rows, and whether it is taken.
//
// Named maps learn what --metric asks for.  --map auto lets rows decide that no metric ever saw: the best
// kernel of map_choice.h without a metric against the best one with it, both chosen on the rows that the
// metric was learned from.  A metric that wins by more than chance is learned again on more rows.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>

#include "kerf/features/metric.h"
#include "kerf/learn/options/fit_job.h"
#include "kerf/learn/options/fit_outcome.h"

namespace kerf::detail {

struct MetricOutcome {
  std::shared_ptr<const Metric> metric;  ///< null: none
  std::optional<MetricReport> report;    ///< none: nothing was tried
};

/// Error (usage) if these rows or options cannot have the metric that was asked for.
void check_metric(const DataSummary& summary, const FitOptions& options);

/// For a map that has a name, or exact.
MetricOutcome metric_for_map(const FitJob& job);
/// What was learned, into the report of the fit that took it.
void take_metric_report(const MetricOutcome& learned, FitResult& result);
/// For --map auto.
MetricOutcome metric_for_choice(const FitJob& job, const Params& map_options);

}  // namespace kerf::detail
