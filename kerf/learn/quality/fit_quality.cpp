// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/quality/fit_quality.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kerf::detail {
namespace {

constexpr double kChance = 3, kChanceOfClasses = 2;  // standard errors
constexpr double kMostChance = 0.05;  // more is a gain that people see, however few the rows

double target_squares(std::span<const NormalEquations> sums, double& weight) {
  double squares = 0;
  weight = 0;
  for (const auto& sum : sums) weight += sum.weight();
  for (Index t = 0; t < sums.front().targets(); ++t) {
    double total = 0, square = 0;
    for (const auto& sum : sums) total += sum.target_sum(t), square += sum.target_square(t);
    squares += square - total * total / weight;
  }
  return squares;
}

}  // namespace

std::optional<FitQuality> explained(double error, double constant_error, double rows,
                                    std::string how) {
  if (!(constant_error > 0) || !std::isfinite(error) || !(rows > 0)) return std::nullopt;
  return FitQuality{"r2", 1 - error / constant_error, 0,
                    std::min(kMostChance, kChance * kChance / rows), std::move(how)};
}

std::optional<FitQuality> accuracy(const LeftOutScores& scores, std::string how) {
  const auto tally = scores.tally();
  if (!(tally.weight > 0)) return std::nullopt;
  return FitQuality{
      "accuracy", tally.right / tally.weight, tally.commonest / tally.weight,
      std::min(kMostChance, kChanceOfClasses * std::sqrt(tally.disagreements) / tally.weight),
      std::move(how)};
}

std::optional<FitQuality> explained_left_out(MatrixView<const double> left_out,
                                             std::span<const Index> rows,
                                             MatrixView<const double> y, WeightsView weights,
                                             Index copies, std::string how) {
  double all = 0;
  std::vector<double> mean(y.cols, 0.0);
  for (Index i = 0; i < y.rows; ++i) {
    all += weights[i];
    for (Index t = 0; t < y.cols; ++t) mean[t] += weights[i] * y(i, t);
  }
  for (double& m : mean) m /= all;
  double error = 0, constant = 0, used = 0;
  const auto row = [&](Index k) { return rows.empty() ? k : rows[k]; };
  for (Index begin = 0; begin < left_out.rows; begin += copies) {
    const Index end = std::min(begin + copies, left_out.rows);
    double w = 0;
    for (Index k = begin; k < end; ++k) w += weights[row(k)];
    if (!(w > 0 && w < all)) continue;
    used += w;
    for (Index t = 0; t < y.cols; ++t) {
      double own = 0;  // sum of the rows left out, from the mean
      for (Index k = begin; k < end; ++k) own += weights[row(k)] * (y(row(k), t) - mean[t]);
      for (Index k = begin; k < end; ++k) {
        const Index i = row(k);
        const double rest = y(i, t) - mean[t] + own / (all - w);  // from the mean of the others
        error += weights[i] * std::pow(y(i, t) - left_out(k, t), 2);
        constant += weights[i] * rest * rest;
      }
    }
  }
  return explained(error, constant, used, std::move(how));
}

double constant_error(std::span<const NormalEquations> folds, std::optional<Index> only) {
  double weight = 0, error = 0, judged = 0;
  for (const auto& fold : folds) weight += fold.weight();
  for (std::size_t f = 0; f < folds.size(); ++f) {
    const NormalEquations& fold = folds[f];
    const double others = weight - fold.weight();
    if ((only && *only != static_cast<Index>(f)) || !(fold.weight() > 0 && others > 0)) continue;
    judged += fold.weight();
    for (Index t = 0; t < fold.targets(); ++t) {
      double mean = 0;
      for (std::size_t g = 0; g < folds.size(); ++g)
        if (g != f) mean += folds[g].target_sum(t) / others;
      error += fold.target_square(t) - 2 * mean * fold.target_sum(t) + fold.weight() * mean * mean;
    }
  }
  return judged > 0 ? error / judged / static_cast<double>(folds.front().targets()) : 0;
}

std::optional<FitQuality> explained_training(std::span<const NormalEquations> sums,
                                             const LinearModel& model) {
  double weight = 0;
  const double squares = target_squares(sums, weight);
  const auto& w = model.weights;
  Matrix<double> product(w.rows(), w.cols());
  product.fill(0);
  for (const auto& sum : sums) {
    const Matrix<double> part = sum.gram_times(w.view());
    for (Index k = 0; k < w.rows() * w.cols(); ++k) product.data()[k] += part.data()[k];
  }
  double rest = squares;
  for (Index t = 0; t < w.cols(); ++t) {
    double targets = 0, along = 0;  // sums of the targets, and of what the features give
    for (const auto& sum : sums) targets += sum.target_sum(t);
    for (Index j = 0; j < w.rows(); ++j) {
      double features = 0, cross = 0;
      for (const auto& sum : sums) features += sum.feature_sum(j), cross += sum.cross(j, t);
      along += features * w(j, t);
      rest += w(j, t) * (product(j, t) - 2 * (cross - features * targets / weight));
    }
    rest -= along * along / weight;
  }
  return explained(std::max(0.0, rest), squares, weight, kTrainingRows);
}

void judge_fit(FitResult& result, ClassWeight class_weight) {
  auto& [model, report] = result;
  const bool classes = model.task == Task::classification;
  if (!report.quality) return;
  FitQuality& quality = *report.quality;
  if (classes && quality.metric == "r2")
    quality.metric = "share of the class indicators' variance explained";
  if (class_weight == ClassWeight::balanced && quality.metric == "accuracy")
    quality.metric = "accuracy, every class counting the same";
  model.training.quality = quality;
  // On the rows trained on any fit beats a constant, except one that has learned nothing.
  if (quality.value > quality.constant + (quality.left_out() ? quality.chance : 0)) return;
  report.warnings.push_back(
      fmt::format("{} better than a constant: {}{}",
                  quality.value > quality.constant ? "hardly" : "no", describe(quality),
                  quality.left_out() ? "; do the inputs tell anything about the target?" : ""));
}

}  // namespace kerf::detail
