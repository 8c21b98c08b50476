// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kerf/api/error.h"
#include "kerf/core/require.h"
#include "kerf/core/rows/row_filter.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/memory.h"
#include "kerf/learn/choice/map_choice.h"
#include "kerf/learn/fit/fit_kinds.h"
#include "kerf/learn/fit/metric_fit.h"
#include "kerf/learn/rows/training_rows.h"
#include "kerf/learn/solvers/fit_memory.h"

namespace kerf::detail {
namespace {

constexpr Index kDefaultFeatures = 4096;
constexpr Index kFirstFeatures = 512, kMostFeatures = 16384;
constexpr double kWorthwhile = 0.01;  // of the error, for twice the features
// So few rows are solved for with the kernel itself: a few factors in single precision (kernel_walk.h)
// are seconds, and no number of features is as good as all of them.  Fixed, so that the same command
// gives the same model on every machine.
constexpr Index kExactRows = 10000;

Index features_asked(const Params& options) {
  const auto features = options.find("features");
  if (features == options.end() || features->second == "auto") return kDefaultFeatures;
  const auto number = parse_number(features->second);
  KERF_REQUIRE(number && *number >= 1 && *number <= 1 << 24, usage,
               "{} must be auto or between 1 and {}, not '{}'", spell("features"), 1 << 24,
               features->second);
  return static_cast<Index>(*number);
}

/// The options ask for nothing that only features can do (a number of them is one such thing), and a
/// model that keeps all rows is not much larger than one of the default number of features.
bool prefers_exact(const FitJob& job, const Params& map_options) {
  const FitOptions& options = job.options;
  return !options.needs_features && !map_options.contains("features") &&
         (job.summary.copies == 1 || options.lambda) && job.summary.rows <= kExactRows &&
         options.loss == Loss::squared && options.solver == kAutoSolver &&
         options.validation == Validation::folds && options.lambda_grid.empty() &&
         !options.lambda_per_target && !options.variance && options.checkpoint.empty();
}

/// Most that a fit may take: without a limit all that there is.
Index most_memory(const FitJob& job) {
  return job.memory_limit > 0 ? job.memory_limit : available_memory();
}

/// The number of features given, or the default, or fewer where only they fit: then `note` says so.
/// Error (memory) if the number given does not fit.
Index features_of(const FitJob& job, const Params& map_options, const MapCandidate& candidate,
                  std::string& note) {
  if (find_feature_map(candidate.map).keeps_rows) return job.summary.cols;
  const Index asked = wants_growth(map_options) ? kFirstFeatures : features_asked(map_options);
  Params options = candidate.options;
  options["features"] = std::to_string(asked);
  const FeatureMapEntry& entry = find_feature_map(candidate.map);
  const Index fitting =
      map_options.contains("features") ? 0 : features_that_fit(job, entry, options, asked);
  if (fitting == asked) return asked;
  if (fitting == 0) {
    check_fit_memory(job, candidate.map, options);
    return features_asked(map_options);
  }
  note = fmt::format(
      "{} features instead of {}, which do not fit into the {} {} ({} or {} sets another number)",
      fitting, asked, human_bytes(most_memory(job)),
      job.memory_limit > 0 ? "given" : "that are free", spell("features"), spell("memory"));
  return fitting;
}

/// What the fit after the choice takes, about: whichever candidate wins.
double expected_fit(const FitJob& job, const MapCandidate& candidate, Index features) {
  Params options = candidate.options;
  options["features"] = std::to_string(features);
  const FeatureMapEntry& entry = find_feature_map(candidate.map);
  const Params complete = entry.complete(options);
  const Problem problem = problem_of(job, entry, complete);
  return choose_solver(problem).entry->seconds(problem, measured_speeds()).total();
}

/// The choice on a sample of the rows.
MapChoice choose(const FitJob& job, std::vector<MapCandidate> candidates, const Scaling& scaling,
                 const MapChoiceOptions& options, double& read_seconds) {
  ChoiceSample sample;
  if (candidates.size() > 1) {
    const Targets encoder(job.summary, job.options);
    const Index count = map_choice_rows(candidates, job.summary, encoder.outputs(), options);
    sample = sample_for_choice(job, count, scaling, read_seconds);
  }
  return choose_map(std::move(candidates), sample.rows, sample.targets.view(), job.summary.rows,
                    options, job.progress);
}

/// How rows come to the candidates.
Scaling scaling_of(const FitJob& job) {
  Scaling scaling = make_scaling(job.options.scale, job.summary);
  scaling.metric = job.options.learned_metric;
  return scaling;
}

/// The map that the sample prefers, and a fit with it.
FitResult fit_best_map(const FitJob& job, const Params& map_options) {
  FitReport::Seconds before;
  MapChoice choice;
  std::string note;
  bool exact = false;
  Params winner;
  {
    const PhaseClock watch(before.choose);
    const Scaling scaling = scaling_of(job);
    auto candidates = map_candidates(map_options, job.summary, scaling, may_learn_map(job.options));
    MapChoiceOptions options;
    options.seed = job.options.seed;
    options.memory_limit = job.memory_limit;
    const auto kernel = exact_options(candidates.front(), map_options);
    exact = kernel && prefers_exact(job, map_options);
    if (const Index bytes = exact ? exact_fit_bytes(job, *kernel) : 0;
        bytes > memory_budget(job.memory_limit)) {
      note = fmt::format("features instead of the exact kernel, which would need {}",
                         human_bytes(bytes));
      exact = false;
    }
    options.exact = exact;
    options.features =
        exact ? kDefaultFeatures : features_of(job, map_options, candidates.front(), note);
    const double fitting =
        exact ? exact_solve_seconds(job) : expected_fit(job, candidates.front(), options.features);
    const Progress progress = expecting(job.progress, {{""}}, fitting);
    choice = choose({job.source, job.summary, job.options, job.memory_limit, progress},
                    std::move(candidates), scaling, options, before.read);
    winner = choice.winner().options;
    if (find_feature_map(choice.winner().map).keeps_rows)
      exact = false;  // its columns are its features: all of the kernel, and as many as they are
    else if (wants_growth(map_options))
      winner["features"] = "auto";
    else if (!exact)
      winner["features"] = std::to_string(features_of(job, map_options, choice.winner(), note));
  }
  const std::string map = choice.winner().map;
  FitResult result = exact ? fit_exact(job, *exact_options(choice.winner(), map_options))
                     : wants_growth(winner) ? fit_growing(job, map, winner)
                                            : fit_map(job, map, winner);
  result.report.seconds.add(before);
  result.report.map_choice = std::move(choice);
  if (!note.empty()) result.report.memory_note = note;
  return result;
}

}  // namespace

ChoiceSample sample_for_choice(const FitJob& job, Index count, const Scaling& scaling,
                               double& read_seconds) {
  const PhaseClock watch(read_seconds);
  const rng::Key key = rng::Key{static_cast<std::uint64_t>(job.options.seed)}.child("map choice");
  SampleKeeper keeper(key, count);
  RowBlock block;
  Index done = 0;
  job.source.rewind();
  while (job.source.next(block)) {
    keeper.add(block);
    done += block.rows();
    report(job.progress, "sampling", done, job.summary.rows);
  }
  RowBlock sample = keeper.take();
  scaling.apply(sample);
  std::vector<std::pair<double, Index>> order;
  for (Index i = 0; i < sample.rows(); ++i)
    order.emplace_back(rng::uniform(key.child("order"), static_cast<std::uint64_t>(i)), i);
  std::ranges::sort(order);
  std::vector<Index> rows;
  for (const auto& [rank, row] : order) rows.push_back(row);
  ChoiceSample out{reordered(sample, rows), {}};
  std::vector<double> weights;
  Targets(job.summary, job.options).encode(out.rows, out.targets, weights);
  out.rows.weights = std::move(weights);
  return out;
}

FitResult fit_chosen_map(const FitJob& job, const Params& map_options) {
  const MetricOutcome learned = metric_for_choice(job, map_options);
  FitOptions options = job.options;
  options.learned_metric = learned.metric;
  FitResult result =
      fit_best_map({job.source, job.summary, options, job.memory_limit, job.progress}, map_options);
  take_metric_report(learned, result);
  return result;
}

MapChoice choose_feature_map(const FitJob& job, const Params& map_options) {
  const Scaling scaling = make_scaling(job.options.scale, job.summary);
  const MapChoiceOptions options{.features = features_asked(map_options),
                                 .seed = job.options.seed,
                                 .memory_limit = job.memory_limit};
  double read = 0;
  return choose(job, map_candidates(map_options, job.summary, scaling, may_learn_map(job.options)),
                scaling, options, read);
}

bool wants_growth(const Params& map_options) {
  const auto features = map_options.find("features");
  return features != map_options.end() && features->second == "auto";
}

FitResult fit_growing(const FitJob& job, const std::string& map, const Params& map_options) {
  KERF_REQUIRE(!job.options.lambda, usage,
               "{} compares cross-validation errors, and a fixed {} has none",
               spell("features", "auto"), spell("lambda"));
  std::optional<FitResult> best;
  std::vector<FitReport::Growth> growth;
  FitReport::Seconds all;
  std::string reason;
  // More features are taken as long as they keep to the budget.
  FitJob growing = job;
  for (Index features = kFirstFeatures; reason.empty(); features *= 2) {
    Params options = map_options;
    options["features"] = std::to_string(features);
    try {
      FitResult next = fit_map(growing, map, options);
      growing.memory_limit = memory_budget(job.memory_limit);
      const double error = next.report.cv_error.value_or(0);
      all.add(next.report.seconds);
      growth.push_back({features, error, next.report.seconds.total});
      const double before = best ? *best->report.cv_error : 0;
      if (best && next.report.metric != best->report.metric) {
        reason = fmt::format("{} features are solved for by {}, whose error is another", features,
                             next.report.solver);
      } else if (!best || error < before) {
        const bool worthwhile = !best || error < before * (1 - kWorthwhile);
        best = std::move(next);
        if (!worthwhile) reason = "the error fell by less than 1 %";
      } else {
        reason = "the error did not fall any more";
      }
    } catch (const Error& error) {
      if (!best || error.kind() != ErrorKind::memory) throw;
      reason = fmt::format("{} features would need more memory", features);
    }
    if (reason.empty() && 2 * features > kMostFeatures)
      reason =
          fmt::format("{} is the most that {} tries", kMostFeatures, spell("features", "auto"));
  }
  best->report.growth = std::move(growth);
  best->report.growth_reason = std::move(reason);
  best->report.seconds = all;
  return std::move(*best);
}

}  // namespace kerf::detail
