// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/rows/row_source.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kerf/core/system/memory.h"

namespace kerf::detail {

void InputRows::make_room(const RowsView& like, Index count) {
  is_sparse = like.is_sparse();
  sparse.clear();
  sparse.cols = like.cols();
  dense.resize(is_sparse ? 0 : count, like.cols());
  wide.resize(like.is_wide() ? count : 0, like.cols());
}

void InputRows::put(Index at, const RowsView& x, Index i) {
  if (is_sparse) return sparse.push_row(x.sparse().row(i));
  std::ranges::copy(x.dense().row(i), dense.row(at).begin());
  if (wide.rows() > 0) std::ranges::copy(x.wide().row(i), wide.row(at).begin());
}

InputRows copy_of(const RowsView& x) {
  InputRows rows;
  rows.make_room(x, x.rows());
  for (Index i = 0; i < x.rows(); ++i) rows.put(i, x, i);
  return rows;
}

void RowBlock::make_room(const RowBlock& like, Index count) {
  make_room(like.x(), count);
  targets.resize(count, like.targets.cols());
  image = like.image;
  weights.clear();
  numbers.clear();
}

void RowBlock::put(Index at, const RowBlock& from, Index i) {
  put(at, from.x(), i);
  std::ranges::copy(from.targets.row(i), targets.row(at).begin());
  if (from.weights.empty() && weights.empty()) return;
  weights.resize(at, 1.0);
  weights.push_back(WeightsView(from.weights)[i]);
}

bool MemorySource::next(RowBlock& block) {
  const Index begin = position_;
  const Index end = std::min(begin + block_rows_, x_.rows());
  position_ = end;
  block.first_row = begin;
  const auto weights = weights_.slice(begin, end).values();
  block.weights.assign(weights.begin(), weights.end());
  block.image = {};
  block.numbers.clear();
  block.make_room(x_, end - begin);
  for (Index i = begin; i < end; ++i) block.put(i - begin, x_, i);
  block.targets.resize(end - begin, targets_.cols);
  if (targets_.cols > 0) copy_rows(targets_.slice(begin, end), block.targets.view());
  return end > begin;
}

double MemorySource::part_read() const {
  return x_.rows() == 0 ? 0 : static_cast<double>(position_) / static_cast<double>(x_.rows());
}

Index rows_expected(const RowSource& source, Index read) {
  const double part = source.part_read();
  return part > 0 ? std::max<Index>(read, std::llround(static_cast<double>(read) / part)) : 0;
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
  all.make_room(blocks.front(), rows);
  all.sparse.cols = cols;
  Index at = 0;
  for (RowBlock& block : blocks) {
    for (Index i = 0; i < block.rows(); ++i, ++at) {
      all.put(at, block, i);
      if (numbered) all.numbers.push_back(block.number_of(i));
    }
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
  InputRows rows;
  Index first = 0, filled = 0;
  const auto flush = [&] {
    if (filled == 0) return;
    receive(first, rows.x().slice(0, filled));
    first += filled;
    filled = 0;
  };
  source.rewind();
  while (source.next(part)) {
    const RowsView x = part.is_sparse ? part.x() : RowsView(part.dense.view());
    for (Index i = 0; i < x.rows(); ++i) {
      if (filled == 0) rows.make_room(x, block_rows);
      rows.put(filled, x, i);
      if (++filled == block_rows) flush();
    }
  }
  flush();
}

}  // namespace kerf::detail
