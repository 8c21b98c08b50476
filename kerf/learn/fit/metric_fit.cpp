// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/fit/metric_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kerf/core/require.h"
#include "kerf/core/rows/row_filter.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/memory.h"
#include "kerf/core/system/stopwatch.h"
#include "kerf/learn/choice/map_choice.h"
#include "kerf/learn/fit/fit_kinds.h"
#include "kerf/learn/metric/metric_choice.h"
#include "kerf/learn/rows/training_rows.h"

namespace kerf::detail {
namespace {

constexpr Index kLearnRows = 1000, kJudgeRows = 2000;  // of the trials
constexpr Index kRivalRows = 600;   // that kernels with and without it are compared on
constexpr Index kFinalRows = 2000;  // that the metric taken is learned from
constexpr Index kFewestRows = 60;   // fewer cannot tell

/// Rows that take part, and where the judges begin.
struct Parts {
  RowBlock rows;        // scaled, in random order
  Matrix<double> x, y;  // the same in double; what the regression is trained on
  Index learn = 0;

  MetricRows all() const { return {x.view(), y.view(), WeightsView(rows.weights)}; }
  MetricRows learners() const { return all().slice(0, learn); }
  MetricRows judges() const { return all().slice(learn, x.rows()); }
};

/// Why these rows can have no metric; "": they can.
std::string why_none(const DataSummary& summary) {
  if (summary.is_sparse) return "sparse rows would become dense";
  if (summary.image.present() || summary.is_bytes) return "of images it would mix pixels";
  if (summary.cols > kMostMetricColumns)
    return fmt::format("it is for at most {} columns", kMostMetricColumns);
  if (summary.rows < kFewestRows) return fmt::format("it needs {} rows", kFewestRows);
  return "";
}

/// Whether a metric can be learned from some rows at least.
bool fits_memory(const FitJob& job) {
  return metric_bytes(kFewestRows, job.summary.cols, Targets(job.summary, job.options).outputs()) <=
         memory_budget(job.memory_limit);
}

/// As many rows as memory allows, of those that are wanted.
Parts take_parts(const FitJob& job, const Scaling& scaling, double& read) {
  const Index targets = Targets(job.summary, job.options).outputs();
  const Index budget = memory_budget(job.memory_limit);
  Index learn = std::min(kLearnRows, 2 * job.summary.rows / 3);
  while (learn > kFewestRows / 2 && metric_bytes(2 * learn, job.summary.cols, targets) > budget)
    learn -= learn / 8 + 1;
  require_memory(metric_bytes(2 * learn, job.summary.cols, targets), job.memory_limit,
                 "learning a metric", "take " + spell("metric", "none"));
  ChoiceSample sample =
      sample_for_choice(job, std::min(job.summary.rows, learn + kJudgeRows), scaling, read);
  Parts parts{std::move(sample.rows), {}, std::move(sample.targets), learn};
  parts.x = Matrix<double>(parts.rows.rows(), job.summary.cols);
  for (Index i = 0; i < parts.x.rows(); ++i)
    std::ranges::copy(parts.rows.dense.row(i), parts.x.row(i).begin());
  return parts;
}

/// The winner's kernel among rows to learn from, in the metric, and what it makes of the judges.
struct Rival {
  std::string label;
  std::vector<double> errors;
};

Rival best_kernel(const FitJob& job, const Params& map_options, const Parts& parts,
                  const std::shared_ptr<const Metric>& metric) {
  Scaling scaling = make_scaling(job.options.scale, job.summary);
  std::vector<Index> order(parts.x.rows());
  std::iota(order.begin(), order.end(), Index{0});
  RowBlock rows = reordered(parts.rows, order);
  scaling.metric = metric;
  if (metric) {
    for (Index i = 0; i < rows.rows(); ++i) metric->apply(rows.dense.row(i));
    for (Index i = 0; i < rows.wide.rows(); ++i) metric->apply(rows.wide.row(i));
  }
  const Index count = std::min(parts.learn, kRivalRows);
  const MetricRows targets = parts.all().slice(0, count);
  const RowBlock learn = reordered(rows, std::span(order).first(count));
  MapChoiceOptions options;
  options.seed = job.options.seed;
  options.memory_limit = job.memory_limit;
  options.exact = true;
  const MapChoice choice =
      choose_map(map_candidates(map_options, job.summary, scaling, may_learn_map(job.options)),
                 learn, targets.y, count, options, job.progress);
  const auto kernel = find_feature_map(choice.winner().map).kernel(choice.winner().options);
  return {choice.winner().label,
          judged_errors(*kernel, learn.x(), rows.x().slice(parts.learn, rows.rows()), targets,
                        parts.judges())};
}

double mean_of(const std::vector<double>& values, Index targets) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(std::ssize(values) * targets);
}

/// The winner of the trials learns again, from more rows, judges included.
std::shared_ptr<const Metric> final_metric(const FitJob& job, const Parts& parts,
                                           const MetricTrial& best) {
  const Index targets = parts.y.cols(), budget = memory_budget(job.memory_limit);
  Index count = std::min(kFinalRows, parts.x.rows());
  while (count > parts.learn && metric_bytes(count, job.summary.cols, targets) > budget)
    count -= count / 8 + 1;
  return std::make_shared<const Metric>(
      learn_metric(best, job.options.metric, parts.all().slice(0, count), job.progress));
}

std::string in_words(const MetricTrial& trial) {
  return fmt::format("{} metric learned by the {} kernel in {} step{}",
                     trial.metric->is_diagonal() ? "diagonal" : "full", name_of(trial.kernel),
                     trial.steps, trial.steps == 1 ? "" : "s");
}

/// What both ways of learning begin with.
struct Trials {
  Parts parts;
  MetricTrial best;    // without steps: no metric could be learned
  double without = 0;  // least error of these kernels without a metric
};

Trials try_metrics(const FitJob& job, MetricReport& report) {
  Trials trials;
  trials.parts = take_parts(job, make_scaling(job.options.scale, job.summary), report.read_seconds);
  auto found = metric_trials(trials.parts.learners(), trials.parts.judges(), job.options.metric,
                             job.progress);
  trials.without = std::numeric_limits<double>::infinity();
  for (const MetricTrial& trial : found)
    if (trial.steps == 0) trials.without = std::min(trials.without, trial.mean());
  if (!found.empty()) trials.best = std::move(found.front());
  report.learned_rows = trials.parts.learn;
  report.judged_rows = trials.parts.x.rows() - trials.parts.learn;
  return trials;
}

}  // namespace

void check_metric(const DataSummary& summary, const FitOptions& options) {
  if (options.metric == MetricKind::automatic || options.metric == MetricKind::none) return;
  const std::string why = why_none(summary);
  KERF_REQUIRE(why.empty(), usage, "{} is not for these rows: {}",
               spell("metric", name_of(options.metric)), why);
  KERF_REQUIRE(options.metric != MetricKind::full || summary.cols <= kMostFullColumns, usage,
               "{} is for at most {} columns, and these are {}: take {}", spell("metric", "full"),
               kMostFullColumns, summary.cols, spell("metric", "diagonal"));
}

MetricOutcome metric_for_map(const FitJob& job) {
  const MetricKind kind = job.options.metric;
  if (kind == MetricKind::automatic || kind == MetricKind::none) return {};
  MetricReport report;
  std::optional<PhaseClock> watch(report.seconds);
  const Trials trials = try_metrics(job, report);
  const MetricTrial& best = trials.best;
  KERF_REQUIRE(best.steps > 0, numeric, "no metric can be learned from these rows: take {}",
               spell("metric", "none"));
  const Index targets = trials.parts.y.cols();
  report.error = best.mean() / static_cast<double>(targets);
  report.error_without = trials.without / static_cast<double>(targets);
  report.taken = true;
  report.reason = in_words(best);
  MetricOutcome outcome{final_metric(job, trials.parts, best), {}};
  watch.reset();
  outcome.report = std::move(report);
  return outcome;
}

MetricOutcome metric_for_choice(const FitJob& job, const Params& map_options) {
  const FitOptions& options = job.options;
  if (options.metric == MetricKind::none || !why_none(job.summary).empty() ||
      job.summary.cols < 2 || options.needs_features || !options.checkpoint.empty() ||
      !fits_memory(job))
    return {};
  MetricReport report;
  std::optional<PhaseClock> watch(report.seconds);
  const Trials trials = try_metrics(job, report);
  MetricOutcome outcome;
  if (trials.best.steps > 0) {
    const Rival without = best_kernel(job, map_options, trials.parts, nullptr);
    const Rival with = best_kernel(job, map_options, trials.parts, trials.best.metric);
    const Index targets = trials.parts.y.cols();
    report.error = mean_of(with.errors, targets);
    report.error_without = mean_of(without.errors, targets);
    report.taken =
        options.metric != MetricKind::automatic || clearly_less(with.errors, without.errors);
    report.reason = fmt::format("{}, then {}; without a metric {}", in_words(trials.best),
                                with.label, without.label);
    if (report.taken) outcome.metric = final_metric(job, trials.parts, trials.best);
  }
  watch.reset();
  outcome.report = std::move(report);
  return outcome;
}

void take_metric_report(const MetricOutcome& learned, FitResult& result) {
  if (!learned.report) return;
  result.report.seconds.choose += learned.report->seconds;
  result.report.seconds.read += learned.report->read_seconds;
  result.report.metric_report = learned.report;
  const MetricReport& report = *learned.report;
  if (report.reason.empty()) return;
  const double ratio =
      report.error_without > 0 ? std::sqrt(report.error / report.error_without) : 1;
  result.report.notes.push_back(fmt::format(
      "{}{}: {:.3g} times the error without a metric, on {} rows that it never saw",
      report.taken ? "" : "no metric was taken; ", report.reason, ratio, report.judged_rows));
  if (report.taken && ratio > 1)
    result.report.warnings.push_back(
        fmt::format("the learned metric is no gain on rows that it never saw: take {}",
                    spell("metric", "none")));
}

}  // namespace kerf::detail
