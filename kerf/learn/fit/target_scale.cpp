// Targets outside the range of single precision: scaled by a power of two within a fit (TargetRange),
// and back here, where every number is a double.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/learn/fit/fit_kinds.h"

namespace kerf::detail {
namespace {

bool is_finite(const LinearModel& linear) {
  const auto finite = [](double value) { return std::isfinite(value); };
  for (Index j = 0; j < linear.weights.rows(); ++j)
    if (!std::ranges::all_of(linear.weights.row(j), finite)) return false;
  return std::ranges::all_of(linear.intercept, finite);
}

/// Errors are means over targets, whose largest decides.
void restore_errors(double scale, FitReport& report) {
  const double square = scale * scale;
  if (report.cv_error) *report.cv_error *= square;
  for (auto& point : report.path) point.cv_error *= square;
  for (auto& step : report.growth) step.cv_error *= square;
  if (report.map_choice)
    for (auto& trial : report.map_choice->trials)
      for (double& error : trial.errors) error *= square;
  if (scale != 1)
    report.notes.push_back(
        fmt::format("targets are divided by {:.3g} within the fit, because sums in single "
                    "precision do not reach as far: losses in notes are those of the quotients",
                    scale));
}

}  // namespace

void check_target_scale(const DataSummary& summary) {
  constexpr double kMost = 0x1p480, kLeast = 0x1p-480;
  for (const double scale : summary.target_scale)
    KERF_REQUIRE(scale >= kLeast && scale <= kMost, data,
                 "the target varies by about {:.2g}, whose square is outside the range of double "
                 "precision: multiply it by {:.0e}",
                 scale, std::min(1e300, 1 / scale));
}

void restore_targets(std::span<const double> scale, FitResult& result) {
  auto& [model, report] = result;
  if (model.task == Task::regression && !scale.empty()) {
    for (std::size_t t = 0; t < scale.size(); ++t) {
      for (Index j = 0; j < model.linear.weights.rows(); ++j)
        model.linear.weights(j, static_cast<Index>(t)) *= scale[t];
      model.linear.intercept[t] *= scale[t];
      if (model.variance) model.variance->noise[t] *= scale[t] * scale[t];
    }
    restore_errors(*std::ranges::max_element(scale), report);
  }
  record_lambda(report, model.training);
  KERF_REQUIRE(is_finite(model.linear), numeric,
               "the fit came to weights that are not finite: are there inputs or targets of a size "
               "that cannot be meant?");
}

}  // namespace kerf::detail
