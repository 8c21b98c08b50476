// CIFAR's binary files: records of one label byte (CIFAR-10) or a coarse and a fine one (CIFAR-100,
// whose fine label is used), then 32 x 32 pixels of red, of green, of blue.  Rows come out as
// (height, width, channel), like all images.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "kerf/io/bytes/input_stream.h"
#include "kerf/io/reader.h"

namespace kerf::detail::io {

/// The labels at every record's place are possible ones; a file of a few records must be called
/// *.bin or *batch*, too.
bool looks_like_cifar(std::string_view head, const std::string& path);

std::unique_ptr<Reader> open_cifar(InputStream input, const ReadOptions& options);

}  // namespace kerf::detail::io
