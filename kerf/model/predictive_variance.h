// How sure a linear model of features is: the predictive variance of Bayesian linear regression.
//
//   y = b + <w, z> + noise,   noise ~ N(0, s^2),   w ~ N(0, s^2/(n lambda) I),   b flat
//   Var(y | rows) = s^2 (1 + 1/n + zc^T A^-1 zc),   A = Zc^T Zc + n lambda I = R^T R,   zc = z -
//   mean
//
// With features of the NNGP (ntk-rf --kernel nngp, arccos) this is NNGP regression in feature
// space.
//
// Exact:      given lambda and s^2.
// Cost:       m^2 flops a row; the model file holds R: 4 m (m + 1) bytes.
// Reference:  Rasmussen & Williams, "Gaussian processes for machine learning", 2006, chapter 2.
// Differs:    the intercept has a flat prior (the terms 1/n and the centring).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/core/rows/matrix.h"

namespace kerf::detail {

struct PredictiveVariance {
  std::vector<double> mean;   ///< of the features
  std::vector<double> noise;  ///< s^2 of each output
  double weight = 0;          ///< n
  Matrix<double> factor;      ///< R, upper triangle of m x m; below it nothing is read

  /// out (rows x outputs) = variance of what will be observed at the rows with these features.
  void variances(MatrixView<const float> z, MatrixView<double> out) const;
};

/// The upper triangle row by row, as model files keep it, and back.
std::vector<double> packed_triangle(const Matrix<double>& factor);
Matrix<double> unpacked_triangle(const std::vector<double>& packed, Index size);

}  // namespace kerf::detail
