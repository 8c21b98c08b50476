// The page of `kerf diagnose`.
//
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "kerf/insight/measure/diagnose.h"
#include "kerf/insight/pages/html.h"

namespace kerf::detail {
namespace {

std::string with_interval(const Interval& found) {
  if (!std::isfinite(found.mean)) return "no bound";
  return found.count > 1 ? fmt::format("{} ({} to {})", html::number(found.mean),
                                       html::number(found.low), html::number(found.high))
                         : html::number(found.mean);
}

html::Series metric_series(const Diagnosis& d, const char* name, const char* metric) {
  html::Series series{name, {}};
  for (const auto& size : d.sizes) {
    const Interval found = quality_interval(size.maps, metric);
    series.points.push_back(
        {static_cast<double>(size.features), found.mean, false, found.least, found.largest});
  }
  return series;
}

std::string error_charts(const Diagnosis& d) {
  if (d.sizes.size() < 2) return "";
  std::vector<html::Series> errors = {
      metric_series(d, "Frobenius norm", "relative_frobenius"),
      metric_series(d, "spectral norm", "spectral_error"),
      html::inverse_root_line(metric_series(d, "", "relative_frobenius").points)};
  return html::section(
      "Error against the number of features",
      html::chart(
          "Relative error of the kernel matrix; bars: least and largest of the seeds; grey, "
          "broken: the slope of theory",
          {"features", true}, {"relative error", true}, errors) +
          html::chart(fmt::format("Spectral epsilon at lambda {:g}: below 1 theory has a bound for "
                                  "ridge regression",
                                  d.lambda),
                      {"features", true}, {"epsilon", true},
                      {metric_series(d, "epsilon", "epsilon"),
                       html::inverse_root_line(metric_series(d, "", "epsilon").points)}) +
          html::chart(
              fmt::format("Generalised condition number at lambda {:g}: 1 is perfect", d.lambda),
              {"features", true}, {"condition number", true},
              {metric_series(d, "", "condition_number")}));
}

std::string spectrum_chart(const Diagnosis& d) {
  const auto& ours = d.sizes.back().maps.front().spectrum;
  html::Series exact{"exact kernel", {}}, approximate{"features", {}},
      ridge{"n lambda: what is smaller hardly matters", {}, true, true};
  const double least = 1e-9 * (d.spectrum.empty() ? 1 : d.spectrum.front());
  const auto fill = [&](html::Series& series, const std::vector<double>& values) {
    // Evenly spaced on the logarithmic axis: hundreds of points on top of each other say no more.
    for (double at = 1; at <= static_cast<double>(values.size());
         at = std::max(at + 1, at * 1.08)) {
      const double value = values[static_cast<std::size_t>(at) - 1];
      if (value > least) series.points.push_back({std::floor(at), value});
    }
  };
  fill(exact, d.spectrum);
  fill(approximate, ours);
  const double level = d.lambda * static_cast<double>(d.sample);
  for (const double at : {1.0, static_cast<double>(d.spectrum.size())})
    ridge.points.push_back({at, level});
  return html::chart(
      fmt::format("Eigenvalues of the kernel matrix and of that of {} features (seed {})",
                  d.sizes.back().features, d.seeds.front()),
      {"number of the eigenvalue", true}, {"eigenvalue", true}, {exact, approximate, ridge});
}

std::string number_table(const Diagnosis& d) {
  std::vector<std::string> head = {"number"};
  std::vector<std::vector<std::string>> rows;
  for (const auto& size : d.sizes) head.push_back(fmt::format("{} features", size.features));
  for (const auto& metric : quality_metrics()) {
    std::vector<std::string> row = {metric.label};
    for (const auto& size : d.sizes)
      row.push_back(with_interval(quality_interval(size.maps, metric.name)));
    rows.push_back(std::move(row));
  }
  return html::table(head, rows) +
         fmt::format(
             "<p>Means over {} seeds, with 95 % intervals of the mean in parentheses; the "
             "sample is the same for all. Entries are to be compared with {}, the mean of "
             "the diagonal.</p>",
             d.seeds.size(), html::number(d.mean_diagonal));
}

std::string worst_entry(const Diagnosis& d) {
  const auto& entries = d.sizes.back().maps.front().entries;
  return fmt::format(
      "<p>The entry with the largest error (seed {}) belongs to rows {} and {} of the "
      "sample.</p>",
      d.seeds.front(), entries.max_row, entries.max_col);
}

}  // namespace

std::string diagnose_report(const Diagnosis& d, const std::string& command) {
  const auto& last = d.sizes.back();
  std::string headline = describe_quality(d);
  headline[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(headline[0])));
  std::string body = html::facts(
      {{"map", d.map},
       {"features", fmt::format("{}", last.features)},
       {"rows", fmt::format("{} of {}", d.sample, d.rows)},
       {"columns", fmt::format("{}", d.cols)},
       {"lambda", fmt::format("{:g}", d.lambda)},
       {"statistical dimension", html::number(d.statistical_dimension)},
       {"relative error of the kernel",
        html::number(quality_interval(last.maps, "relative_frobenius").mean)},
       {"spectral epsilon", html::number(quality_interval(last.maps, "epsilon").mean)},
       {"condition number", html::number(quality_interval(last.maps, "condition_number").mean)},
       {"options of the map", html::option_text(d.options)}});
  body += error_charts(d);
  body += html::warnings(d.warnings) + html::section("Spectra", spectrum_chart(d));
  body += html::section("All numbers", number_table(d) + worst_entry(d));
  body += html::section("Do it again", html::command(command));
  return html::page("kerf diagnose: " + d.map, headline + ".", body);
}

}  // namespace kerf::detail
