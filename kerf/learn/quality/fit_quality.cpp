// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/quality/fit_quality.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kerf::detail {
namespace {

constexpr double kChance = 3, kChanceOfClasses = 2;  // standard errors
constexpr double kMostChance = 0.05;  // more is a gain that people see, however few the rows

constexpr double kNoGain = 1e-12;    // rounding
constexpr double kRounding = 1e-13;  // what is left of targets that are all alike, of their size

}  // namespace

std::optional<FitQuality> explained(const TargetErrors& errors, double rows, std::string how) {
  double sum = 0, count = 0;
  for (std::size_t t = 0; t < errors.fit.size(); ++t) {
    const double constant = errors.constant[t];
    if (!(constant > 0 && std::sqrt(constant) > kRounding * std::abs(errors.mean[t]))) continue;
    sum += 1 - errors.fit[t] / constant;
    count += 1;
  }
  if (count == 0 || !std::isfinite(sum) || !(rows > 0)) return std::nullopt;
  return FitQuality{"r2", sum / count, 0, std::min(kMostChance, kChance * kChance / rows),
                    std::move(how)};
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
  TargetErrors errors{std::vector<double>(y.cols), std::vector<double>(y.cols), mean};
  double used = 0;
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
        errors.fit[t] += weights[i] * std::pow(y(i, t) - left_out(k, t), 2);
        errors.constant[t] += weights[i] * rest * rest;
      }
    }
  }
  for (auto* sums : {&errors.fit, &errors.constant})
    for (double& sum : *sums) sum /= used;
  return explained(errors, used, std::move(how));
}

TargetErrors beside_constant(std::vector<double> fit, std::span<const NormalEquations> folds,
                             std::optional<Index> only) {
  double weight = 0, judged = 0;
  for (const auto& fold : folds) weight += fold.weight();
  TargetErrors errors{std::move(fit), std::vector<double>(folds.front().targets()),
                      folds.front().origin().targets};
  for (std::size_t f = 0; f < folds.size(); ++f) {
    const NormalEquations& fold = folds[f];
    const double others = weight - fold.weight();
    if ((only && *only != static_cast<Index>(f)) || !(fold.weight() > 0 && others > 0)) continue;
    judged += fold.weight();
    for (Index t = 0; t < fold.targets(); ++t) {
      double mean = 0;
      for (std::size_t g = 0; g < folds.size(); ++g)
        if (g != f) mean += folds[g].target_sum(t) / others;
      errors.constant[t] +=
          fold.target_square(t) - 2 * mean * fold.target_sum(t) + fold.weight() * mean * mean;
    }
  }
  for (double& error : errors.constant) error = judged > 0 ? error / judged : 0;
  return errors;
}

std::optional<FitQuality> explained_training(std::span<const NormalEquations> sums,
                                             const LinearModel& model) {
  double weight = 0;
  for (const auto& sum : sums) weight += sum.weight();
  TargetErrors errors{{}, {}, sums.front().origin().targets};
  const auto& w = model.weights;
  Matrix<double> product(w.rows(), w.cols());
  product.fill(0);
  for (const auto& sum : sums) {
    const Matrix<double> part = sum.gram_times(w.view());
    for (Index k = 0; k < w.rows() * w.cols(); ++k) product.data()[k] += part.data()[k];
  }
  for (Index t = 0; t < w.cols(); ++t) {
    double targets = 0, squares = 0, along = 0;  // along: the sum of what the features give
    for (const auto& sum : sums) targets += sum.target_sum(t), squares += sum.target_square(t);
    squares -= targets * targets / weight;
    double rest = squares;
    for (Index j = 0; j < w.rows(); ++j) {
      double features = 0, cross = 0;
      for (const auto& sum : sums) features += sum.feature_sum(j), cross += sum.cross(j, t);
      along += features * w(j, t);
      rest += w(j, t) * (product(j, t) - 2 * (cross - features * targets / weight));
    }
    rest -= along * along / weight;
    errors.fit.push_back(std::max(0.0, rest) / weight);
    errors.constant.push_back(squares / weight);
  }
  return explained(errors, weight, kTrainingRows);
}

void judge_fit(FitResult& result, ClassWeight class_weight) {
  auto& [model, report] = result;
  const bool classes = model.task == Task::classification;
  if (!report.quality) return;
  FitQuality& quality = *report.quality;
  if (classes && quality.metric == "r2")
    quality.metric = "share of the class indicators' variance explained";
  if (class_weight == ClassWeight::balanced && quality.metric == "accuracy") {
    quality.metric = "accuracy, every class counting the same";
    quality.constant = 1 / static_cast<double>(model.classes.size());
  }
  model.training.quality = quality;
  // On the rows trained on any fit beats a constant, except one that has learned nothing.
  const double none = quality.constant + kNoGain;
  if (quality.value > std::max(none, quality.constant + (quality.left_out() ? quality.chance : 0)))
    return;
  report.warnings.push_back(fmt::format(
      "{} better than a constant: {}{}", quality.value > none ? "hardly" : "no", describe(quality),
      quality.left_out() ? "; do the inputs tell anything about the target?" : ""));
}

}  // namespace kerf::detail
