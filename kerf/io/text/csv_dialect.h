// How a table is written: its delimiter, and whether its first row is a header.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kerf/io/reader.h"

namespace kerf::detail::io {

struct CsvDialect {
  char delimiter = ',';  ///< ' ' stands for any run of blanks and tabs
  bool header = false;
  std::vector<std::string> first;  ///< cells of the first record
  bool row_names = false;          ///< each row begins with its name, which the header leaves out
  Index empty_behind = 0;          ///< a row may end with so many empty cells, which are no columns
};

/// The records of `text` cut into cells, in the obvious way: quotes, doubled quotes, blank lines and,
/// before the first record and if `comments`, comment lines (#) understood.  Without `whole`, a last
/// line without an end is left out.
std::vector<std::vector<std::string>> split_records(std::string_view text, char delimiter,
                                                    bool whole, std::size_t max_records,
                                                    bool comments = true);

/// Works the dialect out from the first bytes of a table.
///
/// Delimiter: the candidate (, ; tab | blanks, in this order) that cuts nearly all lines into the
/// same number of cells, more than one; if several do, the one with the largest share of numbers
/// (missing cells and, except for the comma, numbers with a decimal comma count as such).
/// Header: some column has a word in the first row and only numbers below; or, in a table of words
/// only, no cell of the first row occurs again in its column; or the first row holds all names that
/// the options say a model knows.
/// Row names: every row but the first, of words, has one cell more, as R writes tables.
/// Empty cells behind: the last ones of all these rows, which have no name.
CsvDialect detect_dialect(std::string_view head, bool whole, const ReadOptions& options,
                          const std::string& name);

}  // namespace kerf::detail::io
