// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/text/number.h"

#include <fast_float/fast_float.h>

#include <string>

#include "kerf/core/options.h"

namespace kerf::detail::io::detail {

double parse_any_decimal(const char* begin, const char* end) {
  double value = 0;
  fast_float::from_chars(begin, end, value);
  return value;
}

}  // namespace kerf::detail::io::detail

namespace kerf::detail::io {

bool has_decimal_comma(std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos || comma + 1 == text.size()) return false;
  std::string number(text);
  number[comma] = '.';
  return parse_number(number).has_value();  // a second comma is no number either
}

}  // namespace kerf::detail::io
