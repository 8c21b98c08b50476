// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/solvers/fold_sums.h"

#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/stopwatch.h"
#include "kerf/learn/quality/fit_quality.h"
#include "kerf/learn/ridge/condition.h"

namespace kerf::detail {
namespace {

/// `lambda`: the least, where there are several.
SolvedSums judged(std::span<const NormalEquations> sums, LinearModel model, double lambda,
                  const Matrix<double>& factor) {
  const double error = rounding_error(parts_of(sums), factor.view(), lambda, model.weights.view());
  return {std::move(model), error};
}

/// Where lambda is given and sums of folds are there anyway: one more factor.
void judge_by_fold(std::span<const NormalEquations> sums, Index folds, FitReport& outcome) {
  const auto fold = fold_to_hold_out(sums);
  if (!fold) return;
  const auto errors =
      beside_constant(cross_validation_errors(sums, outcome.lambda, fold), sums, fold);
  if (auto found =
          explained(errors, sums[*fold].weight(), fmt::format("one fold of {} held out", folds)))
    outcome.quality = std::move(found);
}

/// The errors that chose lambda, beside those of the mean.
void judge(std::span<const NormalEquations> sums, std::vector<double> errors, FitReport& outcome) {
  double rows = 0;
  for (const NormalEquations& sum : sums) rows += sum.weight();
  outcome.quality = explained(beside_constant(std::move(errors), sums), rows, outcome.validation);
}

void enter_gcv(const SpectralPath& path, LambdaTable& table) {
  for (std::size_t k = 0; k < table.lambdas.size(); ++k)
    table.errors[k] = path.gcv(table.lambdas[k]);
}

}  // namespace

std::vector<const NormalEquations*> parts_of(std::span<const NormalEquations> sums) {
  std::vector<const NormalEquations*> parts;
  for (const auto& sum : sums) parts.push_back(&sum);
  return parts;
}

LambdaSearch search_of(const FitOptions& options) {
  return {parse_lambda_grid(options.lambda_grid), options.lambda_per_target};
}

SolvedSums take_choice(std::span<const NormalEquations> sums, ChosenModel chosen,
                       std::string validation, FitReport& outcome) {
  auto errors = std::move(chosen.choice.target_errors);
  outcome.take(std::move(chosen.choice));
  outcome.validation = std::move(validation);
  judge(sums, std::move(errors), outcome);
  const auto& each = outcome.lambda_per_target;
  return judged(sums, std::move(chosen.model),
                each.empty() ? outcome.lambda : std::ranges::min(each), chosen.factor);
}

bool wants_sample(const FitOptions& options, bool classification) {
  return options.lambda.has_value() && !classification;
}

SolvedSums solve_sums_at(std::span<const NormalEquations> sums, const RowSample* sample,
                         double lambda, const Matrix<float>* penalty, FitReport& outcome) {
  outcome.lambda = lambda;
  Matrix<double> factor;
  LinearModel model = solve_ridge(parts_of(sums), lambda, penalty, &factor);
  outcome.quality = explained_training(sums, model);
  SolvedSums solved = penalty == nullptr ? judged(sums, std::move(model), lambda, factor)
                                         : SolvedSums{std::move(model), 0};
  if (sample != nullptr) solved.leverages = sample->leverages(parts_of(sums), factor.view());
  return solved;
}

void warn_without_sample(FitReport& outcome) {
  if (outcome.quality && !outcome.quality->left_out())
    outcome.warnings.push_back(
        fmt::format("the checkpoint has sums but not the rows kept to judge them, so that r2 is "
                    "that of the rows "
                    "trained on, which says little: fit again with another {}",
                    spell("checkpoint")));
}

void judge_left_out(const RowSample& sample, const RowSample::Leverages& leverages,
                    const LinearModel& model, FitReport& outcome) {
  if (!outcome.quality) return;  // the target does not vary
  if (auto found = sample.quality(leverages, model)) {
    outcome.quality = std::move(found);
    return;
  }
  outcome.warnings.push_back(fmt::format(
      "with so small a lambda the model follows some rows to the last digit of its sums, so that "
      "rows left out cannot be judged: raise {}{}",
      spell("lambda"),
      leverages.precision == Precision::single_ ? " or take " + spell("precision", "double") : ""));
}

SolvedSums solve_sums(std::span<const NormalEquations> sums, const RowSample* sample,
                      const FitOptions& options, const Progress& progress, FitReport& outcome) {
  const bool gcv = options.validation == Validation::gcv;
  KERF_REQUIRE(options.lambda || options.validation != Validation::leave_one_out, usage,
               "leave-one-out needs the rows, and only their sums were kept: use {}",
               spell("validation", "gcv"));
  if (!options.lambda && (gcv || sums.size() > 1)) {
    const PhaseClock watch(outcome.seconds.lambda);
    report(progress, "choosing lambda", 0, 0, "lambdas");
    return gcv ? take_choice(sums, choose_lambda_by_spectrum(sums, search_of(options), enter_gcv),
                             "generalised cross-validation", outcome)
               : take_choice(sums, choose_lambda(sums, search_of(options), progress),
                             fmt::format("{}-fold cross-validation", sums.size()), outcome);
  }
  KERF_REQUIRE(options.lambda.has_value(), usage,
               "these sums were kept without folds, so that lambda cannot be chosen: give {}",
               spell("lambda"));
  report(progress, "solving", 0, 0, "");
  return solve_sums_at(sums, sample, *options.lambda, nullptr, outcome);
}

void take_scores(const LeftOutScores& scores, Index folds, FitReport& outcome) {
  outcome.temperature = scores.temperature();
  outcome.quality = accuracy(scores, fmt::format("one fold of {} held out", folds));
}

LinearModel solve_fold_sums(const FoldSums& kept, bool classification, const FitOptions& options,
                            const Progress& progress, FitReport& outcome) {
  KERF_REQUIRE(
      options.lambda || !kept.one_apart() || options.validation == Validation::gcv, usage,
      "the fit was given its lambda and kept the sums of one fold and those of all others: "
      "two parts so uneven cannot choose another; give {} or {}, or fit again without a "
      "lambda",
      spell("lambda"), spell("validation", "gcv"));
  const bool sampled = wants_sample(options, classification) && kept.sample;
  SolvedSums solved =
      solve_sums(kept.sums, sampled ? &*kept.sample : nullptr, options, progress, outcome);
  // The precision is not that of the options: sums that were kept have their own.
  std::string words =
      rounding_warning(solved.error, kept.sums.front().precision(), !options.lambda);
  if (!words.empty()) outcome.warnings.push_back(std::move(words));
  if (sampled) {
    judge_left_out(*kept.sample, solved.leverages, solved.model, outcome);
  } else if (wants_sample(options, classification)) {
    judge_by_fold(kept.sums, kept.folds, outcome);
    warn_without_sample(outcome);
  }
  if (!classification) return std::move(solved.model);
  const auto held_out = fold_to_hold_out(kept.sums);
  const auto others = held_out ? model_without(kept.sums, *held_out, outcome) : std::nullopt;
  if (others && kept.left_out.rows() > 0)
    take_scores(kept.left_out.scores(*others), kept.folds, outcome);
  return std::move(solved.model);
}

std::optional<RowSample> load_sample(const Checkpoint& checkpoint) {
  const auto state = checkpoint.load(kSampleName);
  return state ? std::optional(RowSample::load(*state->arrays)) : std::nullopt;
}

std::string sums_name(Index fold) { return "sums-" + std::to_string(fold); }

FoldSums load_fold_sums(const Checkpoint& checkpoint, Index rows, Index folds) {
  std::vector<NormalEquations> sums;
  while (auto state = checkpoint.load(sums_name(static_cast<Index>(sums.size()))))
    sums.push_back(NormalEquations::load(*state->arrays));
  KERF_REQUIRE(!sums.empty(), data, "the folder holds no sums: fit with {} and {} keeps them",
               spell("solver", "cholesky"), spell("checkpoint"));
  Index summed = 0;
  for (const NormalEquations& sum : sums) summed += sum.rows();
  KERF_REQUIRE(summed == rows, data,
               "the sums in the folder are of {} rows, the model is of {}: a fit that was killed?",
               summed, rows);
  FoldSums kept{std::move(sums)};
  // Two sums may be of one fold and of all others (probabilities at a given lambda).
  kept.folds = std::ssize(kept.sums) == 2 ? std::min(folds, rows) : std::ssize(kept.sums);
  kept.sample = load_sample(checkpoint);
  KERF_REQUIRE(!kept.sample || (kept.sample->features() == kept.sums.front().features() &&
                                kept.sample->outputs() == kept.sums.front().targets()),
               data, "the rows sampled in the folder are not those of its sums");
  const auto state = checkpoint.load(kLeftOutName);
  if (!state) return kept;
  kept.left_out = LeftOutRows::load(*state->arrays);
  KERF_REQUIRE(kept.left_out.features() == kept.sums.front().features() &&
                   kept.left_out.outputs() == kept.sums.front().targets(),
               data, "the rows kept for probabilities are of {} features and {} outputs",
               kept.left_out.features(), kept.left_out.outputs());
  return kept;
}

}  // namespace kerf::detail
