// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/temperature.h"

#include <algorithm>
#include <cmath>

#include "kerf/learn/classification_loss.h"

namespace kerf {

double least_temperature(const std::function<double(double)>& log_loss) {
  double low = std::log(1e-3), high = std::log(1e3);
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  while (high - low > 1e-3) {
    const double a = high - ratio * (high - low), b = low + ratio * (high - low);
    if (log_loss(std::exp(a)) < log_loss(std::exp(b)))
      high = b;
    else
      low = a;
  }
  return std::exp((low + high) / 2);
}

void LeftOutScores::add(MatrixView<const double> scores, MatrixView<const double> y,
                        std::span<const double> weights) {
  for (Index i = 0; i < scores.rows && !enough(); ++i) {
    scores_.insert(scores_.end(), scores.row(i).begin(), scores.row(i).end());
    labels_.push_back(std::ranges::max_element(y.row(i)) - y.row(i).begin());
    weights_.push_back(weights.empty() ? 1 : weights[static_cast<std::size_t>(i)]);
  }
}

void LeftOutScores::add(MatrixView<const double> scores, std::span<const Index> rows,
                        MatrixView<const double> y, std::span<const double> weights) {
  if (rows.empty()) return add(scores, y, weights);
  for (Index k = 0; k < scores.rows; ++k) {
    const Index i = rows[static_cast<std::size_t>(k)];
    add(scores.slice(k, k + 1), y.slice(i, i + 1),
        weights.empty() ? weights : weights.subspan(static_cast<std::size_t>(i), 1));
  }
}

double LeftOutScores::temperature() const {
  const std::size_t classes = labels_.empty() ? 1 : scores_.size() / labels_.size();
  std::vector<double> scaled(classes);
  return least_temperature([&](double t) {
    double sum = 0;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      for (std::size_t k = 0; k < classes; ++k) scaled[k] = t * scores_[i * classes + k];
      sum += weights_[i] * loss_value(Loss::logistic, labels_[i], scaled);
    }
    return sum;
  });
}

}  // namespace kerf
