// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/reader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/memory.h"
#include "kerf/io/finite.h"

namespace kerf::detail::io {

void RawBlock::clear() {
  rows = 0;
  sparse.clear();
  labels.clear();
  weights.clear();
  odd.clear();
  odd_text.clear();
  words_kept = false;
  lines.clear();
  label_lines.clear();
  spelling.clear();
  origins.clear();
}

bool RawBlock::is_missing(const OddCell& cell) const {
  return cell.is_missing || (!cell.is_word && io::is_missing(text(cell)));
}

void RawBlock::list_odd(Index i) {
  const auto row = cells.row(i);
  if (all_finite<double>(row)) return;
  for (std::size_t j = 0; j < row.size(); ++j) {
    if (std::isfinite(row[j])) continue;
    add_odd(i, static_cast<Index>(j), 0,
            std::isnan(row[j]) ? "nan" : (row[j] > 0 ? "inf" : "-inf"));
    row[j] = std::numeric_limits<double>::quiet_NaN();
  }
}

RawBlock::Origin RawBlock::origin_of(Index row) const {
  const auto at = static_cast<std::size_t>(row);
  if (!origins.empty()) return origins[at];
  return {file, label_file, first_row + row, lines.empty() ? 0 : lines[at],
          label_lines.empty() ? 0 : label_lines[at]};
}

std::string RawBlock::where(Index row, Index column, Index byte, Index below) const {
  const Origin from = origin_of(row);
  const bool label = column == kLabelColumn && !from.label_file.empty();
  const std::string& name = label ? from.label_file : from.file;
  const Index first_line = label ? from.label_line : from.line;
  if (first_line == 0) {
    if (column == kLabelColumn) return fmt::format("{}[{}]", name, from.row);
    return fmt::format("{}[{}, {}]", name, from.row, column);
  }
  const Index line = first_line + below;
  return byte > 0 ? fmt::format("{}:{}:{}", name, line, byte) : fmt::format("{}:{}", name, line);
}

void require_columns(Index columns, Index memory_limit, const std::string& name) {
  // Of a table, about: a fit of 12 rows with map linear peaks at 990 bytes a column, its cells, features
  // and weights included.
  constexpr double kBytesOfColumn = 800;
  require_memory(saturated(kBytesOfColumn * static_cast<double>(columns)), memory_limit,
                 fmt::format("{}: a row of {} columns", name, columns),
                 "is this a table? If so, raise " + spell("memory"));
}

bool is_missing(std::string_view text) {
  if (text.empty() || text == "NaT") return true;
  if (text.size() > 4) return false;
  char lower[4] = {};
  std::size_t size = 0;
  for (const char c : text.substr(0, 4))
    lower[size++] = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  const std::string_view word(lower, size);
  constexpr std::string_view kWords[] = {"?",   "-",    ".",   "na",   "n/a",  "nan",
                                         "\\n", "null", "#na", "none", "#n/a", "<na>"};
  return std::ranges::find(kWords, word) != std::end(kWords);
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::size_t length = std::min(kLongest, text.size());
  // Not within a character of several bytes.
  while (length > 0 && length < text.size() && (text[length] & 0xC0) == 0x80) --length;
  std::string shown = "'";
  for (const char c : text.substr(0, length))
    shown += static_cast<unsigned char>(c) < 32 || c == 127 ? ' ' : c;
  return shown + (text.size() > length ? "...'" : "'");
}

}  // namespace kerf::detail::io
