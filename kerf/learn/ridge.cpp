// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/ridge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "kerf/core/blas.h"
#include "kerf/core/parallel.h"
#include "kerf/core/require.h"

namespace kerf {
namespace {

using Parts = std::span<const NormalEquations* const>;

/// The automatic grid: lambda = unit 10^(step/2), steps kFirstStep .. kLastStep.
constexpr int kFirstStep = -16, kLastStep = 10, kStartStep = -2;

double total(Parts parts, double (NormalEquations::*sum)(Index) const, Index k) {
  double value = 0;
  for (const auto* part : parts) value += (part->*sum)(k);
  return value;
}

double total_weight(Parts parts) {
  double value = 0;
  for (const auto* part : parts) value += part->weight();
  return value;
}

/// A solution in the coordinates of the sums: y - d = b + W^T (z - c).
struct Centred {
  LinearModel model;
  Index failed_at = 0;  // order of the block that was not positive definite
};

Centred solve_centred(Parts parts, double lambda) {
  const NormalEquations& first = *parts.front();
  const Index m = first.features(), targets = first.targets();
  const double n = total_weight(parts);
  std::vector<double> sum(static_cast<std::size_t>(m));
  for (Index j = 0; j < m; ++j)
    sum[static_cast<std::size_t>(j)] = total(parts, &NormalEquations::feature_sum, j);

  Matrix<double> a(m, m);
  parallel_for(m, 64, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const double factor = -sum[static_cast<std::size_t>(i)] / n;
      for (Index j = i; j < m; ++j) a(i, j) = factor * sum[static_cast<std::size_t>(j)];
      a(i, i) += n * lambda;
    }
  });
  for (const auto* part : parts) part->add_gram_to(a.view());

  Centred result;
  result.failed_at = blas::cholesky(a.view());
  if (result.failed_at != 0) return result;
  Matrix<double>& weights = result.model.weights;
  weights.resize(m, targets);
  for (Index t = 0; t < targets; ++t) {
    const double mean = total(parts, &NormalEquations::target_sum, t) / n;
    for (Index j = 0; j < m; ++j) {
      double cross = 0;
      for (const auto* part : parts) cross += part->cross(j, t);
      weights(j, t) = cross - sum[static_cast<std::size_t>(j)] * mean;
    }
  }
  blas::cholesky_solve(a.view(), weights.view());
  for (Index t = 0; t < targets; ++t) {
    double projected = 0;
    for (Index j = 0; j < m; ++j) projected += sum[static_cast<std::size_t>(j)] * weights(j, t);
    const double target = total(parts, &NormalEquations::target_sum, t);
    result.model.intercept.push_back((target - projected) / n);
  }
  return result;
}

/// sum w |y - b - W^T z|^2 over the rows of `part`, in its coordinates.
double squared_error(const NormalEquations& part, const LinearModel& model) {
  const Matrix<double> product = part.gram_times(model.weights.view());
  double error = 0;
  for (Index t = 0; t < part.targets(); ++t) {
    const double b = model.intercept[static_cast<std::size_t>(t)];
    double linear = 0, quadratic = 0, mean = 0;
    for (Index j = 0; j < part.features(); ++j) {
      const double w = model.weights(j, t);
      linear += w * part.cross(j, t);
      quadratic += w * product(j, t);
      mean += w * part.feature_sum(j);
    }
    error += part.target_square(t) - 2 * b * part.target_sum(t) + b * b * part.weight() -
             2 * linear + 2 * b * mean + quadratic;
  }
  return std::max(error, 0.0);
}

}  // namespace

LinearModel solve_ridge(Parts parts, double lambda) {
  Centred result = solve_centred(parts, lambda);
  KERF_REQUIRE(result.failed_at == 0, numeric,
               "the ridge system is singular at lambda = {:.3g} (leading block {} of {}): "
               "raise --lambda, or leave it to be chosen",
               lambda, result.failed_at, parts.front()->features());
  // Back from the centred coordinates to those of features and targets.
  const Origin& origin = parts.front()->origin();
  LinearModel& model = result.model;
  for (Index t = 0; t < parts.front()->targets(); ++t) {
    double shift = origin.targets[static_cast<std::size_t>(t)];
    for (Index j = 0; j < model.weights.rows(); ++j)
      shift -= origin.features[static_cast<std::size_t>(j)] * model.weights(j, t);
    model.intercept[static_cast<std::size_t>(t)] += shift;
  }
  return std::move(result.model);
}

double lambda_unit(Parts parts) {
  const double n = total_weight(parts);
  const Index m = parts.front()->features();
  double trace = 0;
  for (Index j = 0; j < m; ++j) {
    const double sum = total(parts, &NormalEquations::feature_sum, j);
    trace += total(parts, &NormalEquations::diagonal, j) - sum * sum / n;
  }
  const double unit = trace / (n * static_cast<double>(m));
  return unit > 0 ? unit : 1;  // features that do not vary: any lambda gives the mean
}

double cross_validation_error(std::span<const NormalEquations> folds, double lambda) {
  double error = 0, weight = 0;
  for (std::size_t held_out = 0; held_out < folds.size(); ++held_out) {
    if (folds[held_out].rows() == 0) continue;
    std::vector<const NormalEquations*> rest;
    for (std::size_t f = 0; f < folds.size(); ++f)
      if (f != held_out) rest.push_back(&folds[f]);
    if (total_weight(rest) <= 0) continue;
    const Centred trained = solve_centred(rest, lambda);
    if (trained.failed_at != 0) return std::numeric_limits<double>::infinity();
    error += squared_error(folds[held_out], trained.model);
    weight += folds[held_out].weight();
  }
  return weight > 0 ? error / (weight * static_cast<double>(folds[0].targets()))
                    : std::numeric_limits<double>::infinity();
}

LambdaChoice choose_lambda(std::span<const NormalEquations> folds, const Progress& progress) {
  std::vector<const NormalEquations*> all;
  for (const auto& fold : folds) all.push_back(&fold);
  const double unit = lambda_unit(all);
  const auto lambda_at = [&](int step) { return unit * std::pow(10.0, step / 2.0); };

  std::map<int, double> errors;
  const auto error_at = [&](int step) {
    const auto [entry, is_new] = errors.try_emplace(step, 0.0);
    if (is_new) {
      report(progress, "choosing lambda", static_cast<Index>(errors.size()) - 1, 0);
      entry->second = cross_validation_error(folds, lambda_at(step));
    }
    return entry->second;
  };
  int best = kStartStep;
  for (const int stride : {2, 1})  // decades downhill, then half decades around the best
    for (const int direction : {-stride, stride})
      for (int next = best + direction;
           next >= kFirstStep && next <= kLastStep && error_at(next) < error_at(best);
           next += direction)
        best = next;
  KERF_REQUIRE(std::isfinite(error_at(best)), numeric,
               "no lambda between {:.2g} and {:.2g} gives a finite cross-validation error",
               lambda_at(kFirstStep), lambda_at(kLastStep));
  LambdaChoice choice{lambda_at(best), error_at(best), {}};
  for (const auto& [step, error] : errors) choice.path.push_back({lambda_at(step), error});
  return choice;
}

Index ridge_bytes(Index features, Index targets) {
  return 8 * features * (features + 2 * targets + 2);
}

}  // namespace kerf
