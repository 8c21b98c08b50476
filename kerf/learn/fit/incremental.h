// Training on blocks of rows that arrive one at a time, with a model to be had at any moment.
//
// The first block decides what later ones cannot change: scaling, bandwidth and bias, and what targets
// are divided by.  Apart from that the model is the one that fit() makes of all rows together, by the
// same solvers: the dual while there are no more rows than features (unless --solver cholesky, or where
// it refuses), then sums over the same folds (by row number).  Lambda, weights, quality, probabilities
// and warnings are those of fit(), to the bit on the same summary if nobody looks before the end, with
// three exceptions:
//   * fit() passes over the rows again where rounding in the sums matters; here there is the warning;
//   * probabilities and accuracy are found on the first 2,048 rows of a fold, not 20,000;
//   * fewer rows than folds are sorted into all folds.
//
// Memory: rows as they came while the dual is to solve for them, then that of the cholesky solver, which
// does not grow with the rows.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <limits>
#include <memory>
#include <vector>

#include "kerf/learn/fit/model_plan.h"
#include "kerf/learn/fit/trainer.h"
#include "kerf/learn/quality/data_warnings.h"
#include "kerf/learn/rows/fold_buffers.h"
#include "kerf/learn/rows/training_rows.h"
#include "kerf/learn/solvers/fold_sums.h"
#include "kerf/learn/solvers/solver.h"

namespace kerf::detail {

class IncrementalFit {
 public:
  /// `first` summarises the first rows; for classification it names all classes that will come.
  /// Balanced class weights and the pcg solver are refused: they need rows that have not come yet.
  IncrementalFit(const DataSummary& first, const std::string& map, const Params& map_options,
                 const FitOptions& options, Index memory_limit = 0);

  /// Goes on from a fit that kept its sums (solver cholesky) in the folder options.checkpoint: with
  /// more rows of the same columns.  Scaling, bandwidth and bias stay; of the rows before there are no
  /// warnings about the data.
  IncrementalFit(const Model& model, const FitOptions& options, Index memory_limit = 0);

  /// Adds rows, which are scaled in place.  Class numbers and weights must be valid.
  void add(RowBlock& block);
  Index rows() const { return shape_.rows; }
  /// Rows of a piece of work that was stopped are in the sums in part: all that follows is refused.
  void give_up() { given_up_ = true; }

  /// The model of all rows so far; more may be added afterwards.
  FitResult solve(const Progress& progress = {});

 private:
  /// What data warnings look at.
  struct Seen {
    ColumnSums sums;
    TargetRange targets;
    SampleKeeper sample;
    ColumnExtremes extremes;
  };

  void check_whole() const;
  void check_block(const RowBlock& block) const;
  bool one_apart() const;
  Index fold_with_rows() const;
  Problem problem(Index rows) const;
  void require_sums_memory() const;
  void start_sums();
  void start_sums(Index apart);
  void add_to_sums(Index fold, const RowBlock& rows);
  LinearModel solve_rows(const Progress& progress, FitReport& report) const;
  LinearModel solve_sums(const Progress& progress, FitReport& report);
  void warn(FitReport& report) const;

  FitOptions options_;
  Index memory_limit_;
  DataSummary shape_;  // what all rows have in common, and how many there are
  Targets targets_;
  ModelPlan plan_;
  FitRequest asked_;
  std::unique_ptr<FeatureMap> map_;
  std::vector<std::string> warnings_;  // about the map
  bool given_up_ = false;
  std::optional<Seen> seen_;  // none: went on from a fit
  bool wants_sums_ = false;
  std::vector<RowBlock> kept_;            // until there are sums,
  std::unique_ptr<FoldBuffers> buffers_;  // rows on their way there
  FoldSums sums_;
  Index left_out_fold_ = std::numeric_limits<Index>::max();  // whose rows are kept: the least
  Matrix<float> z_;                                          // scratch
  Matrix<double> y_;
  std::vector<double> weights_;
};

}  // namespace kerf::detail
