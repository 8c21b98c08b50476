// The rows of a fit as features and targets, block by block, as often as a solver asks.
//
//   read -> scale -> sort into folds -> blocks of a fixed size -> features, encoded targets
//
// Blocks are the same however the source is cut: block_rows() consecutive rows of one fold.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <vector>

#include "kerf/core/progress.h"
#include "kerf/core/rows/data_summary.h"
#include "kerf/core/system/stopwatch.h"
#include "kerf/features/feature_map.h"
#include "kerf/learn/options/fit_options.h"
#include "kerf/learn/options/fit_outcome.h"
#include "kerf/learn/ridge/normal_equations.h"

namespace kerf::detail {

class FoldBuffers;

/// What the regression is trained on: the targets, or one column per class.
class Targets {
 public:
  Targets(const DataSummary& summary, const FitOptions& options);

  Index outputs() const { return outputs_; }
  bool classification() const { return classification_; }

  /// Regression: the targets over DataSummary::target_scale (restore_targets() is the way back);
  /// classification: one-hot minus 1/classes.
  void encode(const RowBlock& rows, Matrix<double>& y, std::vector<double>& weights) const;

 private:
  bool classification_;
  Index outputs_;
  std::vector<double> class_weight_;
  std::vector<double> scale_;  // empty: 1
};

class TrainingRows {
 public:
  TrainingRows(RowSource& source, const DataSummary& summary, const FeatureMap& map,
               const Scaling& scaling, const FitOptions& options, FitReport::Seconds& seconds,
               Progress progress);

  Index rows() const { return summary_.rows; }
  Index features() const { return map_.out_dim(); }
  Index outputs() const { return targets_.outputs(); }
  Index block_rows() const { return block_rows_; }
  const Progress& progress() const { return progress_; }
  FitReport::Seconds& seconds() const { return seconds_; }

  /// Some rows of one fold.  `z` may be overwritten by whoever receives it.
  struct Block {
    Index fold = 0;
    Index first = 0;  ///< rows of this fold that came before
    MatrixView<float> z;
    MatrixView<const double> y;
    WeightsView weights;
  };
  /// One pass over all rows, each fold's in order.  fold(row) = Philox(key, row) mod folds.  The
  /// first skip[fold] rows of each fold are read but not handed over.  `apart`: that fold as fold 0,
  /// all others as fold 1; -1: every fold for itself.
  void for_each(Index folds, const std::function<void(const Block&)>& receive,
                std::span<const Index> skip = {}, Index apart = -1);
  /// One fold's rows only, until `receive` returns false.
  void for_fold(Index fold, Index folds, const std::function<bool(const Block&)>& receive);
  /// The same rows before they become features, in larger blocks: for who makes features of a few
  /// rows at a time.  `rows`: inputs (scaled); their targets are y, encoded, and `weights`.
  struct InputBlock {
    bool held_out = false;  ///< rows of one fold; the last of them come at the end of the pass
    const RowBlock& rows;
    MatrixView<const double> y;
    WeightsView weights;
  };
  void for_each_input(Index folds, Index held_out,
                      const std::function<void(const InputBlock&)>& receive);
  /// The first fold that has rows while others have too; -1: there is none.
  Index fold_with_rows(Index folds) const;
  /// Features of some rows.
  void features(const RowsView& x, MatrixView<float> z) const;
  /// As if all rows had been passed over: sources that give other rows in each pass count passes.
  void skip_pass() { source_.rewind(); }
  /// Rows whose features are held at once: 64 MB of them, but enough for the sums to run at full
  /// speed, and not more than there are.
  static Index rows_at_once(Index features, Index inputs, Index rows);
  /// Most rows of an InputBlock.
  static Index input_block_rows(Index inputs, Index rows);

  /// All rows, in order.
  void for_each(const std::function<void(const Block&)>& receive) { for_each(1, receive); }

  /// Memory of a pass: a block of features, and inputs and targets waiting in each fold.
  static Index bytes(Index rows, Index inputs, Index features, Index outputs, Index folds);

 private:
  void pass(Index folds, const std::function<bool(const Block&)>& receive,
            std::span<const Index> skip, Index apart = -1);
  /// One pass: reads, scales and hands rows to `buffers`, as long as they are wanted.
  void read_into(FoldBuffers& buffers, const bool& wanted);

  RowSource& source_;
  const DataSummary& summary_;
  const FeatureMap& map_;
  const Scaling& scaling_;
  FitReport::Seconds& seconds_;
  Progress progress_;  // a copy: it may be given a temporary
  Targets targets_;
  rng::Key fold_key_;
  Index block_rows_;
};

/// Means of some rows: near enough to the means of all to keep digits.
Origin origin_of(MatrixView<const float> z, MatrixView<const double> y);

/// Folds to tell apart: one when lambda is given.
Index fold_count(const FitOptions& options, Index rows);

}  // namespace kerf::detail
