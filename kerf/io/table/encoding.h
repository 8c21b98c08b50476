// How the columns of a file become inputs, targets and weights.  Part of every model file, so that
// new rows are treated exactly as the training rows were.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kerf/core/names.h"
#include "kerf/core/rows/data_summary.h"

namespace kerf::detail {

/// What a column of a table is for.
enum class Role : std::uint8_t { number, category, target, weight, dropped };

/// What happens to a row with a missing cell (empty, NA, NaN, ?, null).
enum class Missing { error, mean, drop };
constexpr auto names_of(Missing) { return std::array{"error", "mean", "drop"}; }

struct EncodedColumn {
  std::string name;  ///< "" when the file has no header
  Role role = Role::number;
  std::vector<std::string> levels;  ///< category: one input column for each, in order
  double mean = 0;                  ///< number: stands for a missing value
  double offset = 0;                ///< number: subtracted in double, before rounding to float
};

/// table: columns with roles;  sparse: LIBSVM rows;  pixels: images, every column an input.
enum class SourceKind { table, sparse, pixels };
constexpr auto names_of(SourceKind) { return std::array{"table", "sparse", "pixels"}; }

struct Encoding {
  SourceKind kind = SourceKind::table;
  std::vector<EncodedColumn> columns;  ///< of the file, for tables
  std::vector<Index> targets;          ///< table columns that are targets, in the order asked for
  bool labelled = false;               ///< the target is the label beside the columns
  Index labels = 1;                    ///< numbers of that label; files have one
  Index inputs = 0;                    ///< columns of an encoded row
  Index first_index = 1;               ///< sparse: index of the first column, 0 or 1
  bool is_bytes = false;               ///< inputs are 0 .. 255
  bool wide = false;                   ///< table: rows come in double too (RowBlock::wide)
  ImageShape image;
  bool channels_first = false;  ///< Python's images were so: flat rows of them are in doubt
  std::vector<double> means;    ///< pixels: stand for missing values; empty: there may be none
  Missing missing = Missing::error;
  Task task = Task::regression;
  std::vector<std::string> classes;  ///< classification: names in order of class number
  std::string
      label_type;  ///< what the names were before they were text (int64, bool, str, ...), as
                   ///< Python calls it; "": words and numbers of a file

  Index target_count() const { return labelled ? labels : static_cast<Index>(targets.size()); }
  /// Columns made from a category: true for each such input column; empty if there is none.
  std::vector<bool> one_hot() const;
  /// "age", "colour=red", "column 3", ...: one for each input column (empty for sparse and pixels).
  std::vector<std::string> input_names() const;

  std::string to_json() const;
  /// Trusts nothing: Error (data) if the text is not a possible encoding.
  static Encoding from_json(std::string_view text);
  /// Error (data) if the parts do not fit together.
  void validate() const;
};

/// How a column is called in messages: its name, or its number from 0.
std::string column_label(const std::string& name, Index column);

/// Order of classes and levels: numbers by value before words by spelling.
bool name_before(const std::string& a, const std::string& b);

}  // namespace kerf::detail
