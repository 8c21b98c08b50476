// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/table/missing_words.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kerf/core/options.h"

namespace kerf::detail::io {

MissingWords::MissingWords(const std::vector<std::string>& words, bool only)
    : words_(words.begin(), words.end()), only_(only) {
  for (const std::string& word : words)
    if (const auto number = parse_number(word); number && std::isfinite(*number))
      numbers_.push_back(*number);
}

void MissingWords::mark(RawBlock& block) const {
  if (words_.empty() && !only_) return;
  for (OddCell& cell : block.odd) {
    if (cell.is_number) continue;  // below, by its value
    const bool has_text = cell.byte > 0 || cell.is_word;
    const std::string text(block.text(cell));
    cell.is_missing = words_.contains(text);
    if (only_ && has_text && !text.empty() && !cell.is_missing) cell.is_word = true;
  }
  if (!numbers_.empty()) mark_numbers(block);
}

void MissingWords::mark_numbers(RawBlock& block) const {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const auto is_listed = [&](double value) {
    return std::ranges::find(numbers_, value) != numbers_.end();
  };
  for (OddCell& cell : block.odd)
    if (cell.is_number && is_listed(block.cells(cell.row, cell.column))) {
      block.cells(cell.row, cell.column) = kNan;
      cell.is_number = false;
      cell.is_missing = true;
    }
  const auto miss = [&](Index row, Index column, double& value) {
    if (!is_listed(value)) return;
    block.add_odd(row, column, 0, format_number(value));
    block.odd.back().is_missing = true;
    value = kNan;
  };
  for (Index i = 0; i < block.cells.rows(); ++i) {
    const auto row = block.cells.row(i);
    for (std::size_t j = 0; j < row.size(); ++j) miss(i, static_cast<Index>(j), row[j]);
  }
  if (block.rows == 0 || std::ssize(block.labels) != block.rows) return;
  for (Index i = 0; i < block.rows; ++i) miss(i, kLabelColumn, block.labels[i]);
}

}  // namespace kerf::detail::io
