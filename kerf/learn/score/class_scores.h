// Figures of a classification that a confusion matrix and probabilities give.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/api/score.h"

namespace kerf::detail {

/// Accuracy, balanced accuracy, the classes and the constant's figures, from score.confusion.
void finish_classes(Score& score);

/// Puts rows into bins by the probability of the class predicted.
class CalibrationBins {
 public:
  void add(double confidence, bool right, double weight);
  Calibration finish() const;

 private:
  static constexpr Index kBins = 10;
  Calibration::Bin sums_[kBins];
};

}  // namespace kerf::detail
