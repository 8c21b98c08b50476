// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/table/raw_sample.h"

#include <algorithm>

namespace kerf::detail::io {

void RawSample::offer(const RawBlock& block, Index i, Index row, std::size_t odd_begin,
                      std::size_t odd_end) {
  const Index slot = sampler_.offer(row);
  if (slot < 0) return;
  if (slot == static_cast<Index>(rows_.size())) rows_.emplace_back();
  Row& kept = rows_[slot];
  const auto at = static_cast<std::size_t>(i);
  if (block.cells.rows() > 0)
    kept.cells.assign(block.cells.row(i).begin(), block.cells.row(i).end());
  if (block.pixels.rows() > 0)
    kept.pixels.assign(block.pixels.row(i).begin(), block.pixels.row(i).end());
  if (block.sparse.rows() > 0) {
    const SparseRow entries = block.sparse.view().row(i);
    kept.values.assign(entries.values.begin(), entries.values.end());
    kept.columns.assign(entries.columns.begin(), entries.columns.end());
  }
  const auto labels = std::ssize(block.labels) / block.rows;
  kept.labels.assign(block.labels.begin() + i * labels, block.labels.begin() + (i + 1) * labels);
  kept.weight = block.weights.empty() ? 0 : block.weights[at];
  spelled_ = spelled_ || !block.spelling.empty();
  words_kept_ = words_kept_ || block.words_kept;
  kept.spelling = block.spelling.empty() ? "" : block.spelling[at];
  kept.origin = block.origin_of(i);
  kept.odd.clear();
  for (std::size_t k = odd_begin; k < odd_end; ++k)
    kept.odd.emplace_back(block.odd[k], block.text(block.odd[k]));
}

RawBlock RawSample::finish(const Schema& schema) const {
  RawBlock block;
  const auto n = static_cast<Index>(rows_.size());
  block.words_kept = words_kept_;
  if (schema.bytes)
    block.pixels.resize(n, schema.columns);
  else if (!schema.sparse)
    block.cells.resize(n, schema.columns);
  for (const Index slot : sampler_.slots_in_row_order()) {
    const Row& row = rows_[slot];
    const Index i = block.rows++;
    if (schema.bytes) std::ranges::copy(row.pixels, block.pixels.row(i).begin());
    if (!schema.bytes && !schema.sparse) std::ranges::copy(row.cells, block.cells.row(i).begin());
    for (std::size_t k = 0; k < row.values.size(); ++k)
      block.sparse.push(row.columns[k], row.values[k]);
    if (schema.sparse) block.sparse.end_row();
    block.labels.insert(block.labels.end(), row.labels.begin(), row.labels.end());
    if (schema.weighted) block.weights.push_back(row.weight);
    if (spelled_) block.spelling.push_back(row.spelling);
    block.origins.push_back(row.origin);
    for (const auto& [cell, text] : row.odd) {
      block.add_odd(i, cell.column, cell.byte, text, cell.below);
      block.odd.back().is_word = cell.is_word;
      block.odd.back().is_number = cell.is_number;
      block.odd.back().is_missing = cell.is_missing;
      block.odd.back().is_read = cell.is_read;
    }
  }
  return block;
}

}  // namespace kerf::detail::io
