// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/rows/row_filter.h"

namespace kerf::detail {

RowBlock reordered(const RowBlock& block, std::span<const Index> order) {
  RowBlock out;
  out.first_row = block.first_row;
  out.make_room(block, std::ssize(order));
  for (Index i = 0; i < std::ssize(order); ++i) {
    out.put(i, block, order[i]);
    out.numbers.push_back(block.number_of(order[i]));
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
