// The options that say what a file's columns mean.  One vocabulary for program, Python and C++.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kerf/core/options.h"
#include "kerf/io/reader.h"
#include "kerf/io/table/encoding.h"

namespace kerf::detail {

struct DataOptions {
  enum class TaskChoice { automatic, regression, classification };
  friend constexpr auto names_of(TaskChoice) {
    return std::array{"auto", "regression", "classification"};
  }
  enum class Header { automatic, yes, no };
  friend constexpr auto names_of(Header) { return std::array{"auto", "yes", "no"}; }

  std::string target = "last";  ///< last|first|none|NAME|INDEX|A,B
  TaskChoice task = TaskChoice::automatic;
  std::string drop = {};         ///< A,3-7
  std::string categorical = {};  ///< A,3-7
  std::string weights = {};      ///< NAME|INDEX
  std::string labels = {};       ///< file with a label per row
  std::string delimiter = "auto";
  std::string decimal = "auto";  ///< auto|.|,
  Header header = Header::automatic;
  DateOrder dates = DateOrder::automatic;
  Missing missing = Missing::error;
  std::string na = {};     ///< A,B or =A,B
  Index rows = 0;          ///< 0: all
  std::string image = {};  ///< HxWxC
  Index max_levels = 256;
  Index memory_limit = 0;  ///< that of the command, no option of the data; 0: what is free

  void describe(OptionVisitor& visitor);
};

namespace io {

/// The part of an encoding that options and schema decide before any row is read: kinds, roles,
/// names, targets, image.  Error (usage) for a column that does not exist.
Encoding plan_encoding(const Schema& schema, const DataOptions& options, const std::string& name);

/// The encoding for a table whose target stands elsewhere, or has another name, than in training:
/// `target` is last, first, a name or a number, as in DataOptions.  Error (usage) for a column that
/// does not exist or is an input.
Encoding with_target(const Encoding& encoding, const Schema& schema, const std::string& target,
                     const std::string& name);

/// The encoding for a table of which the column `weights` holds a weight for each row, whether the
/// training rows had it or not.  Error (usage) for a column that does not exist, is an input or the
/// target.
Encoding with_weights(const Encoding& encoding, const Schema& schema, const std::string& weights,
                      const std::string& name);

/// The column of that name or number, where `option` asks for it.  Error (usage) if there is none.
Index find_column(const Schema& schema, const std::string& word, const char* option,
                  const std::string& source);

ReadOptions read_options_of(const DataOptions& options);

/// The decimal mark that was said, or 0.  Error (usage) for another one.
char decimal_of(const DataOptions& options);

/// A value as it is written behind an option.
std::string argument(const std::string& value);

/// How a column is named to the options that take some: by its name where that names it alone.
std::string column_word(const std::vector<EncodedColumn>& columns, Index column);

}  // namespace io
}  // namespace kerf::detail
