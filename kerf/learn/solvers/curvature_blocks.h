// The blocks on the diagonal of a classifier's second derivatives, one for each score, factored.
//
//   B_k = (1/n) sum_i w_i h_ik [z_i; 1] [z_i; 1]^T + 2 lambda I        (the last 1, the intercept, unpenalised)
//
// h_ik: second derivative of the loss of row i in score k.  For the squared hinge and for two classes
// the blocks are the whole matrix, and conjugate gradients preconditioned by them end after one step.
//
// Cost:       scores n m^2 flops and scores m^2 numbers: worth it for few features only.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/learn/rows/feature_cache.h"

namespace kerf::detail {

class CurvatureBlocks {
 public:
  /// Cheaper than the steps of conjugate gradients that they save.
  static bool worthwhile(const FeatureCache& cache);
  static Index bytes(Index features, Index scores);

  explicit CurvatureBlocks(Index scores) : factors_(scores), lanes_(FeatureCache::kLanes) {}

  /// Makes the block of one score.  curvatures: w_i h_ik, rows x scores; n: sum of the weights.
  void make(Index score, FeatureCache& cache, const Matrix<double>& curvatures, double n,
            double lambda);

  /// v := B_k^-1 v; the intercept last.
  void solve(Index score, std::span<double> v) const;

 private:
  void sum_rows(Index score, FeatureCache& cache, const Matrix<double>& curvatures);

  std::vector<Matrix<double>> factors_;
  // Memory for one block at a time: asked for once, not for every block of every step.
  std::vector<Matrix<double>> lanes_;
  Matrix<double> block_;
};

}  // namespace kerf::detail
