// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/fit/calibrate.h"

#include <algorithm>
#include <functional>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/memory.h"

namespace kerf::detail {
namespace {

constexpr double kPart = 0.2;
/// More would only be missed in training: with as many the coverage is known to 0.1 %.
constexpr double kMostRows = 100000;
/// Fewer cannot have an interval of 95 %.
constexpr Index kFew = 19;

void check_weights(const std::vector<double>& weights) {
  KERF_REQUIRE(
      std::ranges::adjacent_find(weights, std::not_equal_to{}) == weights.end(), usage,
      "{} counts every row alike, but these have weights that differ: leave one of them out",
      spell("intervals", "conformal"));
}

}  // namespace

std::unique_ptr<Holdout> split_calibration(RowSource& source, const DataSummary& summary,
                                           const FitOptions& options, rng::Key key,
                                           const Context& context) {
  if (options.intervals == Intervals::none) return nullptr;
  check_weights(summary.sample.weights);  // of some rows: the rest is seen when it is too late
  const double part = options.calibration_part.value_or(
      std::min(kPart, kMostRows / static_cast<double>(summary.rows)));
  require_memory(static_cast<Index>(16 * part * static_cast<double>(summary.rows)) *
                     (summary.task == Task::classification ? 1 : summary.targets),
                 context.memory_limit, "the scores of the calibration rows",
                 "take a smaller " + spell("calibration-part"));
  return std::make_unique<Holdout>(source, summary, part, key.child("calibration"),
                                   context.progress, "calibration-part");
}

void calibrate(Holdout& split, const Context& context, FitResult& result) {
  Model& model = result.model;
  const Predictor predictor(model, context.memory_limit);
  const bool classes = model.task == Task::classification;
  const Index columns = classes ? 1 : model.outputs();
  std::vector<double> found;
  RowBlock block;
  Matrix<double> values, variance;
  split.held_out.rewind();
  while (split.held_out.next(block)) {
    check_weights(block.weights);
    if (model.variance)
      predictor.scores(block, values, variance);
    else
      predictor.scores(block, values);
    const auto best = best_class(values);
    if (classes) to_probabilities(model, values);
    const Matrix<double> scores = conformal_scores(model, values, variance, block.targets, best);
    found.insert(found.end(), scores.data(), scores.data() + scores.rows() * columns);
    const Index done = std::ssize(found) / columns;
    report(context.progress, "calibrating", done, rows_expected(split.held_out, done));
  }
  Matrix<double> all(std::ssize(found) / columns, columns);
  std::ranges::copy(found, all.data());
  const Index rows = all.rows();
  model.conformal = ConformalScores::of(std::move(all));
  result.report.notes.push_back(fmt::format("{} rows were left out of the fit and calibrate its {}",
                                            rows, classes ? "sets" : "intervals"));
  if (rows < kFew)
    result.report.warnings.push_back(fmt::format(
        "{} rows calibrate the {}: levels up to {:.3g} can be had, for more take more rows "
        "or a larger {}",
        rows, classes ? "sets of classes" : "intervals",
        static_cast<double>(rows) / static_cast<double>(rows + 1), spell("calibration-part")));
}

}  // namespace kerf::detail
