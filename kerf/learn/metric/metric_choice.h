// Which metric, if any: kernels learn one each, and rows that they never saw decide.
//
// The rows are parted in two.  On the first part each kernel of metric_kernel.h is fitted, the moments M
// of its gradients give the next metric A = M^(1/2), and so on for up to kMostSteps steps; after each the
// second part judges.  (Leave-one-out errors would not do: M has seen the targets of all rows that are
// left out one by one.)  The ANOVA kernel, which costs more, joins in where the others explain little.
//
// Cost:       with 1,000 rows to learn from about 20 fits of 5e9 flops: one to three seconds.
// Memory:     metric_bytes().
// Reference:  metric_kernel.h; early stopping by held-out rows as in xRFM (Beaglehole et al. 2025).
// Differs:    several kernels compete; the ANOVA start.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "kerf/core/progress.h"
#include "kerf/kernels/kernel.h"
#include "kerf/learn/metric/metric_kernel.h"
#include "kerf/learn/options/fit_options.h"

namespace kerf::detail {

/// A kernel after so many steps.
struct MetricTrial {
  MetricKernel kernel = MetricKernel::gaussian;
  int steps = 0;
  std::shared_ptr<const Metric> metric;  ///< without steps: none
  std::vector<double> errors;            ///< squared, of each row that judged
  std::vector<MetricStart> path;         ///< bandwidth and lambda of each fit on the way

  double mean() const;
};

/// Columns up to which a full metric is learned; beyond, a diagonal one.
inline constexpr Index kMostFullColumns = 256;
/// Columns up to which any is.
inline constexpr Index kMostMetricColumns = 1024;

/// The best of each kernel with and without steps, the best of all with steps first; never empty.
std::vector<MetricTrial> metric_trials(const MetricRows& learn, const MetricRows& judge,
                                       MetricKind kind, const Progress& progress);

/// The steps of a trial on these rows, with its bandwidths, and lambdas near its own.
Metric learn_metric(const MetricTrial& trial, MetricKind kind, const MetricRows& rows,
                    const Progress& progress);

/// Squared errors, times weights, of rows that a kernel ridge regression on other rows, lambda by leave-one-out, makes.
std::vector<double> judged_errors(const Kernel& kernel, const RowsView& learn,
                                  const RowsView& judge, const MetricRows& learn_targets,
                                  const MetricRows& judge_targets);

/// Whether errors `a` are less than `b` of the same rows by more than chance (one standard error).
bool clearly_less(const std::vector<double>& a, const std::vector<double>& b);

/// Memory of learning from so many rows.
Index metric_bytes(Index rows, Index columns, Index targets);

}  // namespace kerf::detail
