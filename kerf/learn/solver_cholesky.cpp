// Sums over rows in one pass, then Cholesky: any number of rows (ridge.h).
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "kerf/core/blas.h"
#include "kerf/core/parallel.h"
#include "kerf/core/require.h"
#include "kerf/learn/checkpoint.h"
#include "kerf/learn/condition.h"
#include "kerf/learn/lambda_choice.h"
#include "kerf/learn/refine.h"
#include "kerf/learn/solver.h"
#include "kerf/learn/temperature.h"

namespace kerf {
namespace {

std::vector<const NormalEquations*> pointers(std::span<const NormalEquations> sums) {
  std::vector<const NormalEquations*> parts;
  for (const auto& sum : sums) parts.push_back(&sum);
  return parts;
}

/// A model, and how far rounding in the sums has moved it (condition.h).
struct Solved {
  LinearModel model;
  double error = 0;
};

/// `lambda`: the least, where there are several.
Solved judged(std::span<const NormalEquations> sums, LinearModel model, double lambda,
              const Matrix<double>& factor) {
  const double error = rounding_error(pointers(sums), factor.view(), lambda, model.weights.view());
  return {std::move(model), error};
}

/// The model with what rounding took from it.  The sums are gone afterwards.
LinearModel refined(const Problem& problem, TrainingRows& rows, std::vector<NormalEquations> sums,
                    Solved solved, FitReport& outcome) {
  if (!(solved.error > kTolerable)) return std::move(solved.model);
  const Precision precision = sums.front().precision();
  if (!outcome.lambda_per_target.empty() || problem.outputs > problem.features) {
    outcome.warnings.push_back(rounding_warning(solved.error, precision));
    return std::move(solved.model);
  }
  const Origin origin = sums.front().origin();
  Matrix<double> factor;  // again: it was too large to be kept while probabilities were calibrated
  solve_ridge(pointers(sums), outcome.lambda, nullptr, &factor);
  sums.clear();
  Refined found = refine_ridge(rows, origin, factor.view(), outcome.lambda, solved.model);
  outcome.notes.push_back(fmt::format(
      "refined in double by {} more pass{} over the rows: rounding in the sums may have moved "
      "predictions by {:.1g} standard deviations of the target",
      found.passes, found.passes == 1 ? "" : "es", solved.error));
  if (found.residual > kTolerable)
    outcome.warnings.push_back(rounding_warning(found.residual, precision));
  return std::move(found.model);
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
    for (const auto& sum : sums_)
      KERF_REQUIRE(sum.features() == rows_.features() && sum.targets() == rows_.outputs(), data,
                   "the checkpoint's sums are of {} features and {} outputs, the fit has {} and {}",
                   sum.features(), sum.targets(), rows_.features(), rows_.outputs());
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

void enter_gcv(const SpectralPath& path, LambdaTable& table) {
  for (std::size_t k = 0; k < table.lambdas.size(); ++k)
    table.errors[k] = path.gcv(table.lambdas[k]);
}

/// Another pass over the rows.
void enter_leave_one_out(TrainingRows& rows, const SpectralPath& path, LambdaTable& table) {
  for (auto& errors : table.errors) errors.assign(static_cast<std::size_t>(rows.outputs()), 0.0);
  rows.for_each([&](const TrainingRows::Block& block) {
    const Stopwatch watch(rows.seconds().solve);
    path.add_leave_one_out(block.z, block.y, block.weights, table.lambdas, table.errors);
  });
}

/// Probabilities: the scores of one fold's rows by a model of the others, at the lambda chosen.
void calibrate(std::span<const NormalEquations> sums, TrainingRows& rows, FitReport& outcome) {
  const auto held_out = fold_to_hold_out(sums);
  if (!held_out) return;
  std::vector<const NormalEquations*> others;
  for (Index f = 0; f < std::ssize(sums); ++f)
    if (f != *held_out) others.push_back(&sums[static_cast<std::size_t>(f)]);
  const LinearModel model =
      solve_ridge(others, LambdaChoice{outcome.lambda, 0, {}, outcome.lambda_per_target});
  LeftOutScores left_out;
  Matrix<double> scores;
  rows.for_fold(*held_out, std::ssize(sums), [&](const TrainingRows::Block& block) {
    const Stopwatch watch(rows.seconds().solve);
    scores.resize(block.z.rows, rows.outputs());
    linear_scores(model, block.z, scores.view());
    left_out.add(scores.view(), block.y, block.weights);
    return !left_out.enough();
  });
  outcome.temperature = left_out.temperature();
}

LambdaSearch search_of(const FitOptions& options) {
  return {parse_lambda_grid(options.lambda_grid), options.lambda_per_target};
}

Solved take(std::span<const NormalEquations> sums, ChosenModel chosen, std::string validation,
            FitReport& outcome) {
  outcome.take(std::move(chosen.choice));
  outcome.validation = std::move(validation);
  const auto& each = outcome.lambda_per_target;
  return judged(sums, std::move(chosen.model),
                each.empty() ? outcome.lambda : std::ranges::min(each), chosen.factor);
}

/// Lambda (given or chosen) and the model.
Solved solve_sums(std::span<const NormalEquations> sums, const FitOptions& options,
                  const Progress& progress, FitReport& outcome) {
  const bool gcv = options.validation == Validation::gcv;
  KERF_REQUIRE(options.lambda || options.validation != Validation::leave_one_out, usage,
               "leave-one-out needs the rows, and only their sums were kept: use --validation gcv");
  if (!options.lambda && (gcv || sums.size() > 1)) {
    report(progress, "choosing lambda", 0, 0);
    return gcv ? take(sums, choose_lambda_by_spectrum(sums, search_of(options), enter_gcv),
                      "generalised cross-validation", outcome)
               : take(sums, choose_lambda(sums, search_of(options), progress),
                      fmt::format("{}-fold cross-validation", sums.size()), outcome);
  }
  KERF_REQUIRE(
      options.lambda.has_value(), usage,
      "these sums were kept without folds, so that lambda cannot be chosen: give --lambda");
  outcome.lambda = *options.lambda;
  report(progress, "solving", 0, 0);
  Matrix<double> factor;
  LinearModel model = solve_ridge(pointers(sums), outcome.lambda, nullptr, &factor);
  return judged(sums, std::move(model), outcome.lambda, factor);
}

LinearModel fit(const Problem& problem, TrainingRows& rows, FitReport& outcome) {
  auto sums = Accumulation(problem, rows).run();
  const FitOptions& options = problem.options;
  if (problem.penalty != nullptr) {
    const Stopwatch watch(rows.seconds().solve);
    outcome.lambda = *options.lambda;
    report(rows.progress(), "solving", 0, 0);
    const NormalEquations* all[] = {&sums.front()};
    return solve_ridge(all, outcome.lambda, problem.penalty);
  }
  if (!options.lambda && options.validation == Validation::leave_one_out) {
    report(rows.progress(), "choosing lambda", 0, 0);
    Solved solved =
        take(sums,
             choose_lambda_by_spectrum(sums, search_of(options),
                                       [&](const SpectralPath& path, LambdaTable& table) {
                                         enter_leave_one_out(rows, path, table);
                                       }),
             "leave-one-out", outcome);
    return refined(problem, rows, std::move(sums), std::move(solved), outcome);
  }
  Solved solved;
  {
    const Stopwatch watch(rows.seconds().solve);
    solved = solve_sums(sums, options, rows.progress(), outcome);
  }
  if (problem.classification && sums.size() > 1) calibrate(sums, rows, outcome);
  return refined(problem, rows, std::move(sums), std::move(solved), outcome);
}

Index bytes(const Problem& p) {
  const Index folds = fold_count(p.options, p.rows);
  const Index sums = folds * NormalEquations::bytes(p.features, p.outputs);
  const Index pass = TrainingRows::bytes(p.rows, p.inputs, p.features, p.outputs, folds) +
                     NormalEquations::scratch_bytes(p.options.precision, threads());
  const Index solve = p.options.lambda ? ridge_bytes(p.features, p.outputs)
                      : p.options.validation == Validation::folds
                          ? lambda_choice_bytes(p.features, p.outputs, folds)
                          : SpectralPath::bytes(p.features, p.outputs);
  const Index refining = 8 * p.features * p.features + pass + refine_bytes(p.features, p.outputs);
  return p.map_bytes + std::max(sums + std::max(pass, solve), refining) +
         blas::factor_scratch(p.features);
}

double seconds(const Problem& p) {
  const auto n = static_cast<double>(p.rows), m = static_cast<double>(p.features);
  const double gram_speed =
      p.options.precision == Precision::single_ ? speed::kSingle : speed::kDouble / 2;
  const bool spectrum = p.options.validation != Validation::folds;
  // Folds: five lambdas, a factor and some levels of fold_path.h each.
  const double solves = p.options.lambda ? 1 : spectrum ? 30 : 9;
  return feature_pass_seconds(p) + n * m * m / (gram_speed * threads()) +
         solves * m * m * m / 3 / (speed::kDouble * threads());
}

}  // namespace

LinearModel solve_fold_sums(std::span<const NormalEquations> sums, const FitOptions& options,
                            const Progress& progress, FitReport& outcome) {
  Solved solved = solve_sums(sums, options, progress, outcome);
  // The precision is not that of the options: sums that were kept have their own.
  std::string words = rounding_warning(solved.error, sums.front().precision());
  if (!words.empty()) outcome.warnings.push_back(std::move(words));
  return std::move(solved.model);
}

std::vector<NormalEquations> load_kept_sums(const Checkpoint& checkpoint, Index rows) {
  std::vector<NormalEquations> sums;
  while (auto state = checkpoint.load(sums_name(static_cast<Index>(sums.size()))))
    sums.push_back(NormalEquations::load(*state->arrays));
  KERF_REQUIRE(!sums.empty(), data,
               "the folder holds no sums: fit with --solver cholesky and --checkpoint keeps them");
  Index summed = 0;
  for (const NormalEquations& sum : sums) summed += sum.rows();
  KERF_REQUIRE(summed == rows, data,
               "the sums in the folder are of {} rows, the model is of {}: a fit that was killed?",
               summed, rows);
  return sums;
}

LinearModel solve_kept_sums(const Checkpoint& checkpoint, Index rows, const FitOptions& options,
                            const Progress& progress, FitReport& outcome) {
  const auto sums = load_kept_sums(checkpoint, rows);
  const Stopwatch watch(outcome.seconds.solve);
  return solve_fold_sums(sums, options, progress, outcome);
}

SolverEntry cholesky_solver() {
  return {Solver::cholesky,
          "sums over rows in one pass, then Cholesky: any number of rows",
          [](const Problem& p) {
            if (p.copies > 1 && !p.options.lambda && p.options.validation != Validation::folds)
              return std::string("would leave single rows out, but an image's copies remain");
            return std::string(p.options.loss == Loss::squared ? "" : "is for the squared loss");
          },
          bytes,
          seconds,
          fit};
}

}  // namespace kerf
