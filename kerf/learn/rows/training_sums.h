// Sums of the rows that a solution is trained on, without their Gram matrix, which is given by its
// products with vectors: a pass over the rows for each.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/learn/rows/feature_cache.h"

namespace kerf::detail {

class TrainingSums {
 public:
  /// All folds, or all but one.
  TrainingSums(const FeatureCache& cache, Index without);
  /// All rows but those marked, which may be of any fold: two more passes.
  TrainingSums(FeatureCache& cache, std::span<const char> without);

  double weight() const { return weight_; }
  std::span<const double> sum() const { return sum_; }
  /// Zc^T (y - mean), an output in each row.
  MatrixView<const double> rhs() const { return cross_.view(); }

  /// (G - s s^T/n) v for vectors in rows, by a pass.
  Matrix<double> gram_times(FeatureCache& cache, MatrixView<const double> v, bool exact) const;

  /// Intercepts around the origin, for weights of an output in each row.
  std::vector<double> intercepts(MatrixView<const double> w) const;

 private:
  bool is_out(const FeatureCache::Piece& piece, Index row) const {
    return rows_out_.empty() ? piece.fold == without_ : rows_out_[piece.first + row] != 0;
  }

  Index without_;
  std::span<const char> rows_out_;
  double weight_ = 0;
  std::vector<double> sum_, target_;
  Matrix<double> cross_;
};

}  // namespace kerf::detail
