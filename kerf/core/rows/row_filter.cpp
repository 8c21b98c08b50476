// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/rows/row_filter.h"

#include <algorithm>

namespace kerf::detail {

RowBlock reordered(const RowBlock& block, std::span<const Index> order) {
  RowBlock out;
  const auto rows = std::ssize(order);
  out.first_row = block.first_row;
  out.is_sparse = block.is_sparse;
  out.image = block.image;
  out.sparse.cols = block.sparse.cols;
  out.dense.resize(block.is_sparse ? 0 : rows, block.dense.cols());
  out.wide.resize(block.x().is_wide() ? rows : 0, block.dense.cols());
  out.targets.resize(rows, block.targets.cols());
  for (Index i = 0; i < rows; ++i) {
    const Index from = order[i];
    if (block.is_sparse) {
      const SparseRow row = block.sparse.view().row(from);
      for (std::size_t e = 0; e < row.values.size(); ++e)
        out.sparse.push(row.columns[e], row.values[e]);
      out.sparse.end_row();
    } else {
      std::ranges::copy(block.dense.row(from), out.dense.row(i).begin());
      if (out.wide.rows() > 0) std::ranges::copy(block.wide.row(from), out.wide.row(i).begin());
    }
    std::ranges::copy(block.targets.row(from), out.targets.row(i).begin());
    out.numbers.push_back(block.number_of(from));
    if (!block.weights.empty()) out.weights.push_back(block.weights[from]);
  }
  return out;
}

void keep_rows(RowBlock& block, const std::vector<bool>& keep) {
  std::vector<Index> order;
  for (std::size_t i = 0; i < keep.size(); ++i)
    if (keep[i]) order.push_back(static_cast<Index>(i));
  block = reordered(block, order);
}

void HoldoutSource::rewind() {
  all_.rewind();
  rows_ = 0;
}

bool HoldoutSource::next(RowBlock& block) {
  while (all_.next(block)) {
    std::vector<bool> keep;
    for (Index i = 0; i < block.rows(); ++i)
      keep.push_back((rng::uniform(key_, static_cast<std::uint64_t>(block.first_row + i)) <
                      part_) == held_out_);
    keep_rows(block, keep);
    block.first_row = rows_;
    rows_ += block.rows();
    if (block.rows() > 0) return true;
  }
  return false;
}

}  // namespace kerf::detail
