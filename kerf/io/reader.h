// The contract every file format obeys: rows as they stand in the file, block by block.
//
// A Reader knows nothing about targets, categories or scaling: see encoding.h for that.  To add a
// format, write its Reader and add one line to registry.cpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kerf/core/rows/matrix.h"
#include "kerf/core/rows/row_source.h"

namespace kerf::detail::io {

/// What a file says about its rows before they are read.
struct Schema {
  std::vector<std::string> names;  ///< of the columns; empty: the file has none
  bool guessed_header = false;     ///< whether it has some was worked out from its first rows
  Index columns = 0;               ///< table or pixel columns; 0: known at the end only (LIBSVM)
  bool sparse = false;             ///< rows come in RawBlock::sparse
  bool labelled = false;           ///< a label stands beside the columns (LIBSVM, idx, CIFAR)
  bool bytes = false;              ///< rows come in RawBlock::pixels
  ImageShape image;                ///< set when each row is an image

  // What tables in memory know of themselves (io/memory), and files do not say.
  bool typed = false;                ///< a word is a word, whether it looks like a number or like ?
  Index targets = 0;                 ///< the last columns are targets; 0: the options say which
  Index labels = 1;                  ///< numbers of a label, where labelled
  bool weighted = false;             ///< a weight stands beside the columns
  Index sparse_columns = 0;          ///< sparse: columns counted from 1; 0: as far as rows reach
  std::vector<std::string> classes;  ///< targets are numbers of these names
  /// Columns of the table of which more is known than the cells tell.
  struct Known {
    Index column = 0;
    bool is_moment = false;  ///< cells are microseconds, since 1970; else: words that stay words
    bool has_zone = false;   ///< of moments: those of UTC
  };
  std::vector<Known> known;
  /// What was odd about the layout of the file, in sentences.
  std::vector<std::string> remarks;
};

/// The column number of a label that stands beside the columns.
inline constexpr Index kLabelColumn = -1;
/// No column at all.
inline constexpr Index kNoColumn = -2;

/// A cell that is not a finite number: a missing one, a word, something like 1e400.  Or a number whose
/// text is wanted.
struct OddCell {
  Index row = 0;     ///< in the block
  Index column = 0;  ///< or kLabelColumn
  Index byte = 0;    ///< position in its line, from 1; 0: the file has no lines
  std::size_t text_begin = 0, text_size = 0;
  Index below = 0;          ///< lines between the first line of its row and its own
  bool is_word = false;     ///< of a typed source: not missing, whatever it looks like
  bool is_missing = false;  ///< somebody said so (--na), whatever it looks like
  bool is_read = false;     ///< read by the form of its column; its value stands in its place
  bool is_number =
      false;  ///< of a column that keep_words() asked for; its value stands in its place
};

/// Consecutive rows as they stand in a file.  Readers reuse its memory.
struct RawBlock {
  Index first_row = 0;          ///< in the file
  Index rows = 0;               ///< at least 1 unless the file has ended
  Matrix<double> cells;         ///< rows x columns; NaN where the cell is odd
  Matrix<std::uint8_t> pixels;  ///< instead of cells, for bytes
  CsrMatrix sparse;             ///< instead of cells; column numbers as written in the file
  std::vector<double> labels;   ///< Schema::labels per row when labelled; NaN where odd
  std::vector<double> weights;  ///< one per row when weighted
  std::vector<OddCell> odd;     ///< in order of rows (labels of a row may come last)
  std::string odd_text;         ///< the texts of `odd`
  bool words_kept = false;      ///< numbers of columns of words are listed in `odd`
  std::vector<Index> lines;     ///< line of each row, from 1; empty: the file has no lines
  std::vector<Index> label_lines;
  std::vector<std::string> spelling;  ///< cells of the column that keep_spelling() asked for
                                      ///< (empty: numbers that a double holds exactly)
  std::string file, label_file;       ///< names for messages
  /// Rows that were put together from several blocks: where each comes from; empty: as above.
  struct Origin {
    std::string file, label_file;
    Index row = 0, line = 0, label_line = 0;  ///< in the file; line 0: it has no lines
  };
  std::vector<Origin> origins;
  Origin origin_of(Index row) const;

  std::string_view text(const OddCell& cell) const {
    return std::string_view(odd_text).substr(cell.text_begin, cell.text_size);
  }
  /// See io::is_missing(), unless it is known to be a word.
  bool is_missing(const OddCell& cell) const;
  void add_odd(Index row, Index column, Index byte, std::string_view cell_text, Index below = 0) {
    odd.push_back({row, column, byte, odd_text.size(), cell_text.size(), below});
    odd_text += cell_text;
  }
  /// Lists the cells of row i that are not finite: NaN is missing.
  void list_odd(Index i);
  /// Forgets rows, keeps memory and file names.
  void clear();
  /// "file:line:column" or "file[row, column]" of a cell, for messages; byte 0: not known.
  std::string where(Index row, Index column, Index byte = 0, Index below = 0) const;
  std::string where(const OddCell& cell) const {
    return where(cell.row, cell.column, cell.byte, cell.below);
  }
};

class Reader {
 public:
  virtual ~Reader() = default;

  virtual const Schema& schema() const = 0;
  /// Starts again at the first row.
  virtual void rewind() = 0;
  /// Fills `block` with up to `max_rows` rows; false, and no rows, at the end.
  virtual bool next(RawBlock& block, Index max_rows) = 0;
  /// Asks for RawBlock::spelling of one column (or kLabelColumn); formats without text ignore it.
  virtual void keep_spelling(Index) {}
  /// Asks for the texts of the numbers in these columns of words, where 007 and 7 differ: listed in
  /// RawBlock::odd as numbers.  Formats without text ignore it.
  virtual void keep_words(const std::vector<Index>&) {}
  /// Columns in which, so far, more stands in the text of a number than in its value: zeros in front
  /// (007), more digits of a whole number than a double holds.  keep_words() tells what.
  virtual std::vector<Index> code_columns() const { return {}; }
  /// Share of the file that has been read, 0 .. 1; 0 when not known.
  virtual double progress() const { return 0; }
};

/// How to read files that do not say it themselves.
struct ReadOptions {
  enum class Header { automatic, yes, no };
  std::string delimiter = "auto";
  Header header = Header::automatic;
  Index memory_limit = 0;      ///< 0: what is free
  bool decimal_comma = false;  ///< 3,5 is a number, 3.5 is none
  /// Columns that a model wants: a first row that holds all of them is a header, whatever it looks
  /// like.
  std::vector<std::string> known_names = {};
};

/// Error (memory) for rows of so many columns that what is kept of each besides its cells (its name,
/// sums, place in the encoding and in the model) does not fit.
void require_columns(Index columns, Index memory_limit, const std::string& name);

/// Empty, NA, N/A, #N/A, <NA>, NaN, null, None, ?, -, . and \N, in any case, and NaT: a cell whose value
/// is not known.
bool is_missing(std::string_view text);

/// `text` quoted for a message, cut when long, without control characters.
std::string quoted(std::string_view text);

}  // namespace kerf::detail::io
