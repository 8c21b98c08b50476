// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/lambda/spectral_path.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kerf/core/system/parallel.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

constexpr Index kPart = 512;  // rows made double at a time

}  // namespace

SpectralPath::SpectralPath(std::span<const NormalEquations> parts) {
  NormalEquations total(parts.front().origin(), Precision::single_);
  for (const auto& part : parts) total.merge(part);
  const Index m = total.features(), targets = total.targets();
  weight_ = total.weight();
  rows_ = static_cast<double>(total.weighing_rows());
  vectors_.resize(m, m);
  parallel_for(m, 64, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      for (Index j = i; j < m; ++j)
        vectors_(i, j) = -total.feature_sum(i) / weight_ * total.feature_sum(j);
  });
  total.add_gram_to(vectors_.view());
  values_.resize(m);
  blas::symmetric_eigen(vectors_.view(), values_);
  for (double& value : values_) value = std::max(value, 0.0);  // rounding may leave some below

  Matrix<double> cross(m, targets);
  const Origin& origin = total.origin();
  for (Index t = 0; t < targets; ++t) {
    const double sum = total.target_sum(t);
    target_mean_.push_back(origin.targets[t] + sum / weight_);
    target_squares_.push_back(total.target_square(t) - sum * sum / weight_);
    for (Index j = 0; j < m; ++j)
      cross(j, t) = total.cross(j, t) - total.feature_sum(j) * sum / weight_;
  }
  for (Index j = 0; j < m; ++j)
    feature_mean_.push_back(origin.features[j] + total.feature_sum(j) / weight_);
  rhs_.resize(m, targets);
  blas::product(false, false, 1.0, vectors_.view(), cross.view(), 0.0, rhs_.view());
}

std::vector<double> SpectralPath::gcv(double lambda) const {
  const double c = weight_ * lambda;
  double freedom = 1;
  std::vector<double> squares = target_squares_;
  for (std::size_t k = 0; k < values_.size(); ++k) {
    const double shifted = values_[k] + c;
    if (!(shifted > 0)) continue;  // a direction without rows, and no penalty: no part of the fit
    freedom += values_[k] / shifted;
    for (std::size_t t = 0; t < squares.size(); ++t) {
      const double b = rhs_(static_cast<Index>(k), static_cast<Index>(t));
      squares[t] -= b * b * (values_[k] + 2 * c) / (shifted * shifted);
    }
  }
  const double left = 1 - freedom / rows_;
  for (double& square : squares)
    square = left > 0 ? std::max(square, 0.0) / (weight_ * left * left)
                      : std::numeric_limits<double>::infinity();
  return squares;
}

void SpectralPath::add_leave_one_out(MatrixView<const float> z, MatrixView<const double> y,
                                     WeightsView weights, std::span<const double> lambdas,
                                     std::vector<std::vector<double>>& errors) const {
  for (Index begin = 0; begin < z.rows; begin += kPart) {
    const Index end = std::min(begin + kPart, z.rows);
    add_part(z.slice(begin, end), y.slice(begin, end), weights.slice(begin, end), lambdas, errors);
  }
}

void SpectralPath::add_part(MatrixView<const float> z, MatrixView<const double> y,
                            WeightsView weights, std::span<const double> lambdas,
                            std::vector<std::vector<double>>& errors) const {
  const Index m = z.cols, targets = y.cols, grid = static_cast<Index>(lambdas.size());
  Matrix<double> centred(z.rows, m), projected(z.rows, m);
  parallel_for(z.rows, 16, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      for (Index j = 0; j < m; ++j) centred(i, j) = z(i, j) - feature_mean_[j];
  });
  blas::product(false, true, 1.0, centred.view(), vectors_.view(), 0.0, projected.view());

  // The fit at every lambda and target: projected times (D + c)^-1 V B; then the same of squares.
  Matrix<double> coefficients(m, grid * targets), inverse(m, grid);
  for (Index k = 0; k < m; ++k)
    for (Index l = 0; l < grid; ++l) {
      const double shifted = values_[k] + weight_ * lambdas[l];
      inverse(k, l) = shifted > 0 ? 1 / shifted : 0;
      for (Index t = 0; t < targets; ++t)
        coefficients(k, l * targets + t) = rhs_(k, t) * inverse(k, l);
    }
  Matrix<double> fitted(z.rows, grid * targets), leverage(z.rows, grid);
  blas::product(false, false, 1.0, projected.view(), coefficients.view(), 0.0, fitted.view());
  for (Index i = 0; i < z.rows; ++i)
    for (double& value : projected.row(i)) value *= value;
  blas::product(false, false, 1.0, projected.view(), inverse.view(), 0.0, leverage.view());

  for (Index i = 0; i < z.rows; ++i) {
    const double w = weights[i];
    if (w == 0) continue;
    for (Index l = 0; l < grid; ++l) {
      const double left = 1 - w * (1 / weight_ + leverage(i, l));
      for (Index t = 0; t < targets; ++t) {
        const double residual = y(i, t) - target_mean_[t] - fitted(i, l * targets + t);
        errors[l][t] += left > 0 ? w * (residual / left) * (residual / left) / weight_
                                 : std::numeric_limits<double>::infinity();
      }
    }
  }
}

Index SpectralPath::bytes(Index features, Index targets) {
  constexpr Index kGrid = 32;  // lambdas, about
  // The merged sums and V with the workspace of its decomposition; then the pass.
  return NormalEquations::bytes(features, targets) + 8 * features * (3 * features + targets) +
         8 * kPart * 2 * features + 8 * kGrid * (features + kPart) * (targets + 1);
}

}  // namespace kerf::detail
