// Leave-one-out errors of kernel ridge regression at a few lambdas, without eigenvalues.
//
//   A = P S K S P as in exact_ridge.h,  B = A + c I + g u u^T,  c = n lambda
//   left out:  sqrt(w_i) (y_i - f_-i(x_i)) = (B^-1 S (y - mean))_i / ((B^-1)_ii - u_i^2 / (c + g))
//
// g = trace(A) moves u to the far end of the spectrum, where it is out of the way: the subtraction
// takes away next to nothing.
//
// Exact:      the same numbers as exact_ridge.h.
// Cost:       n^3 flops a lambda, most of them in matrix products, instead of 9 n^3 (a third of
//             which are not) for all lambdas: cheaper up to a dozen of them.  16 n^2 bytes.
// Reference:  Rifkin & Lippert, "Notes on regularized least squares", 2007, section 3.
// Differs:    weights and intercept.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <span>
#include <vector>

#include "kerf/core/rows/matrix.h"
#include "kerf/learn/ridge/exact_ridge.h"

namespace kerf::detail {

/// Lambdas are those of the automatic grid of exact_ridge.h.
class LeaveOneOut {
 public:
  /// `gram` (n x n, symmetric; its view must outlive this) is centred in place.  No weights: all 1.
  LeaveOneOut(MatrixView<double> gram, MatrixView<const double> targets, WeightsView weights);

  /// mean(diag A) / n, the unit of lambda; positive.
  double unit() const { return unit_; }
  double lambda(int step) const;

  /// Mean squared error over rows and targets; infinite where B is singular.
  double error(double lambda);
  /// The same at a step; remembered.
  double error_at(int step);
  /// Walks downhill from `start` (or from where the error is finite) in steps of `stride`; the best
  /// step and its error.
  std::pair<int, double> search(int start, int stride, int least = kFirstLambdaStep);
  /// a of f(x) = b + sum_j a_j k(x, x_j) at lambda, rows x targets; without rows where B is singular.
  Matrix<double> coefficients(double lambda);

 private:
  /// work_ = R of B = R^T R; whether there is one.
  bool factor(double lambda);

  MatrixView<double> centred_;
  Matrix<double> work_, targets_;  // targets_: S (y - mean)
  std::vector<double> direction_;  // u
  std::vector<bool> counts_;       // rows of positive weight
  double weight_ = 0, shift_ = 0, unit_ = 1;
  std::map<int, double> known_;
};

}  // namespace kerf::detail
