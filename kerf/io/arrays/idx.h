// idx files, as MNIST comes in: two zero bytes, a type byte, the number of dimensions, then each
// size and the elements, all big-endian.  One dimension is labels, three or four are images.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "kerf/io/arrays/array.h"

namespace kerf::detail::io {

bool looks_like_idx(std::string_view head);

std::unique_ptr<Reader> open_idx(InputStream input, const ReadOptions& options);

/// The labels file that belongs to an images file (train-images-idx3-ubyte.gz:
/// train-labels-idx1-ubyte.gz), compressed or not; "" if there is none.
std::string labels_sibling(const std::string& path);

}  // namespace kerf::detail::io
