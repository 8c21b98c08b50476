// NumPy's npy files, versions 1 to 3: one array of plain numbers (bool, integers, float16/32/64, in
// either byte order).  See array.h for what its dimensions mean.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "kerf/io/arrays/array.h"

namespace kerf::detail::io {

bool looks_like_npy(std::string_view head);

/// Reads the header and leaves `input` at the first element.
ArrayHeader read_npy_header(InputStream& input);

std::unique_ptr<Reader> open_npy(InputStream input, const ReadOptions& options);

}  // namespace kerf::detail::io
