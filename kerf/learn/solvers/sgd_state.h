// What stochastic gradients (solver_sgd.cpp) remember between batches, and keep on disk.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <vector>

#include "kerf/learn/ridge/normal_equations.h"
#include "kerf/model/model_arrays.h"

namespace kerf::detail {

/// Features of some rows, the derivatives of their losses by their scores, and sums of these.
struct SgdBatch {
  MatrixView<const float> features, derivatives;
  std::span<const double> derivative_sums;
  std::span<const float> centre;  ///< that is subtracted from every row of features
  double weight;                  ///< of all rows
};

struct SgdStep {
  bool adaptive;  ///< adagrad
  double rate, lambda;
};

/// Weights and what the schedule remembers.
struct SgdState {
  Matrix<float> weights, squares;  ///< score in each row
  std::vector<double> intercept, intercept_squares;

  SgdState(Index scores, Index features);
  /// One step against the batch's gradient.
  void step(const SgdBatch& batch, const SgdStep& how);
  void save(ArrayWriter& arrays, const std::string& prefix) const;
  /// Error (data) if it is of another size.
  void load(ArrayReader& arrays, const std::string& prefix);
};

/// How far a fit has come, and what its first block said.
struct SgdProgress {
  Index next = 0;  ///< epoch
  double best;     ///< held-out loss
  Index waited = 0;
  double rate = 0;
  Origin origin;
  std::vector<double> target_scale;

  void save(ArrayWriter& arrays) const;
  /// Error (data) if it is of another number of features or outputs.
  void load(ArrayReader& arrays, Index features, Index outputs);
};

}  // namespace kerf::detail
