// SPDX-License-Identifier: Apache-2.0
#include "kerf/insight/pages/fit_report.h"

#include <fmt/format.h>

#include "kerf/core/system/memory.h"
#include "kerf/insight/pages/html.h"

namespace kerf::detail {
namespace {

constexpr std::size_t kCandidates = 12;  // bars of the choice

std::string headline(const TestView* test, const FitReport& report) {
  if (test != nullptr) return test_headline(*test);
  return report.quality ? describe(*report.quality)
                        : "Nothing is known of how good the fit is; no rows were held out";
}

std::string model_facts(const FitResult& result, const DataSummary& summary) {
  const auto& [model, report] = result;
  const bool classes = model.task == Task::classification;
  return html::facts({
      {"rows", fmt::format("{}", summary.rows)},
      {"columns", fmt::format("{}{}", summary.cols, summary.is_sparse ? ", sparse" : "")},
      {"task", classes ? fmt::format("classification, {} classes", model.classes.size())
                       : fmt::format("regression, {} target{}", model.outputs(),
                                     model.outputs() == 1 ? "" : "s")},
      {"map", model.recipe.map},
      {model.rows ? "training rows in the model" : "features",
       fmt::format("{}", model.linear.weights.rows())},
      {"scale", name_of(report.scale)},
      {"solver", report.solver},
      {"lambda", html::number(report.lambda)},
      {"quality", report.quality ? describe(*report.quality) : "not known"},
      {"time", fmt::format("{:.2f} s", report.seconds.total)},
      {"peak memory", human_bytes(peak_memory())},
      {"options of the map", html::option_text(model.recipe.options)},
  });
}

std::string choice_section(const MapChoice& choice) {
  std::vector<std::pair<std::string, double>> finalists;
  std::vector<std::vector<std::string>> rows;
  const std::size_t rounds = choice.rounds.size();
  for (const auto& trial : choice.trials) {
    if (trial.errors.size() == rounds && finalists.size() < kCandidates)
      finalists.emplace_back(trial.candidate.label, trial.errors.back());
    std::vector<std::string> row = {trial.candidate.label, trial.candidate.map};
    for (std::size_t r = 0; r < rounds; ++r)
      row.push_back(r < trial.errors.size() ? html::number(trial.errors[r]) : "");
    rows.push_back(std::move(row));
  }
  std::vector<std::string> head = {"kernel", "map"};
  for (const auto& round : choice.rounds)
    head.push_back(round.features > 0
                       ? fmt::format("{} rows, {} features", round.rows, round.features)
                       : fmt::format("{} rows, exact", round.rows));
  return fmt::format("<p>{}</p>", html::escape(choice.reason)) +
         html::bars("Mean squared error of the kernels that reached the last round", finalists) +
         fmt::format("<details><summary>All {} candidates, round by round</summary>{}</details>",
                     rows.size(), html::table(head, rows));
}

std::string lambda_section(const FitReport& report) {
  if (report.path.size() < 2) return "";
  html::Series series{"", {}, true};
  for (const auto& point : report.path)
    series.points.push_back({point.lambda, point.cv_error, point.lambda == report.lambda});
  return html::chart(fmt::format("Mean squared error against lambda by {}; {} was chosen",
                                 report.validation, html::number(report.lambda)),
                     {"lambda", true}, {"mean squared error", true}, {series});
}

std::string growth_section(const FitReport& report) {
  if (report.growth.empty()) return "";
  html::Series series{"", {}, true};
  for (const auto& step : report.growth)
    series.points.push_back({static_cast<double>(step.features), step.cv_error});
  return html::chart("Mean squared error against the number of features: " + report.growth_reason,
                     {"features", true}, {"mean squared error", true}, {series});
}

std::string time_section(const FitReport::Seconds& s) {
  std::vector<std::pair<std::string, double>> bars;
  for (const auto& part : s.parts())
    if (part.seconds > 0) bars.emplace_back(part.words, part.seconds);
  return html::bars(fmt::format("Seconds, {:.3g} in all", s.total), bars, bars.size());
}

}  // namespace

std::string fit_report(const FitResult& result, const DataSummary& summary, const TestView* test) {
  const auto& [model, report] = result;
  std::string body = model_facts(result, summary);
  if (test != nullptr) body += test_sections(model, *test);
  if (report.map_choice) body += html::section("Which kernel", choice_section(*report.map_choice));
  body += html::section("How many features", growth_section(report));
  body += html::section("How strong a penalty", lambda_section(report));
  body += html::section("Where the time went", time_section(report.seconds));
  body += html::warnings(report.warnings);
  if (!model.training.command.empty())
    body += html::section("Make it again", html::command(model.training.command));
  return html::page("kerf fit: " + model.recipe.map, headline(test, report), body);
}

}  // namespace kerf::detail
