// How good a fit is beside a constant: the mean of the targets or the commonest class.
//
//   numbers   r2 = 1 - e / e0:  e the squared error of rows left out, e0 that of the mean of the rows
//             that were trained on; of several targets the mean of theirs, those that do not vary
//             left out, so that units do not matter
//   classes   accuracy: from the scores of rows left out, which solvers have for the temperature;
//             where there are none, r2 of the class indicators (1 for the row's class, else 0)
//
// What chance gives: a model that has learned nothing, but whose lambda was chosen, has an r2 of up to
// z^2 / n where z is normal (the best v of 2 z sqrt(v / n) - v), and gains z sqrt(d) rows over the
// commonest class where it disagrees with it in d rows.  Less than z = 3 counts as no better for
// numbers, because the kernel was chosen among many, too; z = 2 for classes; and never more than 0.05:
// a few rows of which all are right are no reason for a warning.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <string>

#include "kerf/learn/options/fit_outcome.h"
#include "kerf/learn/quality/temperature.h"
#include "kerf/learn/ridge/normal_equations.h"

namespace kerf::detail {

inline constexpr const char* kTrainingRows = "the rows trained on";

/// Mean squared errors of each target on the same rows, and its mean, beside which rounding is known.
struct TargetErrors {
  std::vector<double> fit, constant, mean;
};

/// Nothing if no target varies: there is nothing to explain.
std::optional<FitQuality> explained(const TargetErrors& errors, double rows, std::string how);
/// From scores of rows; nothing without rows that weigh something.
std::optional<FitQuality> accuracy(const LeftOutScores& scores, std::string how);
/// From what was predicted for rows that were left out one by one, or `copies` of them, which follow each
/// other, together; `rows`: those of y that `left_out` is of, or none: all of them.
std::optional<FitQuality> explained_left_out(MatrixView<const double> left_out,
                                             std::span<const Index> rows,
                                             MatrixView<const double> y, WeightsView weights,
                                             Index copies, std::string how);

/// Beside these errors of a fit those of the mean of the other folds' targets; `only`: on this fold alone.
TargetErrors beside_constant(std::vector<double> fit, std::span<const NormalEquations> folds,
                             std::optional<Index> only = {});
/// The rows that the sums are of, by the model that was solved for from them.
std::optional<FitQuality> explained_training(std::span<const NormalEquations> sums,
                                             const LinearModel& model);

/// Gives the quality its last words, keeps it in the model, and warns of a fit that is no better than a
/// constant.
void judge_fit(FitResult& result, ClassWeight class_weight);

}  // namespace kerf::detail
