// From the sums over the rows of each fold to a model and what it says of itself: the second half of
// the cholesky solver, for who has the rows no more (refit, rows that come block by block) too.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/core/progress.h"
#include "kerf/learn/lambda/lambda_choice.h"
#include "kerf/learn/options/fit_outcome.h"
#include "kerf/learn/quality/calibration.h"
#include "kerf/learn/quality/row_sample.h"
#include "kerf/learn/quality/temperature.h"
#include "kerf/learn/rows/checkpoint.h"

namespace kerf::detail {

/// A model, and how far rounding in the sums has moved it (condition.h).
struct SolvedSums {
  LinearModel model;
  double error = 0;
  RowSample::Leverages leverages = {};  ///< of the rows sampled, if there are some
};

/// Lambda (given or chosen), the model and its quality; with a given lambda that of the rows trained on,
/// or, from a sample of them (none: null), what judge_left_out() needs.
SolvedSums solve_sums(std::span<const NormalEquations> sums, const RowSample* sample,
                      const FitOptions& options, const Progress& progress, FitReport& outcome);
/// The same at a given lambda, with a penalty; null: the identity.
SolvedSums solve_sums_at(std::span<const NormalEquations> sums, const RowSample* sample,
                         double lambda, const Matrix<float>* penalty, FitReport& outcome);
/// Where the quality is that of the rows trained on, because a checkpoint's sample of them is gone: says so.
void warn_without_sample(FitReport& outcome);
/// The quality of rows left out one by one, of the solution as it has become since.
void judge_left_out(const RowSample& sample, const RowSample::Leverages& leverages,
                    const LinearModel& model, FitReport& outcome);
/// Whether such a sample is wanted: a fold held out, or all folds, give the quality of other fits.
bool wants_sample(const FitOptions& options, bool classification);
/// The same with a lambda that was chosen in another way; `validation`: which, in words.
SolvedSums take_choice(std::span<const NormalEquations> sums, ChosenModel chosen,
                       std::string validation, FitReport& outcome);
/// As the functions of ridge.h take them.
std::vector<const NormalEquations*> parts_of(std::span<const NormalEquations> sums);
/// The lambdas to choose from.
LambdaSearch search_of(const FitOptions& options);
/// Probabilities and accuracy from scores of one fold's rows, by a model of the others.
void take_scores(const LeftOutScores& scores, Index folds, FitReport& outcome);

/// What is kept of rows.
struct FoldSums {
  std::vector<NormalEquations> sums;     ///< one for each fold; or of one fold, and of all others
  Index folds = 1;                       ///< that rows are sorted into
  LeftOutRows left_out = {};             ///< classes: the first rows of fold_to_hold_out(sums)
  std::optional<RowSample> sample = {};  ///< numbers, where lambda was given

  /// Whether they are of one fold, and of all others.
  bool one_apart() const { return std::ssize(sums) == 2 && folds > 2; }
};

/// Lambda (given or chosen), the model and all that it says of itself; classes without rows that were
/// left out have no temperature.
LinearModel solve_fold_sums(const FoldSums& kept, bool classification, const FitOptions& options,
                            const Progress& progress, FitReport& outcome);

// ---- in a checkpoint ----------------------------------------------------------------------------

/// The names of the sums of a fold and of the rows left out.
std::string sums_name(Index fold);
inline constexpr const char* kLeftOutName = "left-out";
inline constexpr const char* kSampleName = "sample";

/// What the cholesky solver kept of so many rows, which it was asked to sort into `folds`.
FoldSums load_fold_sums(const Checkpoint& checkpoint, Index rows, Index folds);
/// The rows that it sampled; nothing: it did not.
std::optional<RowSample> load_sample(const Checkpoint& checkpoint);

}  // namespace kerf::detail
