// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/ridge/ridge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/parallel.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

using Parts = std::span<const NormalEquations* const>;

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
  Matrix<double> factor;
  Index failed_at = 0;  // order of the block that was not positive definite
};

std::vector<double> feature_sums(Parts parts) {
  std::vector<double> sum;
  for (Index j = 0; j < parts.front()->features(); ++j)
    sum.push_back(total(parts, &NormalEquations::feature_sum, j));
  return sum;
}

/// The upper triangle of G - s s^T/n + n lambda P.
Matrix<double> centred_system(Parts parts, double lambda, const Matrix<float>* penalty) {
  const Index m = parts.front()->features();
  const double n = total_weight(parts);
  const std::vector<double> sum = feature_sums(parts);
  Matrix<double> a(m, m);
  parallel_for(m, 64, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const double factor = -sum[i] / n;
      for (Index j = i; j < m; ++j) a(i, j) = factor * sum[j];
      if (penalty == nullptr) a(i, i) += n * lambda;
      for (Index j = i; j < m && penalty != nullptr; ++j) a(i, j) += n * lambda * (*penalty)(i, j);
    }
  });
  for (const auto* part : parts) part->add_gram_to(a.view());
  return a;
}

Centred solve_centred(Parts parts, double lambda, const Matrix<float>* penalty = nullptr) {
  const NormalEquations& first = *parts.front();
  const Index m = first.features(), targets = first.targets();
  const double n = total_weight(parts);
  const std::vector<double> sum = feature_sums(parts);
  Matrix<double> a = centred_system(parts, lambda, penalty);
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
      weights(j, t) = cross - sum[j] * mean;
    }
  }
  blas::cholesky_solve(a.view(), weights.view());
  for (Index t = 0; t < targets; ++t) {
    double projected = 0;
    for (Index j = 0; j < m; ++j) projected += sum[j] * weights(j, t);
    const double target = total(parts, &NormalEquations::target_sum, t);
    result.model.intercept.push_back((target - projected) / n);
  }
  result.factor = std::move(a);
  return result;
}

/// sum w (y - b - W^T z)^2 over the rows of `part`, in its coordinates, added to each target's.
void add_squared_errors(const NormalEquations& part, const LinearModel& model,
                        std::vector<double>& errors) {
  const Matrix<double> product = part.gram_times(model.weights.view());
  for (Index t = 0; t < part.targets(); ++t) {
    const double b = model.intercept[t];
    double linear = 0, quadratic = 0, mean = 0;
    for (Index j = 0; j < part.features(); ++j) {
      const double w = model.weights(j, t);
      linear += w * part.cross(j, t);
      quadratic += w * product(j, t);
      mean += w * part.feature_sum(j);
    }
    const double error = part.target_square(t) - 2 * b * part.target_sum(t) +
                         b * b * part.weight() - 2 * linear + 2 * b * mean + quadratic;
    errors[t] += std::max(error, 0.0);
  }
}

}  // namespace

LinearModel solve_ridge(Parts parts, double lambda, const Matrix<float>* penalty,
                        Matrix<double>* factor) {
  Centred result = solve_centred(parts, lambda, penalty);
  KERF_REQUIRE(result.failed_at == 0, numeric,
               "the ridge system is singular at lambda = {:.3g} (leading block {} of {}): raise "
               "{}, or leave it to be chosen",
               lambda, result.failed_at, parts.front()->features(), spell("lambda"));
  undo_origin(parts.front()->origin(), result.model);
  if (factor != nullptr) *factor = std::move(result.factor);
  return std::move(result.model);
}

LinearModel solve_ridge(Parts parts, const LambdaChoice& choice, Matrix<double>* factor) {
  if (choice.per_target.empty()) return solve_ridge(parts, choice.lambda, nullptr, factor);
  LinearModel all{Matrix<double>(parts.front()->features(), parts.front()->targets()), {}};
  all.intercept.resize(choice.per_target.size());
  const std::set<double> lambdas(choice.per_target.begin(), choice.per_target.end());
  for (const double lambda : lambdas) {
    const bool least = lambda == *lambdas.begin();
    const LinearModel model = solve_ridge(parts, lambda, nullptr, least ? factor : nullptr);
    for (std::size_t t = 0; t < choice.per_target.size(); ++t) {
      if (choice.per_target[t] != lambda) continue;
      const auto column = static_cast<Index>(t);
      all.intercept[t] = model.intercept[t];
      for (Index j = 0; j < all.weights.rows(); ++j)
        all.weights(j, column) = model.weights(j, column);
    }
  }
  return all;
}

std::optional<Index> fold_to_hold_out(std::span<const NormalEquations> folds) {
  double all = 0;
  for (const auto& fold : folds) all += fold.weight();
  for (std::size_t f = 0; f < folds.size(); ++f)
    if (const double weight = folds[f].weight(); weight > 0 && weight < all)
      return static_cast<Index>(f);
  return std::nullopt;
}

Index fold_that_judges(std::span<const NormalEquations> folds) {
  const auto fold = fold_to_hold_out(folds);
  KERF_REQUIRE(fold.has_value(), data,
               "all rows that weigh something are in one of {} folds, so that lambda cannot be "
               "chosen: give {}",
               folds.size(), spell("lambda"));
  return *fold;
}

void undo_origin(const Origin& origin, LinearModel& model) {
  for (Index t = 0; t < model.weights.cols(); ++t) {
    double shift = origin.targets[t];
    for (Index j = 0; j < model.weights.rows(); ++j)
      shift -= origin.features[j] * model.weights(j, t);
    model.intercept[t] += shift;
  }
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

std::vector<double> cross_validation_errors(std::span<const NormalEquations> folds, double lambda,
                                            std::optional<Index> only) {
  std::vector<double> none(folds.front().targets(), std::numeric_limits<double>::infinity());
  std::vector<double> errors(none.size(), 0.0);
  double weight = 0;
  for (std::size_t held_out = 0; held_out < folds.size(); ++held_out) {
    if (folds[held_out].rows() == 0 ||
        only.value_or(static_cast<Index>(held_out)) != static_cast<Index>(held_out))
      continue;
    std::vector<const NormalEquations*> rest;
    for (std::size_t f = 0; f < folds.size(); ++f)
      if (f != held_out) rest.push_back(&folds[f]);
    if (rest.empty() || total_weight(rest) <= 0) continue;
    const Centred trained = solve_centred(rest, lambda);
    if (trained.failed_at != 0) return none;
    add_squared_errors(folds[held_out], trained.model, errors);
    weight += folds[held_out].weight();
  }
  if (!(weight > 0)) return none;
  for (double& error : errors) error /= weight;
  return errors;
}

Index ridge_bytes(Index features, Index targets) {
  return 8 * features * (features + 2 * targets + 2) +
         NormalEquations::product_bytes(features, targets);
}

}  // namespace kerf::detail
