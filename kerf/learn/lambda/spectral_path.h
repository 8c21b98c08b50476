// Leave-one-out and generalised cross-validation errors of ridge regression for a whole grid.
//
//   A = sum_i w_i (z_i - zm)(z_i - zm)^T = V^T diag(D) V,  zm, ym: means,  c = n lambda
//   weights:      W = V^T (D + c)^-1 V B,     B = sum_i w_i (z_i - zm)(y_i - ym)^T
//   leave one out:  (y_i - ym - W^T (z_i - zm)) / (1 - h_i),  h_i = w_i (1/n + sum_k p_ik^2/(D_k +
//   c)) GCV:          (residual sum of squares / n) / (1 - df/N)^2,  df = 1 + sum_k D_k/(D_k + c)
//
// with p_i = V (z_i - zm), n the sum of the weights and N the number of rows that have any: all
// weights times a number change no error and no choice.  GCV needs the sums alone; leave-one-out needs one more pass over rows.
//
// Exact:      leave-one-out is that of n fits on n - 1 rows with c kept, not lambda
// (exact_ridge.h).
//             GCV replaces each h_i by their mean.
// Cost:       one eigendecomposition, 9 m^3 flops; leave-one-out: another pass and 2 n m^2 flops.
//             Fold errors (fold_path.h) cost about m^3/3: they are the default.
// Reference:  Golub, Heath & Wahba, "Generalized cross-validation as a method for choosing a good
//             ridge parameter", 1979.
// Differs:    unpenalised intercept, row weights (n is their sum).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/learn/ridge/normal_equations.h"

namespace kerf::detail {

class SpectralPath {
 public:
  explicit SpectralPath(std::span<const NormalEquations> parts);

  /// GCV score of each target at lambda: an estimate of the mean squared error on new rows.
  std::vector<double> gcv(double lambda) const;

  /// Adds the weighted squared leave-one-out errors of these rows at each lambda to
  /// errors[lambda][target], divided by the weight of all rows.  Infinite where a row decides its
  /// own fit.
  void add_leave_one_out(MatrixView<const float> z, MatrixView<const double> y, WeightsView weights,
                         std::span<const double> lambdas,
                         std::vector<std::vector<double>>& errors) const;

  static Index bytes(Index features, Index targets);

 private:
  void add_part(MatrixView<const float> z, MatrixView<const double> y, WeightsView weights,
                std::span<const double> lambdas, std::vector<std::vector<double>>& errors) const;

  Matrix<double> vectors_;              // V, an eigenvector in each row
  std::vector<double> values_;          // D
  Matrix<double> rhs_;                  // V B
  std::vector<double> feature_mean_;    // zm
  std::vector<double> target_mean_;     // ym
  std::vector<double> target_squares_;  // sum_i w_i (y_i - ym)^2
  double weight_ = 0;                   // n
  double rows_ = 0;                     // N
};

}  // namespace kerf::detail
