// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/score/class_scores.h"

#include <algorithm>
#include <cmath>

namespace kerf::detail {
namespace {

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

void finish_classes(Score& score) {
  const Matrix<double>& confusion = score.confusion;
  const Index count = confusion.rows();
  std::vector<double> predicted(count);
  for (Index i = 0; i < count; ++i)
    for (Index j = 0; j < count; ++j) predicted[j] += confusion(i, j);
  double right = 0, recalls = 0, largest = 0, entropy = 0;
  Index present = 0;
  for (Index c = 0; c < count; ++c) {
    ClassScore one;
    for (const double cell : confusion.row(c)) one.weight += cell;
    const double hits = confusion(c, c), share = ratio(one.weight, score.weight);
    one.precision = ratio(hits, predicted[c]);
    one.recall = ratio(hits, one.weight);
    one.f1 = ratio(2 * hits, one.weight + predicted[c]);
    score.classes.push_back(one);
    right += hits;
    recalls += one.recall;
    present += one.weight > 0 ? 1 : 0;
    largest = std::max(largest, share);
    if (share > 0) entropy -= share * std::log(share);
  }
  score.accuracy = ratio(right, score.weight);
  score.balanced_accuracy = ratio(recalls, static_cast<double>(present));
  score.constant_accuracy = largest;
  score.constant_balanced_accuracy = ratio(1, static_cast<double>(present));
  score.constant_log_loss = entropy;
}

void CalibrationBins::add(double confidence, bool right, double weight) {
  const auto bin =
      std::clamp(static_cast<Index>(confidence * static_cast<double>(kBins)), Index{0}, kBins - 1);
  sums_[bin].weight += weight;
  sums_[bin].confidence += weight * confidence;
  sums_[bin].accuracy += right ? weight : 0;
}

Calibration CalibrationBins::finish() const {
  Calibration out;
  double gap = 0, weight = 0;
  for (const Calibration::Bin& sum : sums_) {
    out.bins.push_back(
        {sum.weight, ratio(sum.confidence, sum.weight), ratio(sum.accuracy, sum.weight)});
    gap += std::abs(sum.confidence - sum.accuracy);
    weight += sum.weight;
  }
  out.error = ratio(gap, weight);
  return out;
}

}  // namespace kerf::detail
