// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/rows/row_source.h"

#include <algorithm>
#include <utility>

#include "kerf/core/system/memory.h"

namespace kerf::detail {

bool MemorySource::next(RowBlock& block) {
  const Index begin = position_;
  const Index end = std::min(begin + block_rows_, x_.rows());
  position_ = end;
  block.first_row = begin;
  block.is_sparse = x_.is_sparse();
  const auto weights = weights_.empty() ? weights_ : weights_.subspan(begin, end - begin);
  block.weights.assign(weights.begin(), weights.end());
  block.image = {};
  block.numbers.clear();
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
    block.wide.resize(x_.is_wide() ? end - begin : 0, x_.cols());
    for (Index i = 0; i < rows.rows(); ++i) {
      std::ranges::copy(rows.dense().row(i), block.dense.row(i).begin());
      if (x_.is_wide()) std::ranges::copy(rows.wide().row(i), block.wide.row(i).begin());
    }
  }
  block.targets.resize(end - begin, targets_.cols);
  for (Index i = begin; i < end && targets_.cols > 0; ++i)
    std::ranges::copy(targets_.row(i), block.targets.row(i - begin).begin());
  return end > begin;
}

namespace {

Index bytes_of(const RowBlock& block) {
  const RowsView x = block.x();
  const Index values = block.is_sparse ? 2 * std::ssize(block.sparse.values) : x.rows() * x.cols();
  return values * (x.is_wide() ? 12 : 4) + x.rows() * (block.targets.cols() + 2) * 8;
}

/// Blocks, because a dense matrix must know its size; put together with one copy then.
std::vector<RowBlock> read_blocks(RowSource& source, const std::function<void(Index)>& check) {
  std::vector<RowBlock> blocks(1);
  Index bytes = 0;
  source.rewind();
  while (source.next(blocks.back())) {
    bytes += bytes_of(blocks.back());
    check(bytes);
    blocks.emplace_back();
  }
  blocks.pop_back();
  return blocks;
}

RowBlock together(std::vector<RowBlock> blocks, Index cols) {
  Index rows = 0;
  bool numbered = false;
  for (const RowBlock& block : blocks) {
    rows += block.rows();
    numbered = numbered || !block.numbers.empty();
  }
  RowBlock all;
  if (blocks.empty()) return all;
  const RowBlock& first = blocks.front();
  all.is_sparse = first.is_sparse;
  all.image = first.image;
  all.sparse.cols = cols;
  all.dense.resize(first.is_sparse ? 0 : rows, cols);
  all.wide.resize(first.x().is_wide() ? rows : 0, cols);
  all.targets.resize(rows, first.targets.cols());
  Index at = 0;
  for (RowBlock& block : blocks) {
    for (Index i = 0; i < block.rows(); ++i, ++at) {
      if (numbered) all.numbers.push_back(block.number_of(i));
      std::ranges::copy(block.targets.row(i), all.targets.row(at).begin());
      if (!block.is_sparse) std::ranges::copy(block.dense.row(i), all.dense.row(at).begin());
      if (all.wide.rows() > 0) std::ranges::copy(block.wide.row(i), all.wide.row(at).begin());
    }
    const Index before = static_cast<Index>(all.sparse.values.size());
    all.sparse.values.insert(all.sparse.values.end(), block.sparse.values.begin(),
                             block.sparse.values.end());
    all.sparse.columns.insert(all.sparse.columns.end(), block.sparse.columns.begin(),
                              block.sparse.columns.end());
    for (std::size_t i = 1; i < block.sparse.offsets.size(); ++i)
      all.sparse.offsets.push_back(before + block.sparse.offsets[i]);
    all.weights.insert(all.weights.end(), block.weights.begin(), block.weights.end());
    block = RowBlock();  // its memory is not needed any more
  }
  return all;
}

}  // namespace

RowBlock read_all(RowSource& source) {
  return together(read_blocks(source, [](Index) {}), source.cols());
}

RowBlock read_all(RowSource& source, Index memory_limit, const std::string& advice) {
  // What is available shrinks while rows are read, so it is looked at once.
  const Index allowed = memory_limit > 0 ? memory_limit : available_memory();
  const auto check = [&](Index bytes) {
    require_memory(2 * bytes, allowed, "to hold the rows read so far", advice);
  };
  return together(read_blocks(source, check), source.cols());
}

void for_each_block(RowSource& source, Index block_rows,
                    const std::function<void(Index, const RowsView&)>& receive) {
  RowBlock part;
  Matrix<float> dense;
  CsrMatrix sparse;
  sparse.cols = source.cols();
  Index first = 0, filled = 0;
  bool is_sparse = false;
  const auto flush = [&] {
    if (filled == 0) return;
    receive(first, is_sparse ? RowsView(sparse.view())
                             : RowsView(std::as_const(dense).view().slice(0, filled)));
    first += filled;
    filled = 0;
    sparse.clear();
  };
  source.rewind();
  while (source.next(part)) {
    is_sparse = part.is_sparse;
    if (!is_sparse && dense.rows() == 0) dense.resize(block_rows, part.dense.cols());
    for (Index i = 0; i < part.rows(); ++i) {
      if (is_sparse) {
        const SparseRow row = part.sparse.view().row(i);
        sparse.values.insert(sparse.values.end(), row.values.begin(), row.values.end());
        sparse.columns.insert(sparse.columns.end(), row.columns.begin(), row.columns.end());
        sparse.end_row();
      } else {
        std::ranges::copy(part.dense.row(i), dense.row(filled).begin());
      }
      if (++filled == block_rows) flush();
    }
  }
  flush();
}

}  // namespace kerf::detail
