// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/option_value.h"

#include <cmath>

#include "kerf/core/options.h"

namespace kerf::detail {

std::variant<bool, Index, double, std::string> option_value(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  const auto number = parse_number(text);
  if (!number) return text;
  if (*number == std::floor(*number) && std::abs(*number) < 9e15)
    return static_cast<Index>(*number);
  return *number;
}

}  // namespace kerf::detail
