// A file format for the test of additions: "DUMMY", a zero byte, the number of columns as one byte,
// then rows of doubles as this machine has them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "kerf/io/bytes/input_stream.h"
#include "kerf/io/reader.h"

namespace kerf::detail::io {

bool looks_like_dummy(std::string_view head, const std::string& path);
std::unique_ptr<Reader> open_dummy(InputStream input, const ReadOptions& options);

}  // namespace kerf::detail::io
