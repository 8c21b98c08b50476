// Model files: versioned, little-endian, checksummed, written atomically, read as untrusted input.
//
//   bytes 0-7    "KERFMODL"
//   8-11         format version (1)
//   12-15        length h of the header
//   16-..        h bytes of JSON: recipe, scaling, encoding, classes, training record, and the
//                name, type and shape of each array
//   ..           the arrays, row-major, in the header's order: float64 unless the type says
//                float32, int32 or int64
//   last 4       CRC-32 of everything before
//
// Compatibility: every released version's files stay readable (tests/golden).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "kerf/model/model.h"

namespace kerf::detail {

void save_model(const Model& model, const std::string& path);

/// Throws Error (data) for anything but a whole, consistent model.
Model load_model(const std::string& path);

/// The same bytes in memory; `name` stands for the path in messages.
std::string model_to_bytes(const Model& model);
Model model_from_bytes(std::string_view bytes, const std::string& name);

}  // namespace kerf::detail
