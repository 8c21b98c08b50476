// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/rows/training_sums.h"

#include <algorithm>

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

Matrix<double> TrainingSums::gram_times(FeatureCache& cache, MatrixView<const double> v,
                                        bool exact) const {
  const auto skip = [&](const FeatureCache::Piece& piece, MatrixView<double> products) {
    if (piece.fold != without_) return;
    for (Index i = 0; i < products.rows; ++i) std::ranges::fill(products.row(i), 0.0);
  };
  Matrix<double> out =
      product_with_rows(cache, v, without_ < 0 ? ChangeProducts() : skip, {.exact = exact});
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
