// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/quality/classification_loss.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kerf/model/model.h"

namespace kerf::detail {
namespace {

double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : 1 - 1 / (1 + std::exp(x)); }

/// log(1 + exp(x)) without overflow.
double log1pexp(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

/// The sign of score k for a row of this class.
double sign(Index label, std::size_t k, std::size_t scores) {
  return label == (scores == 1 ? 1 : static_cast<Index>(k)) ? 1.0 : -1.0;
}

double hinge(Index label, std::size_t k, std::span<const double> scores) {
  const double gap = std::max(0.0, 1 - sign(label, k, scores.size()) * scores[k]);
  return gap * gap;
}

/// Scores of one row are few: no memory is asked for each.
constexpr std::size_t kFew = 64;

template <class Body>
void with_probabilities(std::span<const double> scores, Body body) {
  double few[kFew];
  std::vector<double> many;
  double* p = few;
  if (scores.size() > kFew) {
    many.resize(scores.size());
    p = many.data();
  }
  std::ranges::copy(scores, p);
  softmax({p, scores.size()});
  body(std::span<const double>(p, scores.size()));
}

}  // namespace

double loss_value(Loss loss, Index label, std::span<const double> scores) {
  if (loss == Loss::logistic && scores.size() == 1) return log1pexp(-sign(label, 0, 1) * scores[0]);
  double value = 0;
  if (loss == Loss::logistic) {
    const double largest = *std::ranges::max_element(scores);
    for (const double s : scores) value += std::exp(s - largest);
    return std::log(value) + largest - scores[label];
  }
  for (std::size_t k = 0; k < scores.size(); ++k) value += hinge(label, k, scores);
  return value;
}

Index loss_groups(Loss loss, Index scores) { return loss == Loss::squared_hinge ? scores : 1; }

void group_losses(Loss loss, Index label, std::span<const double> scores, std::span<double> out) {
  if (loss != Loss::squared_hinge) {
    out[0] = loss_value(loss, label, scores);
    return;
  }
  for (std::size_t k = 0; k < scores.size(); ++k) out[k] = hinge(label, k, scores);
}

void loss_gradient(Loss loss, Index label, std::span<const double> scores, std::span<double> out) {
  if (loss == Loss::logistic && scores.size() == 1) {
    const double s = sign(label, 0, 1);
    out[0] = -s * sigmoid(-s * scores[0]);
    return;
  }
  if (loss == Loss::logistic) {
    std::ranges::copy(scores, out.begin());
    softmax(out);
    out[label] -= 1;
    return;
  }
  for (std::size_t k = 0; k < scores.size(); ++k) {
    const double s = sign(label, k, scores.size());
    out[k] = -2 * s * std::max(0.0, 1 - s * scores[k]);
  }
}

void loss_curvature(Loss loss, Index label, std::span<const double> scores,
                    std::span<const double> u, std::span<double> out) {
  if (loss == Loss::logistic && scores.size() == 1) {
    const double p = sigmoid(scores[0]);
    out[0] = p * (1 - p) * u[0];
    return;
  }
  if (loss == Loss::logistic)
    return with_probabilities(scores, [&](std::span<const double> p) {
      double mean = 0;
      for (std::size_t k = 0; k < p.size(); ++k) mean += p[k] * u[k];
      for (std::size_t k = 0; k < p.size(); ++k) out[k] = p[k] * (u[k] - mean);
    });
  for (std::size_t k = 0; k < scores.size(); ++k)
    out[k] = sign(label, k, scores.size()) * scores[k] < 1 ? 2 * u[k] : 0.0;
}

void curvature_diagonal(Loss loss, Index label, std::span<const double> scores,
                        std::span<double> out) {
  if (loss == Loss::squared_hinge) {
    for (std::size_t k = 0; k < scores.size(); ++k)
      out[k] = sign(label, k, scores.size()) * scores[k] < 1 ? 2 : 0;
    return;
  }
  std::ranges::copy(scores, out.begin());
  if (scores.size() == 1)
    out[0] = sigmoid(scores[0]);
  else
    softmax(out);
  for (double& p : out) p *= 1 - p;
}

}  // namespace kerf::detail
