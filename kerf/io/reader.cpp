// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/reader.h"

#include <algorithm>

#include "kerf/core/require.h"

namespace kerf::io {

void RawBlock::clear() {
  rows = 0;
  sparse.clear();
  labels.clear();
  odd.clear();
  odd_text.clear();
  lines.clear();
  label_lines.clear();
  spelling.clear();
}

std::string RawBlock::where(Index row, Index column, Index byte, Index below) const {
  const bool label = column == kLabelColumn && !label_file.empty();
  const auto& numbers = label ? label_lines : lines;
  const std::string& name = label ? label_file : file;
  if (numbers.empty()) {
    if (column == kLabelColumn) return fmt::format("{}[{}]", name, first_row + row);
    return fmt::format("{}[{}, {}]", name, first_row + row, column);
  }
  const Index line = numbers[static_cast<std::size_t>(row)] + below;
  return byte > 0 ? fmt::format("{}:{}:{}", name, line, byte) : fmt::format("{}:{}", name, line);
}

bool is_missing(std::string_view text) {
  if (text.empty() || text == "?") return true;
  if (text.size() > 4) return false;
  char lower[4] = {};
  std::size_t size = 0;
  for (const char c : text.substr(0, 4))
    lower[size++] = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  const std::string_view word(lower, size);
  return word == "na" || word == "nan" || word == "null";
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

}  // namespace kerf::io
