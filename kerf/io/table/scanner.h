// A pass over the rows of a training source (scan.h): what it gathers row by row (scan.cpp), and what
// comes of it in the end (scan_finish.cpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kerf/io/merged_numbers.h"
#include "kerf/io/table/column_tally.h"
#include "kerf/io/table/encoder.h"
#include "kerf/io/table/missing_words.h"
#include "kerf/io/table/raw_sample.h"
#include "kerf/io/table/scan.h"
#include "kerf/io/table/target_tally.h"

namespace kerf::detail::io {

class Scanner {
 public:
  Scanner(Reader& reader, const DataOptions& options, const std::string& name, rng::Key key,
          PassGuard guard = {});

  /// One pass over all rows.
  void read_all(const Progress& progress);

  /// Columns of words in which numbers occur too: their levels are known after another pass only.
  std::set<Index> mixed_columns() const;
  /// Columns of numbers that may be names (Reader::code_columns): another pass tells which are merged.
  std::set<Index> code_columns() const;
  /// Columns whose words are numbers in some form: another pass reads them as such.
  using Forms = std::map<Index, ColumnForm>;
  Forms found_forms() const;
  /// What a pass before this one found.
  void know(std::set<Index> mixed, const std::set<Index>& codes, const Forms& forms);
  /// Error (data) that names every column which cannot be taken as it is, and what mends it.
  void refuse_bad_columns() const;
  PassGuard guard_for_next_pass() const {
    PassGuard guard = guard_;
    guard.rewind();
    return guard;
  }

  /// What the rows were; once, after a pass.
  ScanResult finish();

 private:
  bool is_moment(Index column) const { return moments_.contains(column); }
  bool is_category(Index column) const {
    return mixed_.contains(column) || columns_.words(column) > columns_.numbers(column);
  }
  Role role_of(Index column) const {
    if (column == kLabelColumn) return encoding_.labelled ? Role::target : Role::dropped;
    return encoding_.kind == SourceKind::table ? encoding_.columns[column].role : Role::number;
  }
  std::string label_of(Index column) const {
    if (column == kLabelColumn) return "label";
    return column_label(encoding_.kind == SourceKind::table ? encoding_.columns[column].name : "",
                        column);
  }

  void know_schema();
  void ask_for_texts(const std::set<Index>& codes);
  void read_forms(RawBlock& block) const;
  void add(RawBlock& block);
  void add_odd(const RawBlock& block, const OddCell& cell);
  void require_sample() const;
  bool keeps(const RawBlock& block, std::span<const OddCell> odd);
  void add_targets(const RawBlock& block, Index i, std::span<const OddCell> odd);
  void note_range(const RawBlock& block, Index i);
  bool inputs_are_bytes(std::span<const double> row) const;
  void finish_table(ScanResult& result);
  void finish_number(Index column, ScanResult& result);
  void finish_category(Index column, ScanResult& result);
  void finish_moment(Index column, ScanResult& result);
  void finish_indicator(Index column, ScanResult& result);
  void note_ids(ScanResult& result) const;
  void finish_plain(ScanResult& result);
  void note_words(Index column, const std::string& label, std::vector<std::string>& notes) const;
  void finish_targets(ScanResult& result) const;
  void finish_classes(DataSummary& summary) const;
  void finish_image(DataSummary& summary) const;

  FormTally::Result form_of(Index column) const;
  bool may_have_form(Index column) const;
  void bad_missing(std::vector<std::string>& bad) const;
  void bad_decimals(std::vector<std::string>& bad) const;
  std::string bad_column(Index column) const;
  std::string bad_form(Index column, const FormTally::Result& found) const;
  std::string bad_words(Index column) const;
  std::string bad_target(Index column) const;
  std::string mend(const char* option, Index column) const;

  Reader& reader_;
  PassGuard guard_;
  const Schema& schema_;
  const DataOptions& options_;
  const std::string& name_;
  Encoding encoding_;
  ColumnTally columns_;
  TargetTally targets_;
  std::vector<double> class_rows_;  // of Schema::classes
  TargetRange range_;
  std::vector<double> targets_of_row_;
  RawSample sample_;
  std::set<Index> mixed_;     // words, and numbers taken for words
  std::set<Index> declared_;  // words whatever they look like
  Forms forms_;
  std::map<Index, MomentTally> moments_;
  MissingWords missing_words_;
  struct MissingCells {
    Index cells = 0;
    std::string first, text;  // where, and what stands there
  };
  std::map<Index, MissingCells> missing_;  // those that may not be
  std::map<Index, MergedNumbers> merged_;  // of code_columns(), in the pass that knows their texts
  Index weight_column_ = -1;
  Index rows_ = 0, dropped_rows_ = 0, missing_cells_ = 0;
  std::map<std::string, Index> missing_targets_;  // words of targets of rows left out
  double weight_ = 0;
  bool bytes_ = true;  // every input is a whole number 0 .. 255; looked at for --image only
};

}  // namespace kerf::detail::io
