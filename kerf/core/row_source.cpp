// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/row_source.h"

#include <algorithm>

namespace kerf {

bool MemorySource::next(RowBlock& block) {
  const Index begin = position_;
  const Index end = std::min(begin + block_rows_, x_.rows());
  position_ = end;
  block.first_row = begin;
  block.is_sparse = x_.is_sparse();
  block.weights.clear();
  block.image = {};
  const RowsView rows = x_.slice(begin, end);
  if (block.is_sparse) {
    block.sparse.clear();
    block.sparse.cols = x_.cols();
    for (Index i = 0; i < rows.rows(); ++i) {
      const SparseRow row = rows.sparse().row(i);
      block.sparse.values.insert(block.sparse.values.end(), row.values.begin(), row.values.end());
      block.sparse.columns.insert(block.sparse.columns.end(), row.columns.begin(),
                                  row.columns.end());
      block.sparse.end_row();
    }
  } else {
    block.dense.resize(end - begin, x_.cols());
    for (Index i = 0; i < rows.rows(); ++i)
      std::ranges::copy(rows.dense().row(i), block.dense.row(i).begin());
  }
  block.targets.resize(end - begin, targets_.cols);
  for (Index i = begin; i < end && targets_.cols > 0; ++i)
    std::ranges::copy(targets_.row(i), block.targets.row(i - begin).begin());
  return end > begin;
}

}  // namespace kerf
