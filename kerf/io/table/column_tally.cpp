// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/table/column_tally.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kerf/core/options.h"
#include "kerf/core/require.h"
#include "kerf/core/system/memory.h"
#include "kerf/io/class_names.h"

namespace kerf::detail::io {

const ColumnTally::Words ColumnTally::kNone = {};

void MomentTally::add(double micros) {
  for (const MomentPart part : kMomentParts) {
    Sums& sums = sums_[static_cast<std::size_t>(part)];
    const double value = part_of(micros, part);
    if (count_ == 0) sums = {.shift = value, .least = value, .greatest = value};
    sums.sum += value - sums.shift;
    sums.square += (value - sums.shift) * (value - sums.shift);
    sums.least = std::min(sums.least, value);
    sums.greatest = std::max(sums.greatest, value);
  }
  ++count_;
}

MomentTally::Part MomentTally::part(MomentPart part) const {
  const Sums& sums = sums_[static_cast<std::size_t>(part)];
  const auto count = static_cast<double>(std::max<Index>(count_, 1));
  const double mean = sums.sum / count;
  return {sums.shift + mean, std::max(0.0, sums.square / count - mean * mean), sums.least,
          sums.greatest};
}

ColumnTally::ColumnTally(Index columns, Index memory_limit) : memory_limit_(memory_limit) {
  shift_.assign(columns, 0.0);
  sum_ = square_ = shift_;
  least_.assign(shift_.size(), std::numeric_limits<double>::infinity());
  greatest_.assign(shift_.size(), -std::numeric_limits<double>::infinity());
}

void ColumnTally::add_odd(const RawBlock& block, const OddCell& cell, Index max_levels) {
  Words& column = words_[cell.column];
  const std::string_view text = block.text(cell);
  if (block.is_missing(cell)) {
    ++column.missing;
    return;
  }
  ++column.words;
  column.form.add(text);
  if (column.first_word.empty()) {
    column.first_word = fmt::format("{}: {}", block.where(cell), quoted(text));
    column.first_text = text;
  }
  add_level(cell.column, text, max_levels);
}

void ColumnTally::add_level(Index column, std::string_view text, Index max_levels) {
  auto& levels = words_[column].levels;
  auto found = levels.find(text);  // most are known by their text
  if (found == levels.end()) {
    const std::string name = word_name(text);
    found = levels.find(name);
    if (found == levels.end()) {
      if (static_cast<Index>(levels.size()) <= max_levels)
        levels.emplace(name, Level{1, std::string(text), ""});
      return;
    }
  }
  Level& level = found->second;
  ++level.count;
  if (level.other.empty() && level.text != text) level.other = text;
}

void ColumnTally::add_cells(std::span<double> row, std::span<const OddCell> odd) {
  if (rows_++ == 0)
    for (std::size_t j = 0; j < row.size(); ++j) shift_[j] = std::isnan(row[j]) ? 0 : row[j];
  double* least = least_.data();
  double* greatest = greatest_.data();
  for (std::size_t j = 0; j < row.size(); ++j) {  // a NaN is neither less nor greater
    least[j] = row[j] < least[j] ? row[j] : least[j];
    greatest[j] = row[j] > greatest[j] ? row[j] : greatest[j];
  }
  for (const OddCell& cell : odd)
    if (cell.column != kLabelColumn && !cell.is_number && !cell.is_read)
      row[cell.column] = shift_[cell.column];
  const double* cells = row.data();
  const double* shift = shift_.data();
  double* sum = sum_.data();
  double* square = square_.data();
  for (std::size_t j = 0; j < row.size(); ++j) {
    const double centred = cells[j] - shift[j];
    sum[j] += centred;
    square[j] += centred * centred;
  }
}

void ColumnTally::add_pixels(std::span<const std::uint8_t> row) {
  constexpr Index kMostRows = 65536;  // 255^2 times this is below 2^32
  if (pixel_rows_ == kMostRows) settle_pixels();
  ++rows_;
  ++pixel_rows_;
  pixel_sum_.resize(row.size());
  pixel_square_.resize(row.size());
  const std::uint8_t* pixels = row.data();
  std::uint32_t* sum = pixel_sum_.data();
  std::uint32_t* square = pixel_square_.data();
  for (std::size_t j = 0; j < row.size(); ++j) {
    sum[j] += pixels[j];
    square[j] += static_cast<std::uint16_t>(pixels[j] * pixels[j]);
  }
}

void ColumnTally::settle_pixels() {
  for (std::size_t j = 0; j < pixel_sum_.size(); ++j) {
    sum_[j] = sum(j);
    square_[j] = square(j);
  }
  std::ranges::fill(pixel_sum_, 0u);
  std::ranges::fill(pixel_square_, 0u);
  pixel_rows_ = 0;
}

void ColumnTally::add_sparse(const SparseRow& row) {
  ++rows_;
  if (row.columns.empty()) return;
  smallest_ = std::min<Index>(smallest_, row.columns.front());
  const Index needed = Index{row.columns.back()} + 1;
  if (needed > columns()) {
    require_memory(needed * 48, memory_limit_, fmt::format("sparse rows of {} columns", needed),
                   "the largest index of the file is the number of its columns");
    sum_.resize(needed);
    square_.resize(needed);
    shift_.resize(needed);
    least_.resize(needed);
    greatest_.resize(needed);
  }
  for (std::size_t k = 0; k < row.values.size(); ++k) {
    const auto j = static_cast<std::size_t>(row.columns[k]);
    const double value = row.values[k];
    sum_[j] += value;
    square_[j] += value * value;
    least_[j] = std::min(least_[j], value);
    greatest_[j] = std::max(greatest_[j], value);
  }
}

double ColumnTally::mean(Index column) const {
  const auto j = static_cast<std::size_t>(column);
  return shift_[j] + sum(j) / static_cast<double>(std::max<Index>(numbers(column), 1));
}

double ColumnTally::variance(Index column) const {
  const auto j = static_cast<std::size_t>(column);
  const auto count = static_cast<double>(std::max<Index>(numbers(column), 1));
  const double centred = square(j) - sum(j) * (sum(j) / count);
  return std::max(0.0, centred) / static_cast<double>(std::max<Index>(rows_, 1));
}

double ColumnTally::mean_square(Index column) const {
  const auto j = static_cast<std::size_t>(column);
  const double average = mean(column);
  const auto count = static_cast<double>(numbers(column));
  const double squares = square(j) + 2 * shift_[j] * sum(j) + count * shift_[j] * shift_[j];
  return (squares + static_cast<double>(missing(column)) * average * average) /
         static_cast<double>(std::max<Index>(rows_, 1));
}

}  // namespace kerf::detail::io
