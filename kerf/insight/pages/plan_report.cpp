// The page of `kerf plan`.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "kerf/insight/measure/interval.h"
#include "kerf/insight/pages/html.h"
#include "kerf/insight/plan/plan.h"

namespace kerf::detail {
namespace {

constexpr const char* kGoalLabels[] = {"spectral epsilon", "relative error of the kernel",
                                       "validation error"};

const char* label_of(const Plan& plan) { return kGoalLabels[static_cast<int>(plan.goal)]; }

std::string headline(const Plan& plan) {
  if (!plan.features)
    return fmt::format("A {} of {} is out of reach: {}.", label_of(plan), html::number(plan.target),
                       plan.reason);
  return fmt::format("{} features for a {} of at most {}{}.", *plan.features, label_of(plan),
                     html::number(plan.target), plan.extrapolated ? " (extrapolated)" : "");
}

std::string measured_chart(const Plan& plan) {
  html::Series values{"one map", {}, false}, limits{"what another map stays below (97.5 %)", {}},
      target{"target", {}, true, true};
  std::vector<html::Point> means;
  for (const auto& size : plan.sizes) {
    const auto m = static_cast<double>(size.features);
    for (const double v : size.values) values.points.push_back({m, v});
    limits.points.push_back({m, size.limit, plan.features == size.features});
    means.push_back({m, interval_of(size.values).mean});
  }
  const double last = static_cast<double>(
      std::max(plan.sizes.back().features, plan.features.value_or(plan.sizes.back().features)));
  for (const double m : {static_cast<double>(plan.sizes.front().features), last})
    target.points.push_back({m, plan.target});
  std::vector<html::Series> series = {values, limits, target};
  if (plan.goal != PlanGoal::validation_error) series.push_back(html::inverse_root_line(means));
  return html::chart(fmt::format("The {} against the number of features, {} seeds each; the large "
                                 "point is the answer, {}",
                                 label_of(plan), plan.sizes.front().values.size(), plan.reason),
                     {"features", true}, {label_of(plan), true}, series);
}

std::string bounds_section(const Plan& plan) {
  if (plan.bounds.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const auto& bound : plan.bounds)
    rows.push_back({bound.name, fmt::format("{:.3g}", bound.features), bound.formula, bound.note});
  return "<p>Theory guarantees the target for any data with the same few numbers (rows n, s = n "
         "lambda, statistical dimension s_l, chance of failure p), and is therefore pessimistic: "
         "take what was measured.</p>" +
         html::table({"bound", "features", "formula", "note"}, rows);
}

std::string cost_section(const Plan& plan) {
  html::Series seconds{"", {}};
  std::vector<std::vector<std::string>> rows;
  Index chosen = -1;
  for (const auto& cost : plan.costs) {
    const bool answer = plan.features == cost.features;
    if (answer) chosen = std::ssize(rows);
    rows.push_back({fmt::format("{}", cost.features), fmt::format("{:.2g}", cost.seconds),
                    fmt::format("{:.0f}", std::ceil(static_cast<double>(cost.memory) / 1048576)),
                    cost.solver});
    seconds.points.push_back({static_cast<double>(cost.features), cost.seconds, answer});
  }
  return html::chart(
             fmt::format("Expected seconds of a fit to all {} rows, without reading them, at "
                         "the speed measured on the sample",
                         plan.rows),
             {"features", true}, {"seconds", true}, {seconds}) +
         html::table({"features", "seconds", "memory, MB", "solver"}, rows, chosen);
}

}  // namespace

std::string plan_report(const Plan& plan, const std::string& fit, const std::string& command) {
  std::vector<std::pair<std::string, std::string>> facts = {
      {"target", fmt::format("{} {}", label_of(plan), html::number(plan.target))},
      {"features", plan.features ? fmt::format("{}", *plan.features) : "out of reach"},
      {"map", plan.map},
      {"rows", fmt::format("{}, {} in the sample", plan.rows, plan.sample)},
      {"lambda", plan.lambda ? fmt::format("{:g}", *plan.lambda) : "chosen by each fit"},
      {"error goes as", fmt::format("features^{:.2f}", -plan.slope)},
      {"time of the plan", fmt::format("{:.1f} s", plan.seconds)},
      {"options of the map", html::option_text(plan.options)}};
  if (plan.statistical_dimension)
    facts.insert(facts.begin() + 5,
                 {"statistical dimension", html::number(*plan.statistical_dimension)});
  std::string body = html::facts(facts);
  if (plan.features) body += html::section("Do this", html::command(fit));
  body += html::warnings(plan.warnings) + html::section("Measured", measured_chart(plan));
  body += html::section("What theory asks for", bounds_section(plan));
  body += html::section("What it costs", cost_section(plan));
  body += html::section("Plan again", html::command(command));
  return html::page("kerf plan: " + plan.map, headline(plan), body);
}

}  // namespace kerf::detail
