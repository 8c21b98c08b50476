// The predictive variance of a fit (model/predictive_variance.h), in further passes over the rows.
//
//   s^2, by --noise:
//   leave-one-out: the mean of e_i^2 / v_i, e_i the error at row i of the fit without it and s^2 v_i
//     its variance.  With r the errors of the fit itself and h_i = zc_i^T A^-1 zc_i + 1/n,
//     e_i = r_i / (1 - h_i) and v_i = 1 / (1 - h_i), so that s^2 = mean of r_i^2 / (1 - h_i)
//   likelihood: maximises the marginal likelihood given lambda, with the intercept integrated out,
//     s^2 = yc^T (I + Zc Zc^T / (n lambda))^-1 yc / (n - 1) = (|yc|^2 - yc^T Zc w) / (n - 1)
//
// Weights: a row of weight w has the noise s^2 / w, w in units of the mean weight; h_i and r_i^2
// are then times w.  The two agree where the model is right.  Where it is not (noise that differs from row to row, a
// kernel chosen on the same rows), the likelihood trusts it and leave-one-out does not.
//
// Cost:       n m^2 + m^3/3 flops in double precision (lambda may be tiny), leave-one-out one more
//             pass and n m^2 flops; 16 m^2 bytes.
// Reference:  Rasmussen & Williams 2006, sections 2.7, 5.4.1 and 5.4.2.
// Differs:    nothing.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/learn/rows/training_rows.h"
#include "kerf/model/predictive_variance.h"

namespace kerf::detail {

/// Error (numeric) if lambda is so small that the matrix is singular.
PredictiveVariance fit_variance(TrainingRows& rows, double lambda, Noise noise);

/// Memory besides a pass over the rows.
Index variance_bytes(Index features, Index outputs);

}  // namespace kerf::detail
