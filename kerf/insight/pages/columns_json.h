// What the columns of a model's table are for: `kerf info` and Python's summary_.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "kerf/io/table/encoding.h"

namespace kerf::detail {

/// Names of the columns of that role, or their numbers where they have none.
std::vector<std::string> columns_of(const Encoding& encoding, Role role);
/// In the order of the model's outputs, which the options of the fit gave.
std::vector<std::string> targets_of(const Encoding& encoding);

/// An object: inputs (name, kind, levels), target, dropped, weight, missing.
std::string columns_json(const Encoding& encoding);

}  // namespace kerf::detail
