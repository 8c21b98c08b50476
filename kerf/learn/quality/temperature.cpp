// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/quality/temperature.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "kerf/learn/quality/classification_loss.h"

namespace kerf::detail {
namespace {

/// The t between 1e-3 and 1e3 where a convex function is least.
double least_point(const std::function<double(double)>& f) {
  double low = std::log(1e-3), high = std::log(1e3);
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  while (high - low > 1e-3) {
    const double a = high - ratio * (high - low), b = low + ratio * (high - low);
    if (f(std::exp(a)) < f(std::exp(b)))
      high = b;
    else
      low = a;
  }
  return std::exp((low + high) / 2);
}

/// The score of the row's class less the mean of the others': what log loss rises by, on average,
/// if the row is of another class.
double margin(std::span<const double> scores, Index label) {
  if (scores.size() == 1) return label == 1 ? scores[0] : -scores[0];
  const double own = scores[label];
  const double all = std::accumulate(scores.begin(), scores.end(), 0.0);
  return own - (all - own) / static_cast<double>(scores.size() - 1);
}

}  // namespace

void LeftOutScores::add(std::span<const double> scores, Index label, double weight) {
  if (enough()) return;
  scores_.insert(scores_.end(), scores.begin(), scores.end());
  labels_.push_back(label);
  weights_.push_back(weight);
}

void LeftOutScores::add(MatrixView<const double> scores, MatrixView<const double> y,
                        WeightsView weights) {
  for (Index i = 0; i < scores.rows && !enough(); ++i)
    add(scores.row(i), std::ranges::max_element(y.row(i)) - y.row(i).begin(), weights[i]);
}

void LeftOutScores::add(MatrixView<const double> scores, std::span<const Index> rows,
                        MatrixView<const double> y, WeightsView weights) {
  if (rows.empty()) return add(scores, y, weights);
  for (Index k = 0; k < scores.rows; ++k) {
    const Index i = rows[k];
    add(scores.slice(k, k + 1), y.slice(i, i + 1), weights.slice(i, i + 1));
  }
}

LeftOutScores::Tally LeftOutScores::tally() const {
  Tally tally;
  const std::size_t count = labels_.empty() ? 0 : scores_.size() / labels_.size();
  std::vector<double> of_class(std::max<std::size_t>(count, 2), 0.0);
  for (std::size_t i = 0; i < labels_.size(); ++i) of_class[labels_[i]] += weights_[i];
  const Index commonest = std::ranges::max_element(of_class) - of_class.begin();
  tally.commonest = of_class[commonest];
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    const auto row = std::span(scores_).subspan(i * count, count);
    const Index guess =
        count == 1 ? (row[0] > 0 ? 1 : 0) : std::ranges::max_element(row) - row.begin();
    const bool right = guess == labels_[i];
    tally.weight += weights_[i];
    if (right) tally.right += weights_[i];
    if (guess != commonest && (right || labels_[i] == commonest))
      tally.disagreements += weights_[i] * weights_[i];
  }
  return tally;
}

std::optional<double> LeftOutScores::temperature() const {
  double weight = 0, squares = 0, margins = 0;
  const std::size_t count = labels_.empty() ? 0 : scores_.size() / labels_.size();
  const auto row = [&](std::size_t i) { return std::span(scores_).subspan(i * count, count); };
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    weight += weights_[i];
    squares += weights_[i] * weights_[i];
    margins += weights_[i] * margin(row(i), labels_[i]);
  }
  if (!(weight > 0)) return std::nullopt;
  const double doubt = 1 / (weight * weight / squares + 2);
  std::vector<double> scaled(count);
  return least_point([&](double t) {
    double sum = doubt * t * margins;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      std::ranges::transform(row(i), scaled.begin(), [&](double score) { return t * score; });
      sum += weights_[i] * loss_value(Loss::logistic, labels_[i], scaled);
    }
    return sum;
  });
}

}  // namespace kerf::detail
