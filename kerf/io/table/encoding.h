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
#include "kerf/io/table/column_form.h"

namespace kerf::detail {

/// What a column of a table is for.
enum class Role : std::uint8_t { number, category, target, weight, dropped, moment };

/// What happens to a row with a missing cell; indicator: as mean, and columns in which training rows
/// missed some have one more input that says which.
enum class Missing { error, mean, drop, indicator };
constexpr auto names_of(Missing) { return std::array{"error", "mean", "drop", "indicator"}; }

struct EncodedColumn {
  std::string name;  ///< "" when the file has no header
  Role role = Role::number;
  std::vector<std::string> levels;  ///< category: one input column for each, in order
  double mean = 0;                  ///< number: stands for a missing value
  double offset = 0;                ///< number: subtracted in double, before rounding to float
  ColumnForm form = {};             ///< number, target: how text is read; moment: how its text is
  std::vector<io::MomentPart> parts = {};  ///< moment: one input column for each
  std::vector<double> part_means = {};  ///< moment: stand for a missing value; empty: none may be
  double origin = 0;                    ///< moment: the day that is 0
  bool indicator = false;  ///< one more input, behind the others: 1 where the value is missing

  bool is_input() const {
    return role == Role::number || role == Role::category || role == Role::moment;
  }
  /// Input columns that it becomes.
  Index inputs() const;
  /// A part of a moment as the input has it.
  double input_of(double micros, io::MomentPart part) const {
    return io::part_of(micros, part) - (part == io::MomentPart::day ? origin : 0);
  }
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
  std::vector<std::string> na;  ///< words that mean a missing cell, besides the usual ones
  bool na_only = false;         ///< and no others
  bool decimal_comma = false;   ///< files have 3,5 for 3.5
  Task task = Task::regression;
  std::vector<std::string> classes;  ///< classification: names in order of class number
  std::string
      label_type;  ///< what the names were before they were text (int64, bool, str, ...), as
                   ///< Python calls it; "": words and numbers of a file

  Index target_count() const { return labelled ? labels : static_cast<Index>(targets.size()); }
  char decimal() const { return decimal_comma ? ',' : '.'; }
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
