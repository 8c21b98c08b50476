// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/rows/training_sums.h"

#include <algorithm>
#include <cmath>

namespace kerf::detail {

TrainingSums::TrainingSums(const FeatureCache& cache, Index without)
    : without_(without), sum_(cache.features(), 0.0) {
  const Index m = cache.features(), outputs = cache.outputs();
  target_.assign(outputs, 0.0);
  cross_.resize(outputs, m);
  cross_.fill(0);
  for (std::size_t f = 0; f < cache.folds().size(); ++f) {
    if (static_cast<Index>(f) == without) continue;
    const NormalEquations& fold = cache.folds()[f];
    weight_ += fold.weight();
    for (Index j = 0; j < m; ++j) {
      sum_[j] += fold.feature_sum(j);
      for (Index t = 0; t < outputs; ++t) cross_(t, j) += fold.cross(j, t);
    }
    for (Index t = 0; t < outputs; ++t) target_[t] += fold.target_sum(t);
  }
  for (Index t = 0; t < outputs; ++t)
    for (Index j = 0; j < m; ++j) cross_(t, j) -= sum_[j] * target_[t] / weight_;
}

TrainingSums::TrainingSums(FeatureCache& cache, std::span<const char> without)
    : TrainingSums(cache, -1) {
  const Index m = cache.features(), outputs = cache.outputs();
  const auto& d = cache.origin().targets;
  for (Index t = 0; t < outputs; ++t)  // as sums of all rows, not around their means
    for (Index j = 0; j < m; ++j) cross_(t, j) += sum_[j] * target_[t] / weight_;
  rows_out_ = without;
  // Sums over the rows left out of z times what `factor` says of a row, for so many factors.
  const auto sum_out = [&](Index factors, const std::function<double(Index, Index)>& factor) {
    Matrix<double> nothing(factors, m);
    nothing.fill(0);
    const auto fill = [&](const FeatureCache::Piece& piece, MatrixView<double> products) {
      for (Index i = 0; i < products.rows; ++i)
        for (Index t = 0; t < factors; ++t)
          products(i, t) = is_out(piece, i) ? std::sqrt(cache.weights()[piece.first + i]) *
                                                  factor(piece.first + i, t)
                                            : 0;
    };
    return product_with_rows(cache, nothing.view(), fill, {.products = false});
  };
  const Matrix<double> features = sum_out(1, [](Index, Index) { return 1.0; });
  const Matrix<double> cross =
      sum_out(outputs, [&](Index i, Index t) { return cache.targets()(i, t) - d[t]; });
  for (Index i = 0; i < cache.rows(); ++i) {
    if (without[i] == 0) continue;
    weight_ -= cache.weights()[i];
    for (Index t = 0; t < outputs; ++t)
      target_[t] -= cache.weights()[i] * (cache.targets()(i, t) - d[t]);
  }
  for (Index j = 0; j < m; ++j) sum_[j] -= features(0, j);
  for (Index t = 0; t < outputs; ++t)
    for (Index j = 0; j < m; ++j) cross_(t, j) -= cross(t, j) + sum_[j] * target_[t] / weight_;
}

Matrix<double> TrainingSums::gram_times(FeatureCache& cache, MatrixView<const double> v,
                                        bool exact) const {
  const auto skip = [&](const FeatureCache::Piece& piece, MatrixView<double> products) {
    for (Index i = 0; i < products.rows; ++i)
      if (is_out(piece, i)) std::ranges::fill(products.row(i), 0.0);
  };
  const bool all = without_ < 0 && rows_out_.empty();
  Matrix<double> out = product_with_rows(cache, v, all ? ChangeProducts() : skip, {.exact = exact});
  for (Index k = 0; k < v.rows; ++k) {
    double along = 0;
    for (Index j = 0; j < v.cols; ++j) along += sum_[j] * v(k, j);
    for (Index j = 0; j < v.cols; ++j) out(k, j) -= sum_[j] * along / weight_;
  }
  return out;
}

std::vector<double> TrainingSums::intercepts(MatrixView<const double> w) const {
  std::vector<double> out;
  for (Index t = 0; t < w.rows; ++t) {
    double projected = 0;
    for (Index j = 0; j < w.cols; ++j) projected += sum_[j] * w(t, j);
    out.push_back((target_[t] - projected) / weight_);
  }
  return out;
}

}  // namespace kerf::detail
