// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/text/csv_dialect.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "kerf/core/options.h"
#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/io/text/amount.h"
#include "kerf/io/text/moment.h"
#include "kerf/io/text/number.h"
#include "kerf/io/text/utf8.h"

namespace kerf::detail::io {
namespace {

using Record = std::vector<std::string>;
constexpr std::size_t kRecordsLookedAt = 200;
/// Of longer heads, whose lines are long, little is cut into cells: each is a string of its own.
constexpr std::size_t kLongHead = 1 << 20;

bool is_number(std::string_view cell) {
  const auto number = parse_number(cell);
  return number && std::isfinite(*number);
}

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

/// One cell from `position` on; leaves `position` at the delimiter or newline that ends it.
std::string take_cell(std::string_view text, char delimiter, std::size_t& position) {
  const auto ends = [&](char c) {
    return c == '\n' || c == delimiter || (delimiter == ' ' && c == '\t');
  };
  while (position < text.size() && (text[position] == ' ' || text[position] == '\t') &&
         !(delimiter == '\t' && text[position] == '\t'))
    ++position;
  std::string cell;
  if (position < text.size() && text[position] == '"') {
    for (++position; position < text.size(); ++position) {
      if (text[position] == '"') {
        ++position;
        if (position >= text.size() || text[position] != '"') break;
      }
      cell += text[position];
    }
    while (position < text.size() && !ends(text[position])) ++position;
    return cell;
  }
  const std::size_t begin = position;
  while (position < text.size() && !ends(text[position])) ++position;
  return trimmed(text.substr(begin, position - begin));
}

/// How well a delimiter fits.
struct Fit {
  char delimiter = ',';
  double same = 0;     // share of records with the commonest number of cells
  double numbers = 0;  // share of cells that are numbers
  std::size_t cells = 0;
};

/// What may stand in a column of numbers: a missing cell tells nothing against the delimiter, and nor
/// does a decimal comma unless it would be the delimiter itself.
bool may_be_number(std::string_view cell, char delimiter) {
  return is_number(cell) || is_missing(cell) || (delimiter != ',' && has_decimal_comma(cell));
}

/// A date or an amount, which become numbers later.
bool has_form(std::string_view cell) {
  return !is_number(cell) &&
         (parse_moment(cell, DateOrder::dmy) || parse_moment(cell, DateOrder::mdy) ||
          parse_amount(cell, '.') || parse_amount(cell, ','));
}

Fit fit_of(char delimiter, const std::vector<Record>& records) {
  std::map<std::size_t, std::size_t> counts;
  std::size_t cells = 0, numbers = 0;
  const auto fits = [&](const std::string& cell) { return may_be_number(cell, delimiter); };
  for (const Record& record : records) {
    ++counts[record.size()];
    cells += record.size();
    numbers += static_cast<std::size_t>(std::ranges::count_if(record, fits));
  }
  const auto commonest =
      std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
  return {delimiter, static_cast<double>(commonest->second) / static_cast<double>(records.size()),
          cells == 0 ? 0 : static_cast<double>(numbers) / static_cast<double>(cells),
          commonest->first};
}

/// What the delimiter is found in: of a long head a part of the second line, which is no header, or of
/// the only one.
std::string_view part_for_delimiter(std::string_view head, bool& whole) {
  if (head.size() <= kLongHead) return head;
  whole = true;
  const std::size_t end = head.find('\n');
  const std::string_view second = end == std::string_view::npos ? head : head.substr(end + 1);
  const std::string_view part = second.empty() ? head : second;
  return part.substr(0, std::min(kLongHead, part.find('\n')));
}

char detect_delimiter(std::string_view head, bool whole, bool decimal_comma) {
  // A comma within numbers separates no cells, unless these are quoted.
  const bool no_comma = decimal_comma && head.find('"') == std::string_view::npos;
  Fit best{.delimiter = no_comma ? ';' : ','};
  head = part_for_delimiter(head, whole);
  bool tabs_fit = false;
  for (const char delimiter : {',', ';', '\t', '|', ' '}) {
    // Blanks would cut at the tabs too, and lose the empty cells between them.
    if ((delimiter == ' ' && tabs_fit) || (delimiter == ',' && no_comma)) continue;
    const auto records = split_records(head, delimiter, whole, kRecordsLookedAt);
    if (records.empty()) continue;
    const Fit fit = fit_of(delimiter, records);
    // With a few rows one ragged one is a large share; it must not hide the delimiter.
    const bool fits = fit.cells > 1 && (fit.same >= 0.8 || (fit.same > 0.5 && records.size() < 10));
    if (delimiter == '\t') tabs_fit = fits && fit.numbers > 0.5;
    if (fits && (best.cells == 0 || fit.numbers > best.numbers)) best = fit;
  }
  return best.delimiter;
}

char named_delimiter(const std::string& text) {
  if (text == "tab" || text == "\\t") return '\t';
  if (text == "space" || text == "blank") return ' ';
  // What numbers, quotes and comments are made of cannot separate them.
  const std::string_view taken = "0123456789+-.eE\"#\r\n";
  KERF_REQUIRE(text.size() == 1 && taken.find(text[0]) == std::string_view::npos, usage,
               "{} is auto, tab, space or one character like ',', not '{}'", spell("delimiter"),
               text);
  return text[0];
}

bool detect_header(const std::vector<Record>& records, char delimiter) {
  // A decimal comma is a mistake that is told later, but no name.
  const auto is_value = [&](const std::string& cell) {
    return !is_missing(cell) && may_be_number(cell, delimiter);
  };
  if (records.size() < 2) {
    // One row of words alone can only be a header.
    return std::ranges::none_of(records[0], is_value) &&
           !std::ranges::all_of(records[0], [](auto& c) { return is_missing(c); });
  }
  const Record& first = records[0];
  bool words_only = true, repeated = false, names_numbers = false;
  double last_number = -1;
  for (std::size_t j = 0; j < first.size(); ++j) {
    std::size_t below_numbers = 0, below_forms = 0, below_words = 0;
    for (std::size_t i = 1; i < records.size(); ++i) {
      if (j >= records[i].size() || is_missing(records[i][j])) continue;
      ++(is_value(records[i][j])   ? below_numbers
         : has_form(records[i][j]) ? below_forms
                                   : below_words);
      if (records[i][j] == first[j]) repeated = true;
    }
    const std::size_t below_values = below_numbers + below_forms;
    // A date may be the name of a column of numbers, but not of one of dates.
    const bool word =
        !may_be_number(first[j], delimiter) && !(below_forms > 0 && has_form(first[j]));
    if (below_values > 0) words_only = false;
    if (word && below_values > 0 && below_words == 0) names_numbers = true;
    if (is_value(first[j])) {
      // Numbers are names only when they count columns, from 0 or from 1.
      const double value = parse_number(first[j]).value_or(-1);
      if (value != last_number + 1 && !(last_number == -1 && value == 1)) return false;
      last_number = value;
      words_only = false;
    }
  }
  const std::set<std::string> distinct(first.begin(), first.end());
  return names_numbers || (words_only && !repeated && distinct.size() == first.size());
}

std::size_t filled_cells(const Record& record) {
  std::size_t filled = record.size();
  while (filled > 1 && record[filled - 1].empty()) --filled;
  return filled;
}

/// Cells behind the others that are empty in all records: a delimiter at the end of the lines, as some
/// programs write it, with or without the header's.
std::size_t empty_cells(const std::vector<Record>& records) {
  std::size_t filled = 0, widest = 0;
  for (const Record& record : records) {
    filled = std::max(filled, filled_cells(record));
    widest = std::max(widest, record.size());
  }
  return widest - filled;
}

void cut_cells(std::vector<Record>& records, std::size_t count) {
  std::size_t widest = 0;
  for (const Record& record : records) widest = std::max(widest, record.size());
  for (Record& record : records) record.resize(std::min(record.size(), widest - count));
}

/// As R writes tables: a header of words, and one cell more in all other rows.
bool has_row_names(const std::vector<Record>& records, char delimiter) {
  if (records.size() < 2) return false;
  const auto is_value = [&](const std::string& cell) {
    return is_missing(cell) || may_be_number(cell, delimiter);
  };
  return std::ranges::none_of(records[0], is_value) &&
         std::all_of(records.begin() + 1, records.end(), [&](const Record& record) {
           return record.size() == records[0].size() + 1 && !record[0].empty();
         });
}

/// Whether a row holds every one of the names (there is one), each where it may be.
bool holds_names(const Record& row, const std::vector<std::string>& names) {
  const std::set<std::string> cells = [&] {
    std::set<std::string> all;
    for (const std::string& cell : row) all.insert(to_utf8(cell));
    return all;
  }();
  return !names.empty() &&
         std::ranges::all_of(names, [&](const std::string& name) { return cells.contains(name); });
}

}  // namespace

std::vector<Record> split_records(std::string_view text, char delimiter, bool whole,
                                  std::size_t max_records, bool comments) {
  std::vector<Record> records;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::size_t position = 0;
  while (position < text.size() && records.size() < max_records) {
    const std::size_t line_end = std::min(text.find('\n', position), text.size());
    const std::string_view line = text.substr(position, line_end - position);
    const char* blanks = delimiter == '\t' ? " \r" : " \t\r";
    const bool comment = comments && records.empty() && line.starts_with('#');
    if (comment || line.find_first_not_of(blanks) == std::string_view::npos) {
      position = line_end + 1;
      continue;
    }
    Record record;
    for (;;) {
      record.push_back(take_cell(text, delimiter, position));
      if (position >= text.size() || text[position] == '\n') break;
      ++position;
    }
    // Blanks at the end of a line separate nothing.
    if (delimiter == ' ')
      while (record.size() > 1 && record.back().empty()) record.pop_back();
    if (position < text.size() || whole) records.push_back(std::move(record));
    ++position;
  }
  return records;
}

CsvDialect detect_dialect(std::string_view head, bool whole, const ReadOptions& options,
                          const std::string& name) {
  KERF_REQUIRE(!(head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF")), data,
               "{} is UTF-16 text; write it as UTF-8", name);
  const bool old_mac = head.find('\r') != std::string_view::npos &&
                       head.find('\n') == std::string_view::npos &&
                       head.find('\r') + 1 < head.size();
  KERF_REQUIRE(!old_mac, data, "{} ends its lines with CR alone; write it with LF or CRLF", name);
  CsvDialect dialect;
  dialect.delimiter = options.delimiter == "auto" || options.delimiter.empty()
                          ? detect_delimiter(head, whole, options.decimal_comma)
                          : named_delimiter(options.delimiter);
  const bool is_long = head.size() > kLongHead;
  if (is_long)
    require_columns(1 + std::ranges::count(head.substr(0, head.find('\n')), dialect.delimiter),
                    options.memory_limit, name);
  auto records = split_records(head, dialect.delimiter, whole, is_long ? 2 : kRecordsLookedAt);
  KERF_REQUIRE(!records.empty(), data, "{} is empty: there are no rows in it", name);
  dialect.first = records[0];
  if (options.header == ReadOptions::Header::no) return dialect;
  const std::size_t empty = empty_cells(records);
  if (empty > 0) cut_cells(records, empty);
  dialect.row_names = has_row_names(records, dialect.delimiter);
  dialect.header = dialect.row_names || options.header == ReadOptions::Header::yes ||
                   holds_names(records[0], options.known_names) ||
                   detect_header(records, dialect.delimiter);
  // Without names nothing tells an empty column from the end of a line.
  if (!dialect.header || empty == 0) return dialect;
  dialect.first = records[0];
  dialect.empty_behind = static_cast<Index>(empty);
  return dialect;
}

}  // namespace kerf::detail::io
