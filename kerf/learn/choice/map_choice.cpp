// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/choice/map_choice.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/memory.h"
#include "kerf/core/system/parallel.h"
#include "kerf/features/automatic.h"
#include "kerf/learn/choice/round_progress.h"
#include "kerf/learn/lambda/lambda_choice.h"
#include "kerf/learn/lambda/leave_one_out.h"
#include "kerf/learn/lambda/pair_table.h"
#include "kerf/learn/ridge/dual_ridge.h"
#include "kerf/learn/ridge/normal_equations.h"
#include "kerf/learn/ridge/ridge.h"
#include "kerf/learn/solvers/fit_memory.h"
#include "kerf/linalg/blas.h"
#include "kerf/linalg/feature_gram.h"
#include "kerf/model/model.h"

namespace kerf::detail {
namespace {

constexpr Index kFirstRows = 200, kMostRows = 800;  // exact rounds
constexpr Index kDualRows = 1200;                   // last round, where features are many,
constexpr Index kMostFeatureRows = 8192;            // and where they are few
constexpr Index kLeastRows = 100;                   // fewer tell nothing
constexpr Index kFewestFeatures = 256, kMostFeatures = 2048;
constexpr std::size_t kFinalists = 3;
constexpr double kFewFlops = 1.2e10;  // sums of one trial: a tenth of a second
constexpr double kBehind = 1.2;       // an error so many times the best: no search for its lambda
constexpr Index kFolds = 5;
constexpr Index kGramColumns = 512;      // of features that dual_ridge.cpp makes double at a time
constexpr Index kGramScratch = 4 << 20;  // of a thread that computes tiles of distances
constexpr int kLeastFeatureStep = -12;   // as in dual_ridge.cpp
constexpr int kStartStep = -3;           // first lambda looked at: unit 10^-1.5

/// Errors closer than this are equal: rounding must not decide.
constexpr double kTie = 1e-9;

std::string number_of(double value) { return fmt::format("{:.4g}", value); }

/// Who goes on after a round.
struct Cut {
  std::size_t part;   ///< of a kernel, one in so many,
  std::size_t least;  ///< and so many at least: more rows may want a narrower one,
  double hopeless;    ///< but none with an error so many times the best
};

/// 200 rows tell little, and cost little; what goes on from 800 costs seconds.
Cut cut_after(Index rows) {
  if (rows <= kFirstRows) return {2, 2, 4};
  if (rows < kMostRows) return {3, 2, 2};
  return {3, 1, 1.5};
}

/// The candidate's options with a number of features; columns as features have their own.
Params with_features(const MapCandidate& candidate, Index features) {
  Params all = candidate.options;
  if (!find_feature_map(candidate.map).keeps_rows) all["features"] = std::to_string(features);
  return all;
}

/// The last round, for a sample of `have` rows of a fit of `rows`.
struct FeatureRound {
  Index features, rows;
  bool by_folds;
};

FeatureRound feature_round_of(Index have, Index rows, Index features_to_come) {
  const double part = static_cast<double>(have) / static_cast<double>(rows);
  const Index most = std::min(features_to_come, kMostFeatures);
  const auto some = static_cast<Index>(static_cast<double>(features_to_come) * part);
  const Index features =
      std::max<Index>(2, std::clamp(some, std::min(most, kFewestFeatures), most) / 2 * 2);
  const bool by_folds = 2 * features < have;
  return {features, by_folds ? have : std::min(have, kDualRows), by_folds};
}

/// The sample with everything that the rounds share.
struct Sample {
  const RowBlock& rows;
  MatrixView<const double> targets;
  const MapChoiceOptions& options;

  WeightsView weights(Index count) const { return WeightsView(rows.weights).slice(0, count); }
};

/// Trials of the rounds after one of n rows and `count` candidates, in units of its trials.
double trials_to_come(Index n, Index most, std::size_t count, bool with_features) {
  double sum = 0;
  auto left = static_cast<double>(count);
  for (Index next = n; next < most;) {
    left =
        std::max(static_cast<double>(kFinalists), left / static_cast<double>(cut_after(next).part));
    next = std::min(2 * next, most);
    sum += left * std::pow(static_cast<double>(next) / static_cast<double>(n), 3);
  }
  left =
      std::max(static_cast<double>(kFinalists), left / static_cast<double>(cut_after(most).part));
  return with_features
             ? sum + left * std::pow(static_cast<double>(most) / static_cast<double>(n), 3)
             : sum;
}

std::unique_ptr<FeatureMap> make_map(const MapCandidate& candidate, Index features,
                                     const Sample& sample) {
  const FeatureMapEntry& entry = find_feature_map(candidate.map);
  Recipe recipe{candidate.map, entry.complete(with_features(candidate, features)),
                static_cast<std::uint64_t>(sample.options.seed), sample.rows.x().cols()};
  MemorySource rows(sample.rows.x(), {});
  recipe.fit(rows, sample.options.memory_limit);
  return recipe.make(sample.options.memory_limit);
}

/// Fewer features than rows: folds, as in the fit to come.
double error_by_folds(const FeatureMap& map, Index count, const Sample& sample) {
  Matrix<float> z(count, map.out_dim());
  map.transform(sample.rows.x().slice(0, count), z.view());
  Origin origin;
  origin.features.assign(z.row(0).begin(), z.row(0).end());
  origin.targets.assign(sample.targets.row(0).begin(), sample.targets.row(0).end());
  std::vector<NormalEquations> folds;
  const auto weights = sample.weights(count);
  for (Index f = 0; f < kFolds; ++f) {  // the rows are in random order
    const Index begin = f * count / kFolds, end = (f + 1) * count / kFolds;
    folds.emplace_back(origin, Precision::single_);
    folds.back().add(z.view().slice(begin, end), sample.targets.slice(begin, end),
                     weights.slice(begin, end));
  }
  return choose_lambda(folds, {}, {}).choice.cv_error;
}

/// `rival`: the best error so far; one who is far behind it needs no better lambda.
double error_by_leave_one_out(const FeatureMap& map, Index count, int start, double rival,
                              const Sample& sample) {
  Matrix<float> z(count, map.out_dim());
  map.transform(sample.rows.x().slice(0, count), z.view());
  Matrix<double> gram(count, count);
  feature_gram(z.view(), gram.view());
  LeaveOneOut problem(gram.view(), sample.targets.slice(0, count), sample.weights(count));
  // Features want a larger lambda than their kernel: the error of the estimate counts as noise.
  const auto [step, error] = problem.search(start + 2, 2, kLeastFeatureStep);
  return error > kBehind * rival ? error : problem.search(step, 1, kLeastFeatureStep).second;
}

/// Best first, by the error of the round just over; ties stay in the order of the candidates.
void sort_trials(std::vector<MapChoice::Trial>& trials, std::size_t count) {
  std::stable_sort(
      trials.begin(), trials.begin() + static_cast<std::ptrdiff_t>(count),
      [](const auto& a, const auto& b) { return a.errors.back() < b.errors.back() * (1 - kTie); });
}

/// The best of each kernel, and the best of all, move to the front; how many they are.
std::size_t survivors(std::vector<MapChoice::Trial>& trials, std::size_t count, const Cut& cut) {
  std::map<std::string, std::size_t> members, seen;
  for (std::size_t i = 0; i < count; ++i) ++members[trials[i].candidate.kernel];
  std::vector<bool> stays;
  const double hopeless = cut.hopeless * trials.front().errors.back();
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& kernel = trials[i].candidate.kernel;
    const std::size_t places = std::max(cut.least, (members[kernel] + cut.part - 1) / cut.part);
    const bool near = trials[i].errors.back() <= hopeless;
    stays.push_back(i < kFinalists || (seen[kernel]++ < places && near));
  }
  std::vector<MapChoice::Trial> kept, dropped;
  for (std::size_t i = 0; i < count; ++i)
    (stays[i] ? kept : dropped).push_back(std::move(trials[i]));
  std::ranges::move(kept, trials.begin());
  std::ranges::move(dropped, trials.begin() + std::ssize(kept));
  return kept.size();
}

Index most_exact_rows(Index have, bool exact) {
  return std::min(have, exact ? kDualRows : kMostRows);
}

/// Exact kernels of the sample's first rows.
class ExactTrials {
 public:
  explicit ExactTrials(const Sample& sample)
      : sample_(sample),
        most_(most_exact_rows(sample.rows.rows(), sample.options.exact)),
        table_(sample.rows.x().slice(0, most_)) {}

  Index most() const { return most_; }

  /// One more error of the trial, on so many rows.  `rival`: the best error so far; one who is far
  /// behind it at the lambda of the round before needs no better one.
  void add_error(MapChoice::Trial& trial, Index rows, double rival) {
    const auto kernel = find_feature_map(trial.candidate.map).kernel(trial.candidate.options);
    gram_.resize(rows, rows);
    table_.gram(*kernel, rows, gram_.view());
    LeaveOneOut problem(gram_.view(), sample_.targets.slice(0, rows), sample_.weights(rows));
    const bool first = trial.errors.empty();
    if (!first) {
      const double error = problem.error_at(trial.lambda_step);
      if (std::isfinite(error) && error > kBehind * rival) return trial.errors.push_back(error);
    }
    const auto best = problem.search(first ? kStartStep : trial.lambda_step, first ? 2 : 1);
    trial.lambda_step = best.first;
    trial.errors.push_back(best.second);
  }

 private:
  const Sample& sample_;
  Index most_;
  PairTable table_;
  Matrix<double> gram_;
};

double error_of_features(const MapChoice::Trial& trial, const FeatureRound& round, double rival,
                         const Sample& sample) {
  const auto map = make_map(trial.candidate, round.features, sample);
  return round.by_folds
             ? error_by_folds(*map, round.rows, sample)
             : error_by_leave_one_out(*map, round.rows, trial.lambda_step, rival, sample);
}

/// The candidate beyond the grid of which the best trial is the edge, after all exact rounds so far;
/// nothing where there is none.
std::optional<MapChoice::Trial> trial_beyond(const MapChoice& choice, ExactTrials& exact) {
  const MapChoice::Trial& rival = choice.trials.front();
  auto next = beyond_edge(rival.candidate, choice.trials);
  if (!next) return std::nullopt;
  MapChoice::Trial trial{std::move(*next), {}, 0};
  for (std::size_t r = 0; r < choice.rounds.size(); ++r)
    if (choice.rounds[r].features == 0)
      exact.add_error(trial, choice.rounds[r].rows, rival.errors[r]);
  return trial;
}

/// One more among the first `count`.
void join(MapChoice& choice, std::size_t& count, MapChoice::Trial trial) {
  choice.trials.insert(choice.trials.begin() + static_cast<std::ptrdiff_t>(count++),
                       std::move(trial));
  sort_trials(choice.trials, count);
}

void exact_round(MapChoice& choice, std::size_t count, Index rows, ExactTrials& exact,
                 const RoundProgress& progress) {
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < count; ++i) {
    progress.tell(i);
    exact.add_error(choice.trials[i], rows, best);
    best = std::min(best, choice.trials[i].errors.back());
  }
  choice.rounds.push_back({rows, 0});
  sort_trials(choice.trials, count);
}

/// All of them; how many candidates are left.
std::size_t exact_rounds(MapChoice& choice, const Sample& sample, const Progress& progress) {
  ExactTrials exact(sample);
  std::size_t count = choice.trials.size();
  for (Index n = std::min(kFirstRows, exact.most());; n = std::min(2 * n, exact.most())) {
    exact_round(choice, count, n, exact,
                {progress, choice.rounds.size(), count,
                 trials_to_come(n, exact.most(), count, !sample.options.exact)});
    while (auto trial = trial_beyond(choice, exact)) join(choice, count, std::move(*trial));
    if (!sample.options.keep_all || n == exact.most())
      count = survivors(choice.trials, count, cut_after(n));
    if (n == exact.most()) return count;
  }
}

void feature_round(MapChoice& choice, std::size_t count, Index rows, const Sample& sample,
                   const Progress& progress) {
  const RoundProgress steps(progress, choice.rounds.size(), count, 0);
  const FeatureRound round = feature_round_of(sample.rows.rows(), rows, sample.options.features);
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < count; ++i) {
    steps.tell(i);
    MapChoice::Trial& trial = choice.trials[i];
    trial.errors.push_back(error_of_features(trial, round, best, sample));
    best = std::min(best, trial.errors.back());
  }
  choice.rounds.push_back({round.rows, round.features});
  sort_trials(choice.trials, count);
  while (beyond_edge(choice.trials.front().candidate, choice.trials)) {
    // The distances are made again, and gone before there are features: memory is for one of both.
    std::optional<MapChoice::Trial> trial;
    {
      ExactTrials exact(sample);
      trial = trial_beyond(choice, exact);
    }
    trial->errors.push_back(error_of_features(*trial, round, best, sample));
    best = std::min(best, trial->errors.back());
    join(choice, count, std::move(*trial));
  }
}

/// Most memory that a choice on `count` rows of the data takes at once.
Index choice_bytes(const std::vector<MapCandidate>& candidates, const DataSummary& summary,
                   Index targets, Index count, const MapChoiceOptions& options) {
  // The rows themselves, their targets as read and as numbers to be fitted.
  const Index kept = bytes_of_rows(summary, count) + 8 * count * (2 * targets + 4);
  const Index sampling = kept + 2 * bytes_of_rows(summary, count) + 96 * count;
  const auto among_rows = [&](Index n, Index matrices) {
    return 8 * n * (matrices * n + 2 * targets) + blas::factor_scratch(n);
  };
  const Index exact_rows = most_exact_rows(count, options.exact);
  // Distances of both kinds, the kernel and its factor; threads turn tiles of rows into distances.
  const Index exact = among_rows(exact_rows, 4) + threads() * kGramScratch;
  if (options.exact) return std::max(sampling, kept + exact);
  const auto [features, used, by_folds] = feature_round_of(count, summary.rows, options.features);
  Index map = 0, m = features;
  for (const MapCandidate& candidate : candidates) {
    const FeatureMapEntry& entry = find_feature_map(candidate.map);
    map = std::max(map,
                   entry.bytes(summary.cols, entry.complete(with_features(candidate, features))));
    if (entry.keeps_rows) m = std::max(m, summary.cols);
  }
  const Index folds = kFolds * NormalEquations::bytes(m, targets) +
                      NormalEquations::scratch_bytes(Precision::single_, threads()) +
                      lambda_choice_bytes(m, targets, kFolds) + blas::factor_scratch(m);
  const Index dual = among_rows(used, 2) + 8 * used * kGramColumns;
  const Index last = map + 4 * used * m + (by_folds ? folds : dual);
  return std::max(sampling, kept + std::max(exact, last));
}

std::string explain(const MapChoice& choice) {
  const auto& first = choice.trials.front();
  if (choice.trials.size() == 1) return "the only candidate";
  const auto& round = choice.rounds.back();
  const auto& second = choice.trials[1];
  std::string text = fmt::format("least error of {} candidates", choice.trials.size());
  if (second.errors.size() == first.errors.size())
    text += fmt::format(": {} against {} for {}", number_of(first.errors.back()),
                        number_of(second.errors.back()), second.candidate.label);
  text += fmt::format(", on {} rows with {}", round.rows,
                      round.features == 0 ? std::string("the exact kernel")
                                          : fmt::format("{} features", round.features));
  if (const auto option = edge_option(first.candidate, choice.trials); !option.empty())
    text += fmt::format("; its {} is at the edge of what was tried", option);
  return text;
}

}  // namespace

MapChoice choose_map(std::vector<MapCandidate> candidates, const RowBlock& sample_rows,
                     MatrixView<const double> targets, Index rows, const MapChoiceOptions& options,
                     const Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  const Sample sample{sample_rows, targets, options};
  MapChoice choice;
  for (MapCandidate& candidate : candidates) choice.trials.push_back({std::move(candidate), {}, 0});
  if (choice.trials.size() > 1) {
    const std::size_t count = exact_rounds(choice, sample, progress);
    if (!options.exact) feature_round(choice, count, rows, sample, progress);
  }
  choice.reason = explain(choice);
  choice.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return choice;
}

Index map_choice_rows(const std::vector<MapCandidate>& candidates, const DataSummary& summary,
                      Index targets, const MapChoiceOptions& options) {
  const Index rows = summary.rows;
  const Index dual = std::clamp<Index>(kDualRows, 2, rows);
  // Rows of at most 1 GB.
  const Index by_size = std::max(dual, (Index{1} << 28) / std::max<Index>(summary.cols, 1));
  // A quarter of the rows and of the features costs a 64th of the fit; all of both where that is
  // little.
  const auto n = static_cast<double>(rows), m = static_cast<double>(options.features);
  const double part = std::clamp(std::cbrt(kFewFlops / (n * m * m)), 0.25, 1.0);
  const Index some = std::min({static_cast<Index>(part * n), kMostFeatureRows, by_size});
  Index count = rows > options.features ? std::max(dual, some) : dual;
  const Index memory = memory_budget(options.memory_limit), least = std::min(rows, kLeastRows);
  const auto bytes = [&] { return choice_bytes(candidates, summary, targets, count, options); };
  while (count > least && bytes() > memory) count = std::max(least, count - count / 8 - 1);
  require_memory(bytes(), options.memory_limit, fmt::format("choosing the map on {} rows", count),
                 "name the map with " + spell("map") + ", or raise " + spell("memory"));
  return count;
}

}  // namespace kerf::detail
