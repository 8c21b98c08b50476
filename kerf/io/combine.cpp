// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/combine.h"

#include <set>

#include "kerf/core/require.h"

namespace kerf::detail::io {
namespace {

class LabelledReader final : public Reader {
 public:
  LabelledReader(std::unique_ptr<Reader> rows, std::unique_ptr<Reader> labels,
                 std::string rows_name, std::string labels_name)
      : rows_(std::move(rows)),
        labels_(std::move(labels)),
        rows_name_(std::move(rows_name)),
        labels_name_(std::move(labels_name)),
        schema_(rows_->schema()) {
    schema_.labelled = true;
    const Schema& theirs = labels_->schema();
    KERF_REQUIRE(!theirs.sparse && !theirs.image.present() && theirs.columns == 1, data,
                 "{} should hold one label per row, but it has {} columns", labels_name_,
                 theirs.columns);
  }

  const Schema& schema() const override { return schema_; }
  void rewind() override {
    rows_->rewind();
    labels_->rewind();
  }
  double progress() const override { return rows_->progress(); }
  void keep_spelling(Index column) override {
    if (column == kLabelColumn)
      labels_->keep_spelling(0);
    else
      rows_->keep_spelling(column);
  }
  void keep_words(const std::vector<Index>& columns) override { rows_->keep_words(columns); }
  std::vector<Index> code_columns() const override { return rows_->code_columns(); }

  bool next(RawBlock& block, Index max_rows) override {
    const bool more = rows_->next(block, max_rows);
    // At the end of the rows the labels must have ended too: ask for one more.
    labels_->next(label_block_, more ? block.rows : 1);
    if (!more) {
      KERF_REQUIRE(label_block_.rows == 0, data, "{} has more labels than {} has rows ({})",
                   labels_name_, rows_name_, label_block_.first_row);
      return false;
    }
    KERF_REQUIRE(label_block_.rows == block.rows, data, "{} has {} labels, but {} has more rows",
                 labels_name_, label_block_.first_row + label_block_.rows, rows_name_);
    take_labels(block);
    return true;
  }

 private:
  void take_labels(RawBlock& block) {
    block.labels.resize(block.rows);
    for (Index i = 0; i < block.rows; ++i) block.labels[i] = label_block_.cells(i, 0);
    block.label_file = label_block_.file;
    block.label_lines = label_block_.lines;
    for (const OddCell& cell : label_block_.odd)
      block.add_odd(cell.row, kLabelColumn, cell.byte, label_block_.text(cell), cell.below);
    if (!label_block_.spelling.empty()) block.spelling = label_block_.spelling;
  }

  std::unique_ptr<Reader> rows_, labels_;
  std::string rows_name_, labels_name_;
  Schema schema_;
  RawBlock label_block_;
};

class ChainReader final : public Reader {
 public:
  ChainReader(std::vector<std::string> names, OpenReader open)
      : names_(std::move(names)), open_(std::move(open)), reader_(open_(0)) {
    schema_ = reader_->schema();
  }

  const Schema& schema() const override { return schema_; }
  void rewind() override {
    if (at_ == 0) {
      reader_->rewind();
    } else {
      note_codes();
      at_ = 0;
      reader_ = open_(0);
      ask_again();
    }
  }
  double progress() const override {
    return (static_cast<double>(at_) + reader_->progress()) / static_cast<double>(names_.size());
  }
  void keep_spelling(Index column) override {
    spelled_ = column;
    reader_->keep_spelling(column);
  }
  void keep_words(const std::vector<Index>& columns) override {
    words_ = columns;
    reader_->keep_words(columns);
  }
  std::vector<Index> code_columns() const override {
    std::set<Index> columns = codes_;
    for (const Index column : reader_->code_columns()) columns.insert(column);
    return {columns.begin(), columns.end()};
  }

  bool next(RawBlock& block, Index max_rows) override {
    while (!reader_->next(block, max_rows)) {
      if (at_ + 1 >= names_.size()) return false;
      note_codes();
      reader_ = open_(++at_);
      ask_again();
      check();
    }
    return true;
  }

 private:
  /// What the reader knows that is about to be closed.
  void note_codes() {
    for (const Index column : reader_->code_columns()) codes_.insert(column);
  }
  /// A reader that was just opened knows nothing.
  void ask_again() {
    reader_->keep_spelling(spelled_);
    reader_->keep_words(words_);
  }
  void check() const {
    const Schema& now = reader_->schema();
    KERF_REQUIRE(now.columns == schema_.columns, data, "{} has {} columns, but {} has {}",
                 names_[at_], now.columns, names_[0], schema_.columns);
    KERF_REQUIRE(now.names == schema_.names, data,
                 "{} and {} have different column names, so they are not one table", names_[at_],
                 names_[0]);
    KERF_REQUIRE(now.sparse == schema_.sparse && now.bytes == schema_.bytes &&
                     now.labelled == schema_.labelled && now.image == schema_.image,
                 data, "{} and {} are of different kinds, so they are not one source", names_[at_],
                 names_[0]);
  }

  std::vector<std::string> names_;
  OpenReader open_;
  std::unique_ptr<Reader> reader_;
  Schema schema_;
  std::size_t at_ = 0;
  Index spelled_ = kNoColumn;
  std::vector<Index> words_;
  std::set<Index> codes_;  // of files read before
};

}  // namespace

std::unique_ptr<Reader> with_labels(std::unique_ptr<Reader> rows, std::unique_ptr<Reader> labels,
                                    std::string rows_name, std::string labels_name) {
  return std::make_unique<LabelledReader>(std::move(rows), std::move(labels), std::move(rows_name),
                                          std::move(labels_name));
}

std::unique_ptr<Reader> chain(std::vector<std::string> names, OpenReader open) {
  return std::make_unique<ChainReader>(std::move(names), std::move(open));
}

}  // namespace kerf::detail::io
