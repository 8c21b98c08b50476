// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/solvers/fit_memory.h"

#include <algorithm>

#include "kerf/api/error.h"
#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/memory.h"
#include "kerf/learn/quality/fit_variance.h"

namespace kerf::detail {
namespace {

constexpr Index kStep = 64;  // of the numbers of features that are named

Params with_features(Params options, Index features) {
  options["features"] = std::to_string(features);
  return options;
}

bool fits(const FitJob& job, const FeatureMapEntry& entry, const Params& options) {
  const Problem problem = problem_of(job, entry, options);
  return plan_solver(problem).bytes <= problem.most;
}

/// "A", "A or B", "A, B or C".
std::string either(const std::vector<std::string>& ways) {
  std::string text = ways.front();
  for (std::size_t i = 1; i < ways.size(); ++i)
    text += (i + 1 == ways.size() ? " or " : ", ") + ways[i];
  return text;
}

/// What the user could do instead, each of them a fit that keeps to the memory.
std::vector<std::string> alternatives(const FitJob& job, const FeatureMapEntry& entry,
                                      const Params& map_options, Index features) {
  std::vector<std::string> ways;
  const auto would_fit = [&](auto change) {
    FitOptions options = job.options;
    change(options);
    const FitJob other{job.source, job.summary, options, job.memory_limit, job.progress};
    try {
      return fits(other, entry, entry.complete(with_features(map_options, features)));
    } catch (const Error&) {  // options that do not go with it
      return false;
    }
  };
  if (const Index fewer = features_that_fit(job, entry, map_options, features); fewer > 0)
    ways.push_back(fmt::format("{} or fewer", spell("features", fewer)));
  if (!job.options.lambda && would_fit([](FitOptions& o) {
        o.lambda = 1;
        o.lambda_grid.clear();
        o.lambda_per_target = false;
      }))
    ways.emplace_back("a " + spell("lambda") + " instead of its choice");
  if (job.options.solver != kAutoSolver && would_fit([](FitOptions& o) { o.solver = kAutoSolver; }))
    ways.emplace_back(spell("solver", "auto"));
  for (const SolverEntry& other : solvers())
    if (other.traits.drawback != nullptr &&
        would_fit([&](FitOptions& o) { o.solver = other.name; }))
      ways.push_back(fmt::format("{} ({})", spell("solver", other.name), other.traits.drawback));
  return ways;
}

}  // namespace

Problem problem_of(const DataSummary& summary, const FeatureMapEntry& map,
                   const Params& map_options, const FitOptions& options, Index memory_limit) {
  return {
      .rows = summary.rows,
      .inputs = summary.cols,
      .features = std::stoll(map_options.at("features")),
      .outputs = summary.targets > 0 ? Targets(summary, options).outputs() : 1,
      .map_bytes = map.bytes_to_fit != nullptr
                       ? map.bytes_to_fit(summary.cols, map_options, summary.rows)
                       : map.bytes(summary.cols, map_options),
      .memory = memory_budget(memory_limit),
      .options = options,
      .classification = summary.task == Task::classification,
      .copies = summary.copies,
      .most = memory_limit > 0 ? memory_limit : available_memory(),
  };
}

SolverPlan plan_solver(const Problem& problem) {
  SolverPlan plan{choose_solver(problem)};
  plan.bytes = plan.choice.entry->bytes(problem);
  if (problem.options.variance)
    plan.bytes =
        std::max(plan.bytes, problem.map_bytes + variance_bytes(problem.features, problem.outputs) +
                                 TrainingRows::bytes(problem.rows, problem.inputs, problem.features,
                                                     problem.outputs, 1));
  return plan;
}

void require_fit_memory(const FitJob& job, const FeatureMapEntry& entry, const Params& map_options,
                        const Problem& problem, const SolverPlan& plan) {
  if (plan.bytes <= problem.most) return;
  std::vector<std::string> ways = alternatives(job, entry, map_options, problem.features);
  ways.emplace_back(job.memory_limit > 0 ? "more " + spell("memory")
                                         : "a machine with more memory");
  require_memory(
      plan.bytes, problem.most,
      fmt::format("training with {} features by {}", problem.features, plan.choice.entry->name),
      "take " + either(ways));
}

Index features_that_fit(const FitJob& job, const FeatureMapEntry& entry, const Params& map_options,
                        Index asked) {
  const auto do_fit = [&](Index features) {
    try {
      return fits(job, entry, entry.complete(with_features(map_options, features)));
    } catch (const Error& error) {  // a number that the map cannot have
      if (error.kind() != ErrorKind::usage) throw;
      return false;
    }
  };
  if (do_fit(asked)) return asked;
  Index low = 0, high = (asked - 1) / kStep;
  while (low < high) {
    const Index middle = (low + high + 1) / 2;
    if (do_fit(middle * kStep))
      low = middle;
    else
      high = middle - 1;
  }
  if (low > 0) return low * kStep;
  for (Index features = kStep / 2; features >= 2; features /= 2)
    if (features < asked && do_fit(features)) return features;
  return 0;
}

std::string memory_note(Index needed, Index limit, const std::string& leanest) {
  if (limit > 0 || needed <= memory_budget(limit)) return "";
  return fmt::format(
      "takes about {}, more than a quarter of the {} that are free: {} needs no less ({} sets a "
      "limit)",
      human_bytes(needed), human_bytes(available_memory()), leanest, spell("memory"));
}

Index bytes_of_rows(const DataSummary& summary, Index rows, Precision precision) {
  const Index cell = precision == Precision::double_ ? 12 : 4;  // the doubles, and rounded ones
  if (!summary.is_sparse) return cell * rows * summary.cols;
  const Index sampled = std::max<Index>(1, summary.sample.rows());
  return 8 * (summary.sample.sparse.view().nonzeros() / sampled + 2) * rows;
}

}  // namespace kerf::detail
