// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/rows/fold_buffers.h"

namespace kerf::detail {

FoldBuffers::FoldBuffers(Index folds, Index block_rows, rng::Key key, Flush flush,
                         std::span<const Index> skip, Index apart)
    : folds_(folds),
      block_rows_(block_rows),
      apart_(apart),
      key_(key),
      flush_(std::move(flush)),
      buffers_(apart >= 0 ? 2 : folds),
      skip_(skip.begin(), skip.end()) {
  skip_.resize(buffers_.size(), 0);
}

Index FoldBuffers::fold_with_rows(rng::Key key, Index rows, Index copies, Index folds) {
  Index least = fold_of(key, 0, copies, folds), largest = least;
  for (Index row = 0; row < rows && (least > 0 || largest == 0); ++row) {
    least = std::min(least, fold_of(key, row, copies, folds));
    largest = std::max(largest, fold_of(key, row, copies, folds));
  }
  return least < largest ? least : -1;
}

void FoldBuffers::add(const RowBlock& block) {
  for (Index i = 0; i < block.rows(); ++i) {
    Index fold = fold_of(key_, block.first_row + i, block.copies, folds_);
    if (apart_ >= 0) fold = fold == apart_ ? 0 : 1;
    if (Index& left = skip_[fold]; left > 0) {
      --left;
      continue;
    }
    Buffer& buffer = buffers_[fold];
    append(buffer, block, i);
    if (buffer.filled == block_rows_) flush(fold);
  }
}

void FoldBuffers::finish() {
  const auto count = static_cast<Index>(buffers_.size());
  for (Index k = 0; k < count; ++k) {
    const Index fold = apart_ >= 0 ? count - 1 - k : k;
    if (buffers_[fold].filled > 0) flush(fold);
  }
}

void FoldBuffers::append(Buffer& buffer, const RowBlock& block, Index row) {
  if (buffer.filled == 0) {
    buffer.rows.make_room(block, block_rows_);
    buffer.rows.wide = {};
  }
  buffer.rows.put(buffer.filled++, block, row);
}

void FoldBuffers::flush(Index fold) {
  Buffer& buffer = buffers_[fold];
  // A buffer that is not full shows only the rows it has; their memory stays.
  if (!buffer.rows.is_sparse) buffer.rows.dense.resize(buffer.filled, buffer.rows.dense.cols());
  buffer.rows.targets.resize(buffer.filled, buffer.rows.targets.cols());
  buffer.filled =
      0;  // first: if the work is stopped, the next row must not be written past the end
  flush_(fold, buffer.rows);
}

}  // namespace kerf::detail
