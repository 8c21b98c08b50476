// The parts of stochastic gradients (solver_sgd.cpp): what they remember between batches and keep on
// disk, and what they do with the rows of a block.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kerf/learn/quality/fit_quality.h"
#include "kerf/learn/quality/temperature.h"
#include "kerf/learn/ridge/normal_equations.h"
#include "kerf/learn/solvers/solver.h"
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

/// Scores a row has: one for two classes, unless their targets are fitted by squares.
Index score_count(const Problem& problem);

/// What the rows held out tell about a fit beside a constant, gathered over an epoch.
struct HeldOutRows {
  bool classification;
  LeftOutScores scores = {};
  double weight = 0;
  std::vector<double> sums = {}, squares = {}, errors = {};  ///< of the scaled targets
  std::vector<double> origin = {};                           ///< of these

  /// A row of the squared loss, whose scores are those of scaled targets.
  void add(std::span<const double> y, std::span<const double> scaled, const SgdProgress& scale,
           double row_weight);
  std::optional<FitQuality> quality(const std::string& how) const;
};

/// Features, scores, losses and steps of the rows of a block, a batch at a time.
class SgdBatches {
 public:
  using Block = TrainingRows::InputBlock;

  /// `progress` holds the origin and the scale of targets; it is looked at with every batch.
  SgdBatches(const Problem& problem, TrainingRows& rows, const SgdProgress& progress);

  /// Makes the features of those rows.
  void make_features(const Block& block, std::span<const Index> which);
  MatrixView<const float> features() const { return batch_.view(); }

  /// Products of those rows and the weights; returns what is to be added.
  std::vector<double> multiply(const Block& block, std::span<const Index> which,
                               const SgdState& state);
  /// Scores of row i of the batch that was multiplied.
  std::span<double> scores(Index i, std::span<const double> offset);

  /// Summed loss of those rows; leaves gradients where the products were.
  double evaluate(const Block& block, std::span<const Index> which, const SgdState& state);
  /// All batches of the first `rows` rows of a block; the mean loss before each step.
  double learn(const Block& block, Index rows, SgdState& state, double rate);
  /// receive(row numbers) for one batch of a block's rows after the other.
  void in_order(const Block& block,
                const std::function<void(std::span<const Index>)>& receive) const;

  std::optional<HeldOutRows> held_out;  ///< while such rows come
  double right = 0;  ///< weight of rows whose largest score is their class's, since it was set to 0

 private:
  double row_gradient(const Block& block, Index row, std::span<double> scores);

  const SgdOptions& options_;
  Loss loss_;
  double lambda_;
  Index count_;  // of scores
  TrainingRows& rows_;
  const SgdProgress& progress_;
  InputRows inputs_;  // of a batch
  Matrix<float> batch_, products_;
  std::vector<double> scores_, intercept_gradient_;
};

}  // namespace kerf::detail
