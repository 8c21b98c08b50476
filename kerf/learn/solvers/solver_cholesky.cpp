// Sums over rows in one pass, then Cholesky: any number of rows (ridge.h).
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"
#include "kerf/learn/quality/fit_quality.h"
#include "kerf/learn/ridge/condition.h"
#include "kerf/learn/solvers/fold_sums.h"
#include "kerf/learn/solvers/refine.h"
#include "kerf/learn/solvers/solver.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

/// The model with what rounding took from it.  The sums are gone afterwards.
LinearModel refined(const Problem& problem, TrainingRows& rows, std::vector<NormalEquations> sums,
                    SolvedSums& solved, FitReport& outcome) {
  if (!(solved.error > kTolerable)) return std::move(solved.model);
  const Precision precision = sums.front().precision();
  const auto warn = [&](double error) {
    outcome.warnings.push_back(rounding_warning(error, precision, !problem.options.lambda));
    outcome.wants_double = precision == Precision::single_;
  };
  if (!outcome.lambda_per_target.empty() || problem.outputs > problem.features) {
    warn(solved.error);
    return std::move(solved.model);
  }
  const Origin origin = sums.front().origin();
  Matrix<double> factor;  // again: it was too large to be kept while probabilities were calibrated
  solve_ridge(parts_of(sums), outcome.lambda, nullptr, &factor);
  sums.clear();
  Refined found = refine_ridge(rows, origin, factor.view(), outcome.lambda, solved.model);
  outcome.notes.push_back(fmt::format(
      "refined in double by {} more pass{} over the rows: without it, rounding in the sums might "
      "have moved predictions by {:.1g} standard deviations of the target",
      found.passes, found.passes == 1 ? "" : "es", solved.error));
  if (found.residual > kTolerable) warn(found.residual);
  return std::move(found.model);
}

bool chooses_by_folds(const FitOptions& options) {
  return !options.lambda && options.validation == Validation::folds;
}

/// One for each fold if they choose lambda; else, for the probabilities of classes, that of one
/// fold and that of all others.
Index sums_kept(const Problem& p) {
  return chooses_by_folds(p.options) ? std::min(p.options.folds, p.rows) : p.classification ? 2 : 1;
}

/// The sums of one pass over the rows, which may go on where a checkpoint left off: each fold's
/// sums are of its first rows, and say how many.
class Accumulation {
 public:
  Accumulation(const Problem& problem, TrainingRows& rows)
      : checkpoint_(problem.checkpoint),
        rows_(rows),
        folds_(std::min(problem.options.folds, rows.rows())),
        count_(sums_kept(problem)),
        precision_(problem.options.precision) {
    if (!chooses_by_folds(problem.options) && count_ == 2) apart_ = rows.fold_with_rows(folds_);
    if (!chooses_by_folds(problem.options) && apart_ < 0) folds_ = count_ = 1;
    if (wants_sample(problem.options, problem.classification))
      sample_.emplace(problem.options.seed, problem.copies);
  }

  Index folds() const { return folds_; }
  /// The fold that the first of the sums is of, where the second is of all others; else -1.
  Index apart() const { return apart_; }
  /// Rows that a checkpoint's sums had already.
  Index resumed() const { return resumed_; }
  /// Rows to judge a given lambda by; null: none.
  const RowSample* sample() const { return sample_ ? &*sample_ : nullptr; }

  std::vector<NormalEquations> run() {
    std::vector<Index> skip;
    for (Index f = 0; f < count_ && checkpoint_; ++f)
      if (auto state = checkpoint_->load(sums_name(f)))
        sums_.push_back(NormalEquations::load(*state->arrays));
    if (static_cast<Index>(sums_.size()) != count_) sums_.clear();  // killed before the first save
    for (const auto& sum : sums_)
      KERF_REQUIRE(sum.features() == rows_.features() && sum.targets() == rows_.outputs(), data,
                   "the checkpoint's sums are of {} features and {} outputs, the fit has {} and {}",
                   sum.features(), sum.targets(), rows_.features(), rows_.outputs());
    for (const auto& sum : sums_) skip.push_back(sum.rows()), resumed_ += sum.rows();
    if (!sums_.empty() && sample_) resume_sample();
    saved_.assign(count_, -1);
    rows_.for_each(
        folds_, [&](const TrainingRows::Block& block) { add(block); }, skip, apart_);
    if (checkpoint_) save();
    return std::move(sums_);
  }

 private:
  void add(const TrainingRows::Block& block) {
    const PhaseClock watch(rows_.seconds().accumulate);
    if (sums_.empty()) {
      const Origin origin = origin_of(block.z, block.y);
      for (Index f = 0; f < count_; ++f) sums_.emplace_back(origin, precision_);
    }
    if (sample_) sample_->add(block.first, block.z, block.y, block.weights);
    sums_[block.fold].add(block.z, block.y, block.weights);
    if (checkpoint_ && checkpoint_->due()) save();
  }

  /// Sums of an early version have none, and its rows do not come again.
  void resume_sample() {
    auto kept = load_sample(*checkpoint_);
    if (kept && kept->features() == rows_.features() && kept->outputs() == rows_.outputs())
      sample_ = std::move(kept);
    else
      sample_.reset();
  }

  /// The sample first: rows that it has already are known when they come again, sums do not know them.
  void save() {
    if (sample_) {
      ArrayWriter arrays;
      sample_->save(arrays);
      checkpoint_->save(kSampleName, arrays);
    }
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
  Index folds_, apart_ = -1;
  Index count_;  // of sums
  Index resumed_ = 0;
  Precision precision_;
  std::vector<NormalEquations> sums_;
  std::optional<RowSample> sample_;
  std::vector<Index> saved_;
};

/// Another pass over the rows.
void enter_leave_one_out(TrainingRows& rows, const SpectralPath& path, LambdaTable& table) {
  for (auto& errors : table.errors) errors.assign(rows.outputs(), 0.0);
  rows.for_each([&](const TrainingRows::Block& block) {
    const PhaseClock watch(rows.seconds().solve);
    path.add_leave_one_out(block.z, block.y, block.weights, table.lambdas, table.errors);
  });
}

/// Probabilities: the scores of one fold's rows by a model of the others, at the lambda of the fit.
void calibrate(const Problem& problem, const Accumulation& made,
               std::span<const NormalEquations> sums, TrainingRows& rows, FitReport& outcome) {
  const auto held_out = fold_to_hold_out(sums);
  if (!held_out) return;
  const auto model = model_without(sums, *held_out, outcome, problem.penalty);
  if (!model) return;
  LeftOutScores left_out;
  LeftOutRows kept;
  Matrix<double> scores;
  const Index fold = made.apart() >= 0 ? made.apart() : *held_out;
  rows.for_fold(fold, made.folds(), [&](const TrainingRows::Block& block) {
    const PhaseClock watch(rows.seconds().solve);
    scores.resize(block.z.rows, rows.outputs());
    linear_scores(*model, block.z, scores.view());
    left_out.add(scores.view(), block.y, block.weights);
    if (problem.checkpoint) kept.add(block.z, block.y, block.weights);
    return !left_out.enough();
  });
  take_scores(left_out, made.folds(), outcome);
  if (!problem.checkpoint) return;
  ArrayWriter arrays;
  kept.save(arrays);
  problem.checkpoint->save(kLeftOutName, arrays);
}

SolvedSums solve(const Problem& problem, std::span<const NormalEquations> sums,
                 const RowSample* sample, TrainingRows& rows, FitReport& outcome) {
  const FitOptions& options = problem.options;
  if (!options.lambda && options.validation == Validation::leave_one_out) {
    report(rows.progress(), "choosing lambda", 0, 0, "lambdas");
    return take_choice(sums,
                       choose_lambda_by_spectrum(sums, search_of(options),
                                                 [&](const SpectralPath& path, LambdaTable& table) {
                                                   enter_leave_one_out(rows, path, table);
                                                 }),
                       "leave-one-out", outcome);
  }
  const PhaseClock watch(rows.seconds().solve);
  if (problem.penalty == nullptr)
    return solve_sums(sums, sample, options, rows.progress(), outcome);
  report(rows.progress(), "solving", 0, 0, "");
  return solve_sums_at(sums, sample, *options.lambda, problem.penalty, outcome);
}

LinearModel fit(const Problem& problem, TrainingRows& rows, FitReport& outcome) {
  Accumulation accumulation(problem, rows);
  auto sums = accumulation.run();
  if (accumulation.resumed() > 0)
    note_resumed(
        problem.options,
        fmt::format("{} of {} rows were summed before", accumulation.resumed(), rows.rows()),
        outcome);
  const RowSample* sample = accumulation.sample();
  SolvedSums solved = solve(problem, sums, sample, rows, outcome);
  if (problem.classification) calibrate(problem, accumulation, sums, rows, outcome);
  LinearModel model = refined(problem, rows, std::move(sums), solved, outcome);
  if (sample != nullptr)
    judge_left_out(*sample, solved.leverages, model, outcome);
  else if (wants_sample(problem.options, problem.classification))
    warn_without_sample(outcome);
  return model;
}

Index bytes(const Problem& p) {
  const Index folds = sums_kept(p);
  const Index sums = folds * NormalEquations::bytes(p.features, p.outputs);
  const Index pass = TrainingRows::bytes(p.rows, p.inputs, p.features, p.outputs, folds) +
                     NormalEquations::scratch_bytes(p.options.precision, threads());
  const Index solve = p.options.lambda ? ridge_bytes(p.features, p.outputs)
                      : p.options.validation == Validation::folds
                          ? lambda_choice_bytes(p.features, p.outputs, folds)
                          : SpectralPath::bytes(p.features, p.outputs);
  const Index refining = 8 * p.features * p.features + pass + refine_bytes(p.features, p.outputs);
  const Index sample = wants_sample(p.options, p.classification)
                           ? RowSample::bytes(p.rows, p.features, p.outputs)
                           : 0;
  return p.map_bytes + sample + std::max(sums + std::max(pass, solve), refining) +
         blas::factor_scratch(p.features);
}

ExpectedSeconds seconds(const Problem& p, const Speeds& s) {
  const bool spectrum = p.options.validation != Validation::folds;
  // Folds: five lambdas, a factor and some levels of fold_path.h each.
  const double solves = (p.options.lambda ? 1 : spectrum ? 30 : 9) + (p.classification ? 1 : 0);
  return {feature_pass_seconds(p, s) + sums_seconds(p, s), solves * factor_seconds(p, s)};
}

}  // namespace

SolverEntry cholesky_solver() {
  return {"cholesky",
          "sums over rows in one pass, then Cholesky: any number of rows",
          [](const Problem& p) {
            if (p.copies > 1 && !p.options.lambda && p.options.validation != Validation::folds)
              return std::string("would leave single rows out, but an image's copies remain");
            return std::string(p.options.loss == Loss::squared ? "" : "is for the squared loss");
          },
          bytes,
          seconds,
          fit,
          {.identity = "1",
           .wants_many_rows = true,
           .keeps_sums = true,
           .takes_penalty = true,
           .block_by_block = true}};
}

}  // namespace kerf::detail
