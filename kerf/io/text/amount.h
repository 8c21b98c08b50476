// Numbers as people write them: 1,234.56   1.234,56 (decimal comma)   1 234,5   $12.50   12,50 €   (3.00)   7 %
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string_view>

namespace kerf::detail::io {

struct Amount {
  double value = 0;
  std::string_view unit;  ///< "$", "€", "£", "¥", "₹", "%", or "": none
  bool in_doubt = false;  ///< 1,234: with the other decimal mark it would be another number
};

/// What all of `text` spells with this decimal mark ('.' or ','), or nothing.  Digits stand in groups of
/// three, apart by one mark: a comma (a point with decimal commas), a blank or an apostrophe.
std::optional<Amount> parse_amount(std::string_view text, char decimal);

/// The number that all of `text` spells with a decimal comma and nothing else, no point: 3,5 or -2e3.
std::optional<double> parse_comma_number(std::string_view text);

}  // namespace kerf::detail::io
