// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/text/csv.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kerf/core/require.h"
#include "kerf/io/text/amount.h"
#include "kerf/io/text/csv_dialect.h"
#include "kerf/io/text/number.h"
#include "kerf/io/text/text_window.h"
#include "kerf/io/text/utf8.h"

namespace kerf::detail::io {
namespace {

constexpr std::size_t kHeadBytes = 1 << 18;

/// Enough of the beginning to see the dialect: two whole lines at least, where there are two.
/// `whole`: this is all there is.
std::string_view head_of(InputStream& input, bool& whole) {
  for (std::size_t bytes = kHeadBytes;; bytes *= 2) {
    const std::string_view head = input.peek(bytes);
    whole = head.size() < bytes;
    if (whole || std::ranges::count(head, '\n') > 2 || bytes >= kHeadBytes << 10) return head;
  }
}

class CsvReader final : public Reader {
 public:
  CsvReader(InputStream input, const ReadOptions& options)
      : input_(std::move(input)), window_(input_) {
    bool whole = false;
    const std::string_view head = head_of(input_, whole);
    dialect_ = detect_dialect(head, whole, options, input_.name());
    schema_.columns = static_cast<Index>(dialect_.first.size());
    if (dialect_.header)
      for (const std::string& name : dialect_.first) schema_.names.push_back(to_utf8(name));
    schema_.guessed_header =
        options.header == ReadOptions::Header::automatic && !dialect_.row_names;
    decimal_comma_ = options.decimal_comma;
    note_layout();
    start();
  }

  const Schema& schema() const override { return schema_; }
  void rewind() override {
    input_.rewind();
    window_.restart();
    start();
  }
  bool next(RawBlock& block, Index max_rows) override;
  void keep_spelling(Index column) override { spelled_ = column; }
  void keep_words(const std::vector<Index>& columns) override {
    words_.assign(columns.empty() ? 0 : schema_.columns, false);
    for (const Index column : columns) words_[column] = true;
    first_word_ = columns.empty() ? schema_.columns : std::ranges::min(columns);
  }
  std::vector<Index> code_columns() const override {
    std::vector<Index> columns;
    for (std::size_t j = 0; j < codes_.size(); ++j)
      if (codes_[j]) columns.push_back(static_cast<Index>(j));
    return columns;
  }
  double progress() const override { return input_.part_read(); }

 private:
  struct Cell {
    const char* end;        // the delimiter or newline after it
    std::string_view text;  // nullptr data: the window ends within the cell
    double value;           // NaN: the text is no finite number
  };

  void start() {
    position_ = window_.begin();
    line_ = 1;
    row_ = 0;
    at_beginning_ = true;
  }
  void note_layout();
  bool find_row();
  const char* over_row_name(const char* p);
  const char* over_empty_cells(const char* q) const;
  Index plain_cells(const char*& p, double* out);
  bool parse_row(double* out, RawBlock& block);
  Cell slow_cell(const char* p);
  const char* close_quote(const char* p);
  [[noreturn]] void fail_ragged() const;
  Index byte_of(const char* p) const { return p - line_begin_ + 1; }
  bool is_blank(char c) const { return c == ' ' || (c == '\t' && dialect_.delimiter != '\t'); }
  bool is_of_words(Index column) const { return !words_.empty() && words_[column]; }
  /// A number whose text is wanted.
  static void add_number(RawBlock& block, Index column, std::string_view text) {
    block.add_odd(block.rows, column, 0, text);
    block.odd.back().is_number = true;
  }
  /// Of a number: see code_columns().
  void look_for_code(Index column, const char* begin, const char* end, double value) {
    constexpr double kHeldWhole = 9007199254740992;  // 2^53
    begin += *begin == '-' || *begin == '+';
    const bool zeros = *begin == '0' && begin[1] >= '0' && begin[1] <= '9';
    if (!zeros && std::abs(value) < kHeldWhole) return;
    const auto is_exponent = [](char c) { return c == 'e' || c == 'E'; };
    if (!zeros && std::any_of(begin, end, is_exponent)) return;  // large, but nobody counts with it
    codes_.resize(schema_.columns);
    codes_[column] = true;
  }
  bool cut_at(const char* p) const { return p >= window_.end() && !window_.complete(); }

  InputStream input_;
  TextWindow window_;
  CsvDialect dialect_;
  Schema schema_;
  bool decimal_comma_ = false;
  Index spelled_ = kNoColumn;  // column whose text is kept
  std::vector<bool> words_;    // columns whose numbers are listed with their text; empty: none
  Index first_word_ = std::numeric_limits<Index>::max();
  std::vector<bool> codes_;  // see code_columns(); empty: none
  const char* position_ = nullptr;
  // A quoted cell may hold newlines, so a row has a first line and a line that is being read.
  const char* row_begin_ = nullptr;
  const char* line_begin_ = nullptr;
  Index row_line_ = 1, line_ = 1;
  Index row_ = 0;
  bool at_beginning_ = true;
  std::string scratch_, converted_;
};

/// Moves to the beginning of the next row, over blank lines and, before the first record, comments;
/// false at the end.  Later a '#' belongs to a row: spreadsheets write #N/A.
bool CsvReader::find_row() {
  for (;;) {
    if (position_ >= window_.lines_end()) {
      if (window_.complete()) return false;
      window_.advance(position_);
      position_ = window_.begin();
      continue;
    }
    const char* p = position_;
    if (*p == '#' && at_beginning_) {
      p = static_cast<const char*>(std::memchr(p, '\n', window_.end() - p + 1));
    } else {
      while (is_blank(*p) || *p == '\r') ++p;
      if (*p != '\n') return true;
    }
    position_ = p + 1;
    ++line_;
  }
}

bool CsvReader::next(RawBlock& block, Index max_rows) {
  block.clear();
  block.words_kept = !words_.empty();
  block.file = input_.name();
  block.first_row = row_;
  if (at_beginning_) {
    if (position_ >= window_.lines_end() && !window_.complete()) window_.advance(position_);
    position_ = window_.begin();
    if (std::string_view(position_, window_.end()).starts_with("\xEF\xBB\xBF")) position_ += 3;
  }
  block.cells.resize(max_rows, schema_.columns);
  while (block.rows < max_rows && find_row()) {
    row_begin_ = line_begin_ = position_;
    row_line_ = line_;
    const std::size_t odd = block.odd.size(), odd_text = block.odd_text.size();
    const std::size_t spelled = block.spelling.size();
    double* out = block.cells.data() + block.rows * schema_.columns;
    if (!parse_row(out, block)) {
      // A quoted cell goes on behind the window: again, with more of the text.
      block.odd.resize(odd);
      block.odd_text.resize(odd_text);
      block.spelling.resize(spelled);
      line_ = row_line_;
      window_.advance(position_);
      position_ = window_.begin();
      continue;
    }
    if (at_beginning_ && dialect_.header) {
      block.clear();
      block.words_kept = !words_.empty();
    } else {
      block.lines.push_back(row_line_);
      ++block.rows;
    }
    at_beginning_ = false;
  }
  block.cells.resize(block.rows, schema_.columns);
  row_ += block.rows;
  return block.rows > 0;
}

/// Reads the cells at `p` while they are numbers with a delimiter right behind, which most are, and
/// moves `p` behind them; their number.  The last cell of a row is never one of them.
Index CsvReader::plain_cells(const char*& p, double* out) {
  const char delimiter = dialect_.delimiter;
  if (delimiter == ' ' || decimal_comma_) return 0;  // runs of blanks, another mark
  const Index last = std::min(spelled_ >= 0 ? spelled_ : schema_.columns - 1, first_word_);
  for (Index j = 0; j < last; ++j) {
    const char* const q = parse_decimal(p, out[j]);
    if (q == nullptr || *q != delimiter || !std::isfinite(out[j])) return j;
    look_for_code(j, p, q, out[j]);
    p = q + 1;
  }
  return last;
}

/// Reads the row at position_ and moves behind it; false: the window ends before the row does.
bool CsvReader::parse_row(double* out, RawBlock& block) {
  const char delimiter = dialect_.delimiter;
  const bool blanks = delimiter == ' ';
  const Index columns = schema_.columns;
  const char* p = position_;
  if (dialect_.row_names && !at_beginning_ && (p = over_row_name(p)) == nullptr) return false;
  for (Index j = plain_cells(p, out); j < columns; ++j) {
    while (is_blank(*p)) ++p;
    const char* const begin = p;
    const char* q = decimal_comma_ ? nullptr : parse_decimal(p, out[j]);
    const bool ended = q != nullptr && (*q == delimiter || *q == '\n' || (blanks && *q == '\t') ||
                                        (*q == '\r' && q[1] == '\n'));
    if (ended && std::isfinite(out[j])) {
      if (j == spelled_) block.spelling.emplace_back(begin, q);
      if (is_of_words(j)) add_number(block, j, {begin, q});
      look_for_code(j, begin, q, out[j]);
      q += *q == '\r';
    } else {
      const Index byte = byte_of(begin), below = line_ - row_line_;
      const Cell cell = slow_cell(p);
      if (cell.text.data() == nullptr) return false;
      q = cell.end;
      out[j] = cell.value;
      if (std::isnan(cell.value))
        block.add_odd(block.rows, j, byte, cell.text, below);
      else if (is_of_words(j))
        add_number(block, j, cell.text);
      if (const char* text = cell.text.data(); !std::isnan(cell.value))
        look_for_code(j, text, text + cell.text.size(), cell.value);
      if (j == spelled_) block.spelling.emplace_back(cell.text);
    }
    if (blanks) {
      while (*q == ' ' || *q == '\t' || (*q == '\r' && q[1] == '\n')) ++q;
      p = q;
    } else {
      p = q + 1;
    }
    if (*q == '\n' || j + 1 == columns) {
      if (j + 1 == columns) q = over_empty_cells(q);
      if (*q == '\n' && cut_at(q)) return false;
      if (*q != '\n' || j + 1 != columns) fail_ragged();
      position_ = q + 1;
      ++line_;
    }
  }
  return true;
}

/// What was odd about the first rows.
void CsvReader::note_layout() {
  if (dialect_.row_names)
    schema_.remarks.emplace_back(
        "the header has one name less than the rows have cells: the first cell of each row is its "
        "name, as R writes it, and left out");
}

/// Behind the cell that names the row; nullptr: the window ends before.
const char* CsvReader::over_row_name(const char* p) {
  while (is_blank(*p)) ++p;
  const Cell cell = slow_cell(p);
  if (cell.text.data() == nullptr) return nullptr;
  if (*cell.end == '\n') {
    if (cut_at(cell.end)) return nullptr;
    fail_ragged();
  }
  const char* q = cell.end + 1;
  while (dialect_.delimiter == ' ' && is_blank(*q)) ++q;
  return q;
}

/// Over what stands behind the last column and is no cell.
const char* CsvReader::over_empty_cells(const char* q) const {
  for (Index k = 0; k < dialect_.empty_behind && *q == dialect_.delimiter; ++k) {
    ++q;
    while (is_blank(*q)) ++q;
    if (*q == '"' && q[1] == '"') q += 2;
    while (is_blank(*q) || (*q == '\r' && q[1] == '\n')) ++q;
  }
  return q;
}

/// Any cell: quoted, with blanks around it, empty, a word.
CsvReader::Cell CsvReader::slow_cell(const char* p) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const char delimiter = dialect_.delimiter;
  const bool blanks = delimiter == ' ';
  const auto ends = [&](char c) { return c == delimiter || c == '\n' || (blanks && c == '\t'); };
  std::string_view text;
  const char* q = p;
  if (*p == '"') {
    q = close_quote(p);
    if (q == nullptr) return {nullptr, {}, 0};
    scratch_.append(kNumberPadding, '\0');
    text = std::string_view(scratch_).substr(0, scratch_.size() - kNumberPadding);
  } else {
    while (!ends(*q)) ++q;
    text = {p, static_cast<std::size_t>(q - p)};
    while (!text.empty() && (is_blank(text.back()) || text.back() == '\r')) text.remove_suffix(1);
  }
  double value = kNan;
  bool number = false;
  if (decimal_comma_) {
    const auto read = parse_comma_number(text);
    number = read.has_value();
    value = read.value_or(kNan);
  } else {
    const char* end = text.empty() ? nullptr : parse_decimal(text.data(), value);
    number = end == text.data() + text.size() && std::isfinite(value);
  }
  if (!number && !is_utf8(text)) {
    converted_ = to_utf8(text);
    text = converted_;
  }
  return {q, text.data() == nullptr ? std::string_view("") : text, number ? value : kNan};
}

/// The position behind the quoted cell at `p`, whose text goes to scratch_; nullptr: cut off.
const char* CsvReader::close_quote(const char* p) {
  const Index first_line = line_, first_byte = byte_of(p);
  scratch_.clear();
  for (++p;; ++p) {
    if (p >= window_.end()) {
      KERF_REQUIRE(!window_.complete(), data, "{}:{}:{}: a quoted cell begins here and never ends",
                   input_.name(), first_line, first_byte);
      return nullptr;
    }
    if (*p == '"') {
      if (p[1] != '"' || p + 1 >= window_.end()) break;
      ++p;
    }
    if (*p == '\n') {
      ++line_;
      line_begin_ = p + 1;
    }
    scratch_ += *p;
  }
  ++p;
  if (cut_at(p)) return nullptr;
  while (*p == '\r' || (is_blank(*p) && dialect_.delimiter != ' ')) ++p;
  const bool blank_after = dialect_.delimiter == ' ' && (*p == ' ' || *p == '\t');
  KERF_REQUIRE(*p == dialect_.delimiter || *p == '\n' || blank_after, data,
               "{}:{}:{}: text follows the end of a quoted cell", input_.name(), line_, byte_of(p));
  return p;
}

void CsvReader::fail_ragged() const {
  const char* end = window_.end();
  const auto records = split_records({row_begin_, static_cast<std::size_t>(end - row_begin_)},
                                     dialect_.delimiter, true, 1, false);
  fail(ErrorKind::data, "{}:{}: this row has {} cells, but the first row has {}{}{}", input_.name(),
       row_line_, records.empty() ? 0 : records[0].size(), schema_.columns,
       dialect_.row_names          ? " names, for all cells but the first"
       : dialect_.empty_behind > 0 ? " and empty ones behind them"
                                   : "",
       *row_begin_ == '#' ? " (comments stand before the first row only)" : "");
}

}  // namespace

std::unique_ptr<Reader> open_csv(InputStream input, const ReadOptions& options) {
  return std::make_unique<CsvReader>(std::move(input), options);
}

}  // namespace kerf::detail::io
