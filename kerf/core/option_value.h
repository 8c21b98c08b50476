// An option's text as the kind of value that it is, for JSON and for Python.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <variant>

#include "kerf/core/view.h"

namespace kerf::detail {

/// "true" is a truth value, "12" a whole number, "0.5" a number, anything else text.
std::variant<bool, Index, double, std::string> option_value(const std::string& text);

}  // namespace kerf::detail
