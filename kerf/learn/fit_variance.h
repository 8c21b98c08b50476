// The predictive variance of a fit (model/predictive_variance.h), in one more pass over the rows.
//
//   s^2 maximises the marginal likelihood given lambda, with the intercept integrated out:
//     s^2 = yc^T (I + Zc Zc^T / (n lambda))^-1 yc / (n - 1) = (|yc|^2 - yc^T Zc w) / (n - 1)
//
// Cost:       n m^2 + m^3/3 flops in double precision (lambda may be tiny); 16 m^2 bytes.
// Reference:  Rasmussen & Williams 2006, sections 2.7 and 5.4.1.
// Differs:    nothing.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/learn/training_rows.h"
#include "kerf/model/predictive_variance.h"

namespace kerf {

/// Error (numeric) if lambda is so small that the matrix is singular.
PredictiveVariance fit_variance(TrainingRows& rows, double lambda);

/// Memory besides a pass over the rows.
Index variance_bytes(Index features, Index outputs);

}  // namespace kerf
