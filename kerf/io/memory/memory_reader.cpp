// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/memory/memory_reader.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kerf/core/require.h"

namespace kerf::detail::io {
namespace {

const std::string kRows = "X", kTargets = "y";  // in messages

/// A whole number of an index array.
Index whole_at(const char* data, ElementType type, Index i) {
  if (type == ElementType::i32) {
    std::int32_t value;
    std::memcpy(&value, data + i * 4, 4);
    return value;
  }
  std::int64_t value;
  std::memcpy(&value, data + i * 8, 8);
  return value;
}

float value_at(const SparseArray& rows, Index k) {
  if (rows.value_type == ElementType::f32) {
    float value;
    std::memcpy(&value, rows.values + k * 4, 4);
    return value;
  }
  double value;
  std::memcpy(&value, rows.values + k * 8, 8);
  return static_cast<float>(value);
}

/// Offsets and columns that would lead out of the arrays.
void check_sparse(const SparseArray& rows, Index count) {
  Index at = whole_at(rows.offsets, rows.offset_type, 0);
  KERF_REQUIRE(at == 0, usage, "the offsets of sparse rows begin with {}", at);
  for (Index i = 0; i < count; ++i) {
    const Index end = whole_at(rows.offsets, rows.offset_type, i + 1);
    KERF_REQUIRE(end >= at && end <= rows.entries, usage,
                 "the offsets of sparse row {} do not fit its {} values", i, rows.entries);
    for (Index before = -1; at < end; ++at) {
      const Index column = whole_at(rows.columns, rows.column_type, at);
      KERF_REQUIRE(column > before && column < rows.width, usage,
                   "the columns of sparse row {} are not sorted, not unique, or beyond the last",
                   i);
      before = column;
    }
  }
}

class MemoryReader final : public Reader {
 public:
  explicit MemoryReader(MemoryTable table) : table_(std::move(table)) {
    schema_.typed = true;
    schema_.weighted = !table_.weights.empty();
    schema_.classes = table_.classes;
    for (const auto& part : table_.parts) add_part(part);
    if (table_.sparse) {
      check_sparse(*table_.sparse, table_.rows);
      schema_.sparse = true;
      schema_.sparse_columns = table_.sparse->width;
    }
    if (table_.images) {
      schema_.image = table_.images->shape;
      schema_.columns = values_of(schema_.image);
      schema_.bytes = table_.images->type == ElementType::u8;
    }
    take_targets();
  }

  const Schema& schema() const override { return schema_; }
  void rewind() override { row_ = 0; }
  double progress() const override {
    return table_.rows == 0 ? 0 : static_cast<double>(row_) / static_cast<double>(table_.rows);
  }

  bool next(RawBlock& block, Index max_rows) override {
    block.clear();
    block.file = kRows;
    block.label_file = kTargets;
    block.first_row = row_;
    block.rows = std::min(max_rows, table_.rows - row_);
    if (block.rows <= 0) {
      block.rows = 0;
      return false;
    }
    if (schema_.sparse)
      read_sparse(block);
    else if (schema_.image.present())
      read_images(block);
    else
      read_table(block);
    read_beside(block);
    row_ += block.rows;
    return true;
  }

 private:
  void add_part(const std::variant<NumberArray, WordArray, MomentArray>& part) {
    if (const auto* words = std::get_if<WordArray>(&part); words != nullptr && words->stay_words)
      schema_.known.push_back({.column = schema_.columns});
    if (const auto* moments = std::get_if<MomentArray>(&part))
      schema_.known.push_back(
          {.column = schema_.columns, .is_moment = true, .has_zone = moments->has_zone});
    const auto* numbers = std::get_if<NumberArray>(&part);
    schema_.columns += numbers != nullptr ? numbers->columns : 1;
  }

  void take_targets() {
    const Index targets = table_.targets.cols;
    KERF_REQUIRE(targets == 0 || table_.targets.rows == table_.rows, usage,
                 "there are {} rows, but targets of {}", table_.rows, table_.targets.rows);
    KERF_REQUIRE(table_.weights.empty() || std::ssize(table_.weights) == table_.rows, usage,
                 "there are {} rows, but {} weights", table_.rows, table_.weights.size());
    KERF_REQUIRE(table_.classes.empty() || targets == 1, usage,
                 "classification wants one target, not {}", targets);
    if (table_.parts.empty()) {
      schema_.labelled = targets > 0;
      schema_.labels = targets;
      return;
    }
    schema_.targets = targets;
    schema_.columns += targets;
    schema_.names = table_.names;
    KERF_REQUIRE(table_.names.empty() || std::ssize(table_.names) == schema_.columns, usage,
                 "there are {} columns, but {} names", schema_.columns, table_.names.size());
  }

  void read_table(RawBlock& block) {
    block.cells.resize(block.rows, schema_.columns);
    Index at = 0;
    for (const auto& part : table_.parts) {
      if (const auto* numbers = std::get_if<NumberArray>(&part)) {
        read_numbers(block, *numbers, at);
        at += numbers->columns;
      } else if (const auto* moments = std::get_if<MomentArray>(&part)) {
        for (Index i = 0; i < block.rows; ++i) block.cells(i, at) = moment_at(*moments, row_ + i);
        ++at;
      } else {
        for (Index i = 0; i < block.rows; ++i) block.cells(i, at) = 0;  // its words come below
        ++at;
      }
    }
    for (Index i = 0; i < block.rows; ++i)
      for (Index t = 0; t < schema_.targets; ++t)
        block.cells(i, at + t) = table_.targets(row_ + i, t);
    for (Index i = 0; i < block.rows; ++i) {
      block.list_odd(i);
      read_words(block, i);
    }
  }

  static double moment_at(const MomentArray& moments, Index row) {
    const std::int64_t micros = moments.micros[row];
    return micros == std::numeric_limits<std::int64_t>::min()
               ? std::numeric_limits<double>::quiet_NaN()
               : static_cast<double>(micros);
  }

  /// Along what lies closer together.
  void read_numbers(RawBlock& block, const NumberArray& numbers, Index at) {
    const char* from = numbers.data + row_ * numbers.row_step;
    if (numbers.columns > 1 && std::abs(numbers.row_step) >= std::abs(numbers.column_step)) {
      for (Index i = 0; i < block.rows; ++i)
        convert_elements(numbers.type, false, from + i * numbers.row_step, numbers.columns,
                         block.cells.row(i).data() + at, numbers.column_step);
      return;
    }
    column_.resize(block.rows);
    for (Index j = 0; j < numbers.columns; ++j) {
      convert_elements(numbers.type, false, from + j * numbers.column_step, block.rows,
                       column_.data(), numbers.row_step);
      for (Index i = 0; i < block.rows; ++i) block.cells(i, at + j) = column_[i];
    }
  }

  void read_words(RawBlock& block, Index i) {
    Index at = 0;
    for (const auto& part : table_.parts) {
      if (const auto* numbers = std::get_if<NumberArray>(&part)) {
        at += numbers->columns;
        continue;
      }
      if (std::holds_alternative<MomentArray>(part)) {
        ++at;
        continue;
      }
      const auto& [words, codes, stay] = std::get<WordArray>(part);
      const std::int32_t code = codes[row_ + i];
      const bool is_word = code >= 0 && code < std::ssize(words);
      block.cells(i, at) = std::numeric_limits<double>::quiet_NaN();
      block.add_odd(i, at, 0, is_word ? std::string_view(words[code]) : std::string_view());
      block.odd.back().is_word = is_word;
      ++at;
    }
  }

  void read_sparse(RawBlock& block) const {
    const SparseArray& rows = *table_.sparse;
    block.sparse.cols = rows.width + 1;
    for (Index i = row_; i < row_ + block.rows; ++i) {
      const Index end = whole_at(rows.offsets, rows.offset_type, i + 1);
      for (Index k = whole_at(rows.offsets, rows.offset_type, i); k < end; ++k) {
        const Index column = whole_at(rows.columns, rows.column_type, k);
        const float value = value_at(rows, k);
        KERF_REQUIRE(std::isfinite(value), data,
                     "X[{}, {}]: the value is missing, infinite or beyond single precision", i,
                     column);
        block.sparse.push(static_cast<std::int32_t>(column + 1), value);
      }
      block.sparse.end_row();
    }
  }

  void read_images(RawBlock& block) {
    const ImageArray& images = *table_.images;
    const auto [height, width, channels] = images.shape;
    if (schema_.bytes)
      block.pixels.resize(block.rows, schema_.columns);
    else
      block.cells.resize(block.rows, schema_.columns);
    const bool even = images.width_step == channels * images.channel_step &&
                      images.height_step == width * images.width_step;
    const Index run = even ? schema_.columns : channels;  // values with the same step between them
    for (Index i = 0; i < block.rows; ++i) {
      const char* image = images.data + (row_ + i) * images.image_step;
      for (Index at = 0; at < schema_.columns; at += run) {
        const Index pixel = at / channels;
        read_run(block, i, at, run,
                 image + pixel / width * images.height_step + pixel % width * images.width_step);
      }
      if (!schema_.bytes) block.list_odd(i);
    }
  }

  void read_run(RawBlock& block, Index i, Index at, Index count, const char* from) {
    const Index step = table_.images->channel_step;
    if (!schema_.bytes)
      convert_elements(table_.images->type, false, from, count, block.cells.row(i).data() + at,
                       step);
    else
      for (Index k = 0; k < count; ++k)
        block.pixels(i, at + k) = static_cast<std::uint8_t>(from[k * step]);
  }

  /// Labels, where the targets are no columns, and weights.
  void read_beside(RawBlock& block) const {
    for (Index i = row_; i < row_ + block.rows; ++i) {
      for (Index t = 0; t < table_.targets.cols; ++t) {
        const double target = table_.targets(i, t);
        KERF_REQUIRE(std::isfinite(target), data, "y[{}]: the target {} is no finite number", i,
                     target);
        KERF_REQUIRE(
            table_.classes.empty() || (target >= 0 && target < std::ssize(table_.classes) &&
                                       target == std::floor(target)),
            data, "row {}: class number {} is none of 0 .. {}", i, target,
            table_.classes.size() - 1);
        if (schema_.labelled) block.labels.push_back(target);
      }
      if (schema_.weighted) block.weights.push_back(table_.weights[i]);
    }
  }

  MemoryTable table_;
  Schema schema_;
  Index row_ = 0;
  std::vector<double> column_;
};

}  // namespace

ColumnMoments full_columns(const SparseArray& rows, Index count) {
  std::vector<double> filled(rows.width), first(rows.width), sum(rows.width), square(rows.width);
  const Index entries = whole_at(rows.offsets, rows.offset_type, count);
  for (Index k = 0; k < entries; ++k) {
    const Index j = whole_at(rows.columns, rows.column_type, k);
    double value;
    convert_elements(rows.value_type, false, rows.values + k * element_size(rows.value_type), 1,
                     &value);
    if (filled[j]++ == 0) first[j] = value;
    sum[j] += value - first[j];
    square[j] += (value - first[j]) * (value - first[j]);
  }
  ColumnMoments moments{std::vector<double>(rows.width), std::vector<double>(rows.width)};
  const auto n = static_cast<double>(count);
  for (Index j = 0; j < rows.width; ++j) {
    if (filled[j] < n) continue;
    moments.mean[j] = first[j] + sum[j] / n;
    moments.variance[j] = std::max(0.0, square[j] - sum[j] * (sum[j] / n)) / n;
  }
  return moments;
}

std::unique_ptr<Reader> open_memory(MemoryTable table) {
  return std::make_unique<MemoryReader>(std::move(table));
}

}  // namespace kerf::detail::io
