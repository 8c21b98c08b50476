// Rows sorted into folds on their way to the feature map, so that each fold is summed in blocks
// large enough for full speed.  Buffers hold inputs, which are smaller than features.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <vector>

#include "kerf/core/random/random.h"
#include "kerf/core/rows/row_source.h"

namespace kerf::detail {

class FoldBuffers {
 public:
  /// Receives up to block_rows rows of one fold: inputs, targets, weights (empty: all 1).
  using Flush = std::function<void(Index fold, const RowBlock& rows)>;

  /// `skip`: rows of each fold that are passed over (a fit that goes on from a checkpoint).
  /// `apart`: that fold as fold 0, all others as fold 1; -1: every fold for itself.
  FoldBuffers(Index folds, Index block_rows, rng::Key key, Flush flush,
              std::span<const Index> skip = {}, Index apart = -1);

  /// fold(row) = Philox(key, row) mod folds; copies of an example are in one fold.
  static Index fold_of(rng::Key key, Index row, Index copies, Index folds) {
    return static_cast<Index>(rng::below(key, static_cast<std::uint64_t>(row / copies),
                                         static_cast<std::uint64_t>(folds)));
  }

  /// The first fold that has some of so many rows while others have too; -1: there is none.
  static Index fold_with_rows(rng::Key key, Index rows, Index copies, Index folds);
  /// Drawn by the seed of a fit.
  static rng::Key key_of(Index seed) {
    return rng::Key{static_cast<std::uint64_t>(seed)}.child("fold");
  }

  /// Every row of the block.
  void add(const RowBlock& block);
  /// Flushes what is left, the fold that is apart last.
  void finish();

 private:
  struct Buffer {
    RowBlock rows;
    Index filled = 0;
  };
  void append(Buffer& buffer, const RowBlock& block, Index row);
  void flush(Index fold);

  Index folds_, block_rows_;
  Index apart_;
  rng::Key key_;
  Flush flush_;
  std::vector<Buffer> buffers_;
  std::vector<Index> skip_;
};

}  // namespace kerf::detail
