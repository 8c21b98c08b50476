// Tables of text: CSV, TSV and their relatives.
//
// Cells are separated by one of , ; tab | or runs of blanks (worked out from the first rows).  A
// cell may be quoted ("a ""b"", c"), and then hold delimiters, doubled quotes and newlines.  CRLF,
// a UTF-8 mark at the beginning, blank lines, lines starting with # (comments) and a last line
// without an end are understood.  A row with another number of cells is an error.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "kerf/io/bytes/input_stream.h"
#include "kerf/io/reader.h"

namespace kerf::detail::io {

std::unique_ptr<Reader> open_csv(InputStream input, const ReadOptions& options);

}  // namespace kerf::detail::io
