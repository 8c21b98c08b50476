// Sums over rows in one pass, then Cholesky: any number of rows (ridge.h).
//
// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/parallel.h"
#include "kerf/core/require.h"
#include "kerf/learn/checkpoint.h"
#include "kerf/learn/condition.h"
#include "kerf/learn/lambda_choice.h"
#include "kerf/learn/solver.h"

namespace kerf {
namespace {

/// One fold tells: its rows are a sample of all.
void warn(std::span<const NormalEquations> sums, const FitOptions& options, FitReport& outcome) {
  std::string words = condition_warning(sums.first(1), outcome.lambda, options.precision);
  if (!words.empty()) outcome.warnings.push_back(std::move(words));
}

std::string sums_name(Index fold) { return "sums-" + std::to_string(fold); }

/// The sums of one pass over the rows, which may go on where a checkpoint left off: each fold's
/// sums are of its first rows, and say how many.
class Accumulation {
 public:
  Accumulation(const Problem& problem, TrainingRows& rows)
      : checkpoint_(problem.checkpoint),
        rows_(rows),
        folds_(fold_count(problem.options, rows.rows())),
        precision_(problem.options.precision) {}

  std::vector<NormalEquations> run() {
    std::vector<Index> skip;
    for (Index f = 0; f < folds_ && checkpoint_; ++f)
      if (auto state = checkpoint_->load(sums_name(f)))
        sums_.push_back(NormalEquations::load(*state->arrays));
    if (static_cast<Index>(sums_.size()) != folds_) sums_.clear();  // killed before the first save
    for (const auto& sum : sums_) skip.push_back(sum.rows());
    saved_.assign(static_cast<std::size_t>(folds_), -1);
    rows_.for_each(
        folds_, [&](const TrainingRows::Block& block) { add(block); }, skip);
    if (checkpoint_) save();
    return std::move(sums_);
  }

 private:
  void add(const TrainingRows::Block& block) {
    const Stopwatch watch(rows_.seconds().accumulate);
    if (sums_.empty()) {
      const Origin origin = origin_of(block.z, block.y);
      for (Index f = 0; f < folds_; ++f) sums_.emplace_back(origin, precision_);
    }
    sums_[static_cast<std::size_t>(block.fold)].add(block.z, block.y, block.weights);
    if (checkpoint_ && checkpoint_->due()) save();
  }

  void save() {
    for (std::size_t f = 0; f < sums_.size(); ++f) {
      if (saved_[f] == sums_[f].rows()) continue;
      ArrayWriter arrays;
      sums_[f].save(arrays);
      checkpoint_->save(sums_name(static_cast<Index>(f)), arrays);
      saved_[f] = sums_[f].rows();
    }
  }

  Checkpoint* checkpoint_;
  TrainingRows& rows_;
  Index folds_;
  Precision precision_;
  std::vector<NormalEquations> sums_;
  std::vector<Index> saved_;
};

LinearModel fit(const Problem& problem, TrainingRows& rows, FitReport& outcome) {
  const auto sums = Accumulation(problem, rows).run();
  const Stopwatch watch(rows.seconds().solve);
  return solve_fold_sums(sums, problem.options, rows.progress(), outcome);
}

Index bytes(const Problem& p) {
  const Index folds = fold_count(p.options, p.rows);
  const Index sums = folds * NormalEquations::bytes(p.features, p.outputs);
  const Index pass = TrainingRows::bytes(p.rows, p.inputs, p.features, p.outputs, folds) +
                     NormalEquations::scratch_bytes(p.options.precision, threads());
  const Index solve = p.options.lambda ? ridge_bytes(p.features, p.outputs)
                                       : lambda_choice_bytes(p.features, p.outputs, folds);
  return p.map_bytes + sums + std::max(pass, solve);
}

double seconds(const Problem& p) {
  const auto n = static_cast<double>(p.rows), m = static_cast<double>(p.features);
  const double gram_speed =
      p.options.precision == Precision::single_ ? speed::kSingle : speed::kDouble / 2;
  const double solves = p.options.lambda ? 1 : 3;
  return feature_pass_seconds(p) + n * m * m / (gram_speed * threads()) +
         solves * m * m * m / 3 / (speed::kDouble * threads());
}

}  // namespace

LinearModel solve_fold_sums(std::span<const NormalEquations> sums, const FitOptions& options,
                            const Progress& progress, FitReport& outcome) {
  if (!options.lambda && sums.size() > 1) {
    auto [choice, model] = choose_lambda(
        sums, {parse_lambda_grid(options.lambda_grid), options.lambda_per_target}, progress);
    outcome.take(std::move(choice));
    warn(sums, options, outcome);
    outcome.validation = fmt::format("{}-fold cross-validation", sums.size());
    return std::move(model);
  }
  KERF_REQUIRE(
      options.lambda.has_value(), usage,
      "these sums were kept without folds, so that lambda cannot be chosen: give --lambda");
  outcome.lambda = *options.lambda;
  warn(sums, options, outcome);
  report(progress, "solving", 0, 0);
  std::vector<const NormalEquations*> parts;
  for (const auto& sum : sums) parts.push_back(&sum);
  return solve_ridge(parts, outcome.lambda);
}

LinearModel solve_kept_sums(const Checkpoint& checkpoint, const FitOptions& options,
                            const Progress& progress, FitReport& outcome) {
  std::vector<NormalEquations> sums;
  while (auto state = checkpoint.load(sums_name(static_cast<Index>(sums.size()))))
    sums.push_back(NormalEquations::load(*state->arrays));
  KERF_REQUIRE(!sums.empty(), data,
               "the folder holds no sums: fit with --solver cholesky and --checkpoint keeps them");
  const Stopwatch watch(outcome.seconds.solve);
  return solve_fold_sums(sums, options, progress, outcome);
}

SolverEntry cholesky_solver() {
  return {Solver::cholesky,
          "sums over rows in one pass, then Cholesky: any number of rows",
          [](const Problem& p) {
            return std::string(p.options.loss == Loss::squared ? "" : "is for the squared loss");
          },
          bytes,
          seconds,
          fit};
}

}  // namespace kerf
