// Training on blocks of rows that arrive one at a time, with a model to be had at any moment.
//
// The first block decides what later ones cannot change: scaling, bandwidth and bias.  Apart from
// that the model is the one that fit() makes of all rows together: the same folds (by row number)
// and sums, and the dual while there are no more rows than features (unless --solver cholesky).
//
// Memory: rows as they came while there are no more of them than features, then that of the
// cholesky solver, which does not grow with the rows.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <vector>

#include "kerf/learn/fit/trainer.h"
#include "kerf/learn/quality/calibration.h"
#include "kerf/learn/rows/fold_buffers.h"
#include "kerf/learn/rows/training_rows.h"

namespace kerf::detail {

class IncrementalFit {
 public:
  /// `first` summarises the first rows; for classification it names all classes that will come.
  /// Balanced class weights and the pcg solver are refused: they need rows that have not come yet.
  IncrementalFit(const DataSummary& first, const std::string& map, const Params& map_options,
                 const FitOptions& options, Index memory_limit = 0);

  /// Goes on from a fit that kept its sums (solver cholesky) in the folder options.checkpoint: with
  /// more rows of the same columns.  Scaling, bandwidth and bias stay.
  IncrementalFit(const Model& model, const FitOptions& options, Index memory_limit = 0);

  /// Adds rows, which are scaled in place.  Class numbers and weights must be valid.
  void add(RowBlock& block);
  Index rows() const { return rows_; }
  /// Rows of a piece of work that was stopped are in the sums in part: all that follows is refused.
  void give_up() { given_up_ = true; }

  /// The model of all rows so far; more may be added afterwards.
  FitResult solve(const Progress& progress = {});

 private:
  void check_whole() const;
  void start_sums();
  void add_to_sums(Index fold, const RowBlock& rows);
  void solve_dual(const Progress& progress, FitResult& result) const;
  void solve_sums(const Progress& progress, FitResult& result);

  FitOptions options_;
  Index memory_limit_;
  Targets targets_;
  std::vector<double> target_scale_;
  Index target_columns_;
  Index folds_ = 1;         // sums; rows go into them by their number modulo
  Index fold_modulus_ = 1;  // this,
  Index apart_ = -1;        // or one fold into the first and all others into the second
  FitResult start_;         // recipe, scaling and everything else that does not change
  std::unique_ptr<FeatureMap> map_;
  Index rows_ = 0;
  bool given_up_ = false;
  std::vector<RowBlock> kept_;            // until there are sums,
  std::unique_ptr<FoldBuffers> buffers_;  // rows on their way there
  std::vector<NormalEquations> sums_;     // folds_ of them
  LeftOutRows left_out_;                  // the first rows of one of them, for probabilities
  Index left_out_fold_ = 0;
  Matrix<float> z_;  // scratch
  Matrix<double> y_;
  std::vector<double> weights_;
};

}  // namespace kerf::detail
