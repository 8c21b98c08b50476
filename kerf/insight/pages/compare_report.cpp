// The page of `kerf compare`.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kerf/core/system/memory.h"
#include "kerf/insight/compare/compare.h"
#include "kerf/insight/pages/html.h"

namespace kerf::detail {
namespace {

using Entry = Comparison::Entry;
using Value = std::function<std::optional<Interval>(const Entry&)>;

/// One series a map: y of each entry against x of it.
std::vector<html::Series> series_of(const Comparison& c, const Value& x, const Value& y) {
  std::vector<html::Series> out;
  for (std::size_t e = 0; e < c.entries.size(); ++e) {
    const Entry& entry = c.entries[e];
    const auto at = x(entry), value = y(entry);
    if (!at || !value) continue;
    auto found = std::ranges::find(out, entry.spec.label, &html::Series::name);
    if (found == out.end()) {
      out.push_back({entry.spec.label, {}});
      found = out.end() - 1;
    }
    found->points.push_back({at->mean, value->mean, e == c.recommended, value->least,
                             value->largest,
                             entry.features > 0 ? fmt::format("{} features", entry.features) : ""});
  }
  return out;
}

std::optional<Interval> number_of_features(const Entry& entry) {
  if (entry.features == 0) return std::nullopt;
  const auto m = static_cast<double>(entry.features);
  return Interval{m, 0, m, m, m, m, 1};
}

Value quality(const char* metric) {
  return [metric](const Entry& entry) { return entry.quality(metric); };
}

std::optional<Interval> error_of(const Entry& entry) { return entry.error(); }
std::optional<Interval> seconds_of(const Entry& entry) { return entry.seconds(); }

std::string error_charts(const Comparison& c) {
  return html::section(
      "How good, at what cost",
      html::chart(fmt::format("The {} against seconds of a fit; the large point is recommended, "
                              "bars: least and largest of the seeds",
                              c.error_name()),
                  {"seconds", true}, {c.error_name(), true}, series_of(c, seconds_of, error_of)) +
          html::chart(fmt::format("The {} against the number of features; bars: least and largest "
                                  "of the seeds",
                                  c.error_name()),
                      {"features", true}, {c.error_name(), true},
                      series_of(c, number_of_features, error_of)));
}

std::string kernel_charts(const Comparison& c) {
  auto errors = series_of(c, number_of_features, quality("relative_frobenius"));
  if (errors.empty()) return "";
  std::vector<html::Point> all;
  for (const auto& s : errors) all.insert(all.end(), s.points.begin(), s.points.end());
  errors.push_back(html::inverse_root_line(all));
  return html::section(
      "How close to the kernel",
      fmt::format("<p>On {} rows, each map against its own exact kernel: a small error of a kernel "
                  "that does not suit the data helps nobody.</p>",
                  c.sample) +
          html::chart("Relative error of the kernel matrix (Frobenius norm); grey, broken: the "
                      "slope of theory",
                      {"features", true}, {"relative error", true}, errors) +
          html::chart(fmt::format("Generalised condition number at lambda {:g}: 1 is perfect",
                                  c.kernel_lambda),
                      {"features", true}, {"condition number", true},
                      series_of(c, number_of_features, quality("condition_number"))) +
          html::chart(fmt::format("Spectral epsilon at lambda {:g}", c.kernel_lambda),
                      {"features", true}, {"epsilon", true},
                      series_of(c, number_of_features, quality("epsilon"))));
}

std::string cell(const std::optional<Interval>& value) {
  return value ? html::number(value->mean) : "";
}

std::string entry_table(const Comparison& c) {
  std::vector<std::string> head = {"map",     "features",   c.error_name(), "standard deviation",
                                   "seconds", "memory, MB", "Pareto front"};
  if (c.sample > 0)
    for (const char* name : {"kernel error", "epsilon", "condition number"}) head.push_back(name);
  std::vector<std::vector<std::string>> rows;
  for (const Entry& entry : c.entries) {
    const Interval error = entry.error();
    std::vector<std::string> row = {
        entry.spec.label,
        entry.features > 0 ? fmt::format("{}", entry.features) : "",
        html::number(error.mean),
        error.count > 1 ? html::number(error.sd) : "",
        fmt::format("{:.3g}", entry.seconds().mean),
        fmt::format("{:.0f}", std::ceil(static_cast<double>(entry.memory) / 1048576)),
        entry.on_front ? "yes" : ""};
    if (c.sample > 0)
      for (const char* metric : {"relative_frobenius", "epsilon", "condition_number"})
        row.push_back(cell(entry.quality(metric)));
    rows.push_back(std::move(row));
  }
  return html::table(head, rows, static_cast<Index>(c.recommended)) +
         "<p>Pareto front: nothing else is better in error, seconds and memory at once. Memory is "
         "worked out before a fit. A click on a heading sorts.</p>";
}

}  // namespace

std::string compare_report(const Comparison& c, const std::string& fit,
                           const std::string& command) {
  const Entry& best = c.entries[c.recommended];
  std::string body = html::facts({{"rows", fmt::format("{}", c.rows)},
                                  {"columns", fmt::format("{}", c.cols)},
                                  {"task", name_of(c.task)},
                                  {"error", fmt::format("{}, {}", c.error_name(), c.validation)},
                                  {"seeds", fmt::format("{}", best.runs.size())},
                                  {"time of the comparison", fmt::format("{:.1f} s", c.seconds)}});
  body += html::section("Do this", html::command(fit));
  body += error_charts(c);
  body += html::warnings(c.warnings) + html::section("All of them", entry_table(c));
  body += kernel_charts(c);
  body += html::section("Compare again", html::command(command));
  return html::page("kerf compare", c.recommendation, body);
}

}  // namespace kerf::detail
