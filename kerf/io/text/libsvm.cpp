// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/text/libsvm.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "kerf/core/options.h"
#include "kerf/core/require.h"
#include "kerf/io/class_names.h"
#include "kerf/io/text/number.h"
#include "kerf/io/text/text_window.h"

namespace kerf::detail::io {
namespace {

constexpr std::int32_t kLargestIndex = std::numeric_limits<std::int32_t>::max() - 1;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool ends_token(char c) { return is_space(c) || c == '\n' || c == '#'; }

class LibsvmReader final : public Reader {
 public:
  explicit LibsvmReader(InputStream input) : input_(std::move(input)), window_(input_) {
    schema_.sparse = schema_.labelled = true;
    position_ = window_.begin();
  }

  const Schema& schema() const override { return schema_; }
  void rewind() override {
    input_.rewind();
    window_.restart();
    position_ = window_.begin();
    line_ = 1;
    row_ = 0;
    at_beginning_ = true;
  }
  void keep_spelling(Index column) override { spelled_ = column == kLabelColumn; }
  double progress() const override { return input_.part_read(); }

  bool next(RawBlock& block, Index max_rows) override {
    block.clear();
    block.file = input_.name();
    block.first_row = row_;
    while (block.rows < max_rows) {
      if (position_ >= window_.lines_end()) {
        if (window_.complete()) break;
        window_.advance(position_);
        position_ = window_.begin();
        skip_mark();
        continue;
      }
      line_begin_ = position_;
      parse_line(block);
      ++line_;
    }
    row_ += block.rows;
    return block.rows > 0;
  }

 private:
  /// At the beginning of the file: some editors put a mark there.
  void skip_mark() {
    if (at_beginning_ && std::string_view(position_, window_.end()).starts_with(kByteOrderMark))
      position_ += kByteOrderMark.size();
    at_beginning_ = false;
  }

  /// Reads the line at position_ (a row, or a blank or comment line) and moves behind it.
  void parse_line(RawBlock& block) {
    const char* p = position_;
    while (is_space(*p)) ++p;
    if (*p != '\n' && *p != '#') {
      double label;
      const char* q = parse_decimal(p, label);
      require(q != nullptr && ends_token(*q) && std::isfinite(label), p,
              "a label that is a finite number is wanted here");
      if (spelled_) block.spelling.push_back(number_name({p, static_cast<std::size_t>(q - p)}));
      p = parse_entries(q, block.sparse);
      block.labels.push_back(label);
      block.lines.push_back(line_);
      block.sparse.end_row();
      ++block.rows;
    }
    if (*p != '\n')  // a comment
      p = static_cast<const char*>(std::memchr(p, '\n', window_.end() - p + 1));
    position_ = p + 1;
  }

  const char* parse_entries(const char* p, CsrMatrix& rows) {
    std::int64_t last = -1;
    for (;;) {
      while (is_space(*p)) ++p;
      if (*p == '\n' || *p == '#') return p;
      const char* token = p;
      if (std::strncmp(p, "qid:", 4) == 0) {
        while (!ends_token(*p)) ++p;
        continue;
      }
      require(*p != '-', token, "an index is not negative: 'index:value' is wanted here");
      std::int64_t index = 0;
      while (*p >= '0' && *p <= '9' && index <= kLargestIndex) index = index * 10 + (*p++ - '0');
      while (*p >= '0' && *p <= '9') ++p;
      require(p > token && *p == ':', token, "'index:value' is wanted here");
      require(index <= kLargestIndex, token, "the index is larger than any that is allowed");
      require(index > last, token, "indices must ascend within a row, and each occur once");
      last = index;
      double value = 0;
      const char* q = parse_decimal(p + 1, value);
      require(
          q != nullptr && ends_token(*q) && std::abs(value) <= std::numeric_limits<float>::max(),
          p + 1, "the value must be a finite number");
      p = q;
      rows.push(static_cast<std::int32_t>(index), static_cast<float>(value));
    }
  }

  void require(bool condition, const char* at, const char* wanted) const {
    if (condition) return;
    const char* end = at;
    while (!ends_token(*end)) ++end;
    fail(ErrorKind::data, "{}:{}:{}: {}, not {}", input_.name(), line_, at - line_begin_ + 1,
         wanted, quoted({at, static_cast<std::size_t>(end - at)}));
  }

  InputStream input_;
  TextWindow window_;
  Schema schema_;
  const char* position_ = nullptr;
  const char* line_begin_ = nullptr;
  Index line_ = 1, row_ = 0;
  bool at_beginning_ = true, spelled_ = false;
};

/// `digits:number`, or qid:...  A negative index is a mistake, but not that of a table.
bool is_entry(std::string_view token) {
  if (token.starts_with('-')) token.remove_prefix(1);
  const std::size_t colon = token.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  if (token.substr(0, colon) == "qid") return true;
  return token.substr(0, colon).find_first_not_of("0123456789") == std::string_view::npos &&
         parse_number(token.substr(colon + 1)).has_value();
}

}  // namespace

bool looks_like_libsvm(std::string_view head) {
  int rows = 0, entries = 0, wrong = 0;
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  for (std::size_t begin = 0; begin < head.size() && rows < 20;) {
    const std::size_t end = head.find('\n', begin);
    if (end == std::string_view::npos && rows > 0) break;  // the last line may be cut
    std::string_view line = head.substr(begin, end == std::string_view::npos ? end : end - begin);
    begin = end == std::string_view::npos ? head.size() : end + 1;
    line = line.substr(0, line.find('#'));
    int tokens = 0;
    while (!line.empty()) {
      const std::size_t first = line.find_first_not_of(" \t\r");
      if (first == std::string_view::npos) break;
      const std::size_t last = std::min(line.find_first_of(" \t\r", first), line.size());
      const std::string_view token = line.substr(first, last - first);
      if (tokens == 0 ? !parse_number(token).has_value() : !is_entry(token)) {
        ++wrong;  // a damaged line must not make the file look like a table
        break;
      }
      entries += tokens > 0;
      ++tokens;
      line.remove_prefix(last);
    }
    if (wrong > 0 && rows == 0) return false;
    rows += tokens > 0;
  }
  return entries > 0 && wrong <= rows;
}

std::unique_ptr<Reader> open_libsvm(InputStream input, const ReadOptions&) {
  return std::make_unique<LibsvmReader>(std::move(input));
}

}  // namespace kerf::detail::io
