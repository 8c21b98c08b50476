// How well a model does on rows whose targets are known, beside what a constant would do.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kerf/api/task.h"

namespace kerf {

/// A row that the model gets wrong.
struct WorstRow {
  Index row = 0;       ///< its number in the files, from 0, whatever was left out of them
  Index position = 0;  ///< in the source
  /// Regression: distance of prediction and target, in the target's unit (of several targets the root of
  /// the summed squares); classification: 1 - probability that the model gave to the right class.
  double error = 0;
  std::vector<double> target, predicted;  ///< classification: one class number each
};

/// One class against all others; 0 where a figure has no rows to be of.
struct ClassScore {
  double weight = 0;     ///< of the rows of this class
  double precision = 0;  ///< of those predicted so, the share that is
  double recall = 0;     ///< of those that are so, the share predicted
  double f1 = 0;         ///< harmonic mean of the two
};

/// How well the scores of two classes put the rows of the second above those of the first.
struct RankScore {
  double auc = 0.5;              ///< chance that of a row of each the right one is above
  double average_precision = 0;  ///< mean precision over the recalls; a constant has `share`
  double share = 0;              ///< of the second class
};

/// Whether probabilities can be taken at their word: rows by the probability of the class predicted.
struct Calibration {
  struct Bin {
    double weight = 0, confidence = 0, accuracy = 0;  ///< means of the rows in it
  };
  std::vector<Bin> bins;  ///< ten, of equal width
  double error = 0;       ///< mean of |confidence - accuracy| over rows
};

/// What intervals of one kind hold beside what they promise.
struct IntervalScore {
  std::string kind;     ///< normal: of variances; conformal: of calibration rows
  double promised = 0;  ///< the level
  double coverage = 0;  ///< share of the targets inside
  double width = 0;     ///< mean over rows, in the target's unit
};

/// What sets of classes hold beside what they promise.
struct SetScore {
  double promised = 0;
  double coverage = 0;  ///< share of the rows whose class is in their set
  double size = 0;      ///< mean number of classes in it
  double single = 0;    ///< share of the rows with one class
};

/// One target of a regression.  Figures of a constant are those of the best one for these rows.
struct TargetScore {
  double mse = 0, rmse = 0;
  double r2 = 0;   ///< 1 - squared error / squared distance from the mean; 0: all are equal
  double mae = 0;  ///< mean of |target - prediction|
  double median_error = 0;  ///< half of the rows are closer
  double constant_rmse = 0, constant_mae = 0, constant_median_error = 0;
  std::vector<IntervalScore> intervals = {};  ///< of 50, 80, 90 and 95 %, where the model has some
};

/// Medians and ranks are exact up to a million rows, beyond that of a sample of at least half as many.
struct Score {
  Task task = Task::regression;
  Index rows = 0;
  double weight = 0;  ///< sum of the weights that rows were counted with; rows, if all count once
  // Classification; the constant is the commonest class of these rows, or their shares.
  double accuracy = 0;              ///< share of the weight whose best class is right
  double balanced_accuracy = 0;     ///< mean recall of the classes that have rows
  Matrix<double> confusion;         ///< true class x predicted class, sums of weights
  std::vector<ClassScore> classes;  ///< by class number
  std::optional<double> log_loss;   ///< mean of -log(probability of the right class), at most 34.5
  std::optional<Calibration> calibration;
  std::optional<RankScore> ranking;  ///< of two classes that both have rows
  std::vector<SetScore> sets;        ///< of 50, 80, 90 and 95 %, where the model has some
  double constant_accuracy = 0, constant_balanced_accuracy = 0, constant_log_loss = 0;
  // Regression, over all targets, then each by itself.
  double mse = 0, rmse = 0;
  double r2 = 0;             ///< mean over the targets that vary
  double relative_rmse = 0;  ///< |y - prediction| / |y|
  std::vector<TargetScore> targets;
  /// Models with variances: share of the targets inside the 90 % interval, prediction +- 1.645 sd.
  std::optional<double> coverage;
  std::vector<WorstRow> worst;  ///< largest error first
  Index far_rows = 0;           ///< with a number far outside the range of training
};

}  // namespace kerf
