// Ridge regression from sums in single precision, refined in double by passes over the rows.
//
//   A = R^T R: the system as the sums have it.  A* W = C*: the same with everything from z - c on in
//   double.  Conjugate gradients on A*, preconditioned by R, from the solution of the sums; each
//   product with A* is a pass that makes the features again.
//
// Error:      stops when |R^-T (C* - A* W)| is kGoal of |R^-T C*|: predictions are within about
//             that part of their spread.
// Cost:       a pass of features and 4 n m t flops for the residual, and as much for each step: one
//             to four where the sums' rounding is below n lambda.  8 m^2 bytes and a block of rows.
// Reference:  Higham, "Accuracy and stability of numerical algorithms", 2002, chapter 12; steps of
//             conjugate gradients, which converge where plain refinement would not.
// Differs:    nothing.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/learn/rows/training_rows.h"
#include "kerf/model/model.h"

namespace kerf::detail {

struct Refined {
  LinearModel model;
  Index passes = 0;
  double residual = 0;  ///< relative and preconditioned, as at the end
};

/// `factor`: R (upper); `start`: the solution of the sums, around `origin` (ridge.h).
Refined refine_ridge(TrainingRows& rows, const Origin& origin, MatrixView<const double> factor,
                     double lambda, const LinearModel& start);

/// Memory besides the factor and a pass over the rows.
Index refine_bytes(Index features, Index outputs);

}  // namespace kerf::detail
