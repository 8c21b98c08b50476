// Tables in memory as a Reader: columns of numbers and words, sparse rows, images.
//
//   MemoryTable table{.rows = 100};
//   table.parts.push_back(NumberArray{...});
//   Dataset data = open_dataset(open_memory(std::move(table)), options, "X", key);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "kerf/io/arrays/array.h"
#include "kerf/io/reader.h"

namespace kerf::detail::io {

/// Columns of numbers at equal distances; NaN is a missing value.  Steps are bytes and may be negative.
struct NumberArray {
  const char* data = nullptr;
  ElementType type = ElementType::f64;
  Index columns = 1, row_step = 0, column_step = 0;
};

/// A column of words: words[codes[i]] stands in row i, nothing where codes[i] is negative.
struct WordArray {
  std::vector<std::string> words;
  std::span<const std::int32_t> codes;
  bool stay_words = false;  ///< whatever they look like: no dates, no amounts
};

/// A column of dates: microseconds since 1970, the least number of all where there is none.
struct MomentArray {
  std::span<const std::int64_t> micros;
  bool has_zone = false;  ///< they are those of UTC
};

/// Sparse rows (CSR), columns from 0, sorted and unique within each row.
struct SparseArray {
  const char* values = nullptr;
  ElementType value_type = ElementType::f32;  ///< or f64
  const char* columns = nullptr;
  const char* offsets = nullptr;
  ElementType column_type = ElementType::i32, offset_type = ElementType::i32;  ///< or i64
  Index entries = 0, width = 0;
};

/// Images, whichever of their axes comes first; u8 are bytes 0 .. 255.
struct ImageArray {
  const char* data = nullptr;
  ElementType type = ElementType::f64;
  ImageShape shape;
  Index image_step = 0, height_step = 0, width_step = 0, channel_step = 0;
};

/// What of `parts`, `sparse` and `images` is there are the inputs.  Views: the memory outlives the reader.
struct MemoryTable {
  Index rows = 0;
  std::vector<std::variant<NumberArray, WordArray, MomentArray>> parts;  ///< side by side
  std::optional<SparseArray> sparse;
  std::optional<ImageArray> images;
  std::vector<std::string> names;  ///< of the columns of `parts`, then of the targets; empty: none

  MatrixView<const double> targets;  ///< rows x targets; no columns: none
  std::vector<std::string> classes;  ///< not empty: the one target is a number of these
  std::span<const double> weights;   ///< empty: every row counts once
};

/// Error (usage) for parts that do not fit together, Error (data) for what sparse rows must not hold.
std::unique_ptr<Reader> open_memory(MemoryTable table);

struct ColumnMoments {
  std::vector<double> mean, variance;
};
/// Of the columns in which every row has a value, in double: what is lost when they become floats
/// cannot be seen afterwards.  Others: 0.
ColumnMoments full_columns(const SparseArray& rows, Index count);

}  // namespace kerf::detail::io
