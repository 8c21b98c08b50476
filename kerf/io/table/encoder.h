// Raw rows to encoded rows: the order is one-hot, impute, then round to float.  Scaling comes
// later.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kerf/io/class_names.h"
#include "kerf/io/reader.h"
#include "kerf/io/table/encoding.h"

namespace kerf::detail::io {

/// What is done about the targets of rows that come to a model.
enum class Targets {
  ignore,    ///< do not look at them
  optional,  ///< use them if the rows have them
  require,   ///< Error (usage) if the rows do not have them
};

/// What was not as in training, counted.
struct EncodeCounts {
  /// Cells of one column with a level that training never saw.
  struct Unknown {
    std::string column;  ///< as messages call it
    Index cells = 0;
    std::string first;  ///< the first of these levels
  };
  Index unknown_levels = 0;      ///< such cells in all columns: zeros
  std::vector<Unknown> unknown;  ///< columns that have some
  Index unknown_features = 0;    ///< sparse entries beyond the training columns: left out
  Index imputed = 0;             ///< missing cells that the column's mean stands for
  Index dropped_rows = 0;        ///< rows left out for a missing cell
};

/// What a user should know about rows that came to a model, in sentences: unknown words by column,
/// entries beyond the columns of training.
std::vector<std::string> notes_of(const EncodeCounts& counts);

class Encoder {
 public:
  /// Matches the columns of a source with those of the encoding: by name when both have names (in
  /// any order), else by position.  Throws Error if they do not fit.
  Encoder(const Encoding& encoding, const Schema& schema, const std::string& source_name,
          Targets targets);

  bool has_targets() const { return has_targets_; }
  /// Encodes all rows of `raw` but those dropped for missing cells.  out.first_row is the caller's.
  void encode(const RawBlock& raw, RowBlock& out);
  const EncodeCounts& counts() const { return counts_; }
  /// The column (or kLabelColumn) that names classes, which keep_spelling() must be told; or kNoColumn.
  Index class_column() const;
  /// The columns of words, which keep_words() must be told.
  std::vector<Index> word_columns() const;

 private:
  /// Where a raw column goes.
  struct Route {
    Role role = Role::dropped;
    Index to = 0;  // first input column, or target column
    double offset = 0, mean = 0;
    std::size_t levels = 0;                 // category: number in levels_
    std::string label;                      // for messages
    Index indicator = -1;                   // input that says where the value is missing; -1: none
    const EncodedColumn* column = nullptr;  // of a table
    bool in_micros = false;                 // cells are moments already (Schema::Known)
  };
  /// Numbers that stand side by side both in the file and in the encoded row.
  struct Run {
    Index from, to, count;
  };

  void bind_table(const Schema& schema, const std::string& name);
  bool bind_by_name(const Schema& schema, const std::string& name);
  void bind_by_position(const Schema& schema, const std::string& name);
  void bind_plain(const Schema& schema, const std::string& name);
  void route(Index raw_column, std::size_t column);
  void make_runs();

  void encode_dense(const RawBlock& raw, RowBlock& out);
  void encode_sparse(const RawBlock& raw, RowBlock& out);
  void encode_category(const RawBlock& raw, Index column, const Route& route, RowBlock& out);
  void encode_moments(const RawBlock& raw, Index column, const Route& route, RowBlock& out);
  void require_form(const RawBlock& raw, Index column, const Route& route) const;
  void put_moment(Index row, double micros, const Route& route, RowBlock& out) const;
  bool encode_form(const RawBlock& raw, const OddCell& cell, const Route& route, RowBlock& out);
  void encode_target(const RawBlock& raw, Index column, const Route& route, RowBlock& out);
  double class_number(const RawBlock& raw, Index row, Index column, double value) const;
  void encode_weights(const RawBlock& raw, Index column, RowBlock& out);
  void encode_level(Index row, std::string_view level, const Route& route, RowBlock& out);
  void encode_odd(const RawBlock& raw, const OddCell& cell, const Route& route, RowBlock& out);
  void encode_missing(const RawBlock& raw, const OddCell& cell, const Route& route, RowBlock& out);
  void put(Index row, Index column, double value, RowBlock& out) const;
  void check_finite(const RawBlock& raw, const RowBlock& out) const;
  void drop_rows(RowBlock& out);
  void count_unknown(const Route& route, std::string_view level);
  std::string class_list() const;

  const Encoding encoding_;
  Targets wanted_;
  bool has_targets_ = false;
  std::vector<Route> routes_;  // one per raw column
  Route label_route_;
  std::vector<Run> runs_;
  std::vector<double> offsets_;  // one per raw column

  std::vector<ClassNames> levels_;         // one per category
  std::vector<Index> first_input_;         // of each column of the encoding
  std::vector<std::size_t> level_number_;  // of each column of the encoding
  ClassNames class_names_;
  std::vector<std::string> named_;  // classes whose numbers are the targets of the source
  std::vector<Index> number_of_;    // theirs in the encoding; -1: none of the training classes
  bool typed_ = false;              // Schema::typed
  bool fills_ = false;              // not all inputs are numbers that runs copy
  std::vector<bool> dropped_;
  EncodeCounts counts_;
};

}  // namespace kerf::detail::io
