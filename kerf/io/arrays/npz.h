// NumPy's npz archives: a zip file with the arrays X (rows) and y (labels), or arr_0 and arr_1, or
// one array alone; members stored or deflated.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "kerf/io/bytes/input_stream.h"
#include "kerf/io/reader.h"

namespace kerf::detail::io {

/// A zip file whose first member is an npy file.
bool looks_like_npz(std::string_view head);

std::unique_ptr<Reader> open_npz(InputStream input, const ReadOptions& options);

}  // namespace kerf::detail::io
