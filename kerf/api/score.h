// How well a model does on rows whose targets are known.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "kerf/api/task.h"

namespace kerf {

/// A row that the model gets wrong.
struct WorstRow {
  Index row = 0;       ///< its number in the files, from 0, whatever was left out of them
  Index position = 0;  ///< in the source
  double error = 0;  ///< regression: distance of prediction and target; classification: how far the
                     ///< score of the class predicted is above that of the right one
  std::vector<double> target, predicted;  ///< classification: one class number each
};

struct Score {
  Task task = Task::regression;
  Index rows = 0;
  double weight = 0;  ///< sum of the weights that rows were counted with; rows, if all count once
  // Classification.
  double accuracy = 0;             ///< share of the weight whose best class is right
  Matrix<double> confusion;        ///< true class x predicted class, sums of weights
  std::optional<double> log_loss;  ///< mean of -log(probability of the right class), at most 34.5
  // Regression, over all targets.
  double mse = 0, rmse = 0;
  double r2 = 0;             ///< 1 - squared error / squared distance from the targets' means
  double relative_rmse = 0;  ///< |y - prediction| / |y|
  /// Models with variances: share of the targets inside the 90 % interval, prediction +- 1.645 sd.
  std::optional<double> coverage;
  std::vector<WorstRow> worst;  ///< largest error first
  Index far_rows = 0;           ///< with a number far outside the range of training
};

}  // namespace kerf
