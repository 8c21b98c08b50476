// Mean and covariance of a stream of rows, and the linear maps that whiten by them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/images/image_steps.h"

namespace kerf::detail {

/// Sums in double, of rows less the first block's mean (raw sums would lose digits).
class Covariance {
 public:
  explicit Covariance(Index dimension);

  void add(MatrixView<const float> rows);

  /// x -> (x - mean) U diag(1/sqrt(s + epsilon mean(s))) U^T.
  LinearStep zca(double epsilon) const;
  /// x -> the `components` leading coordinates of (x - mean) U.
  LinearStep principal(Index components) const;

 private:
  struct Eigen {
    std::vector<double> values;  ///< descending
    Matrix<double> vectors;      ///< one per row
  };
  Eigen eigen() const;
  /// x -> (x - mean) rows^T.
  LinearStep centred(const Matrix<double>& rows) const;

  double rows_ = 0;
  std::vector<double> origin_, sum_;
  Matrix<double> products_;  ///< upper triangle
};

}  // namespace kerf::detail
