// LIBSVM (SVMlight) text: `label index:value index:value ...`, sparse.
//
// Indices ascend within a row.  Whether they count from 0 or from 1 is seen when all rows have been
// read (an index 0 occurs: from 0), so the reader hands them on as written.  `qid:n` is ignored,
// and so is everything behind a #.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "kerf/io/bytes/input_stream.h"
#include "kerf/io/reader.h"

namespace kerf::detail::io {

/// Whether the beginning of a text looks like LIBSVM.
bool looks_like_libsvm(std::string_view head);

std::unique_ptr<Reader> open_libsvm(InputStream input, const ReadOptions& options);

}  // namespace kerf::detail::io
