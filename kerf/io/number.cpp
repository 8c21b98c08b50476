// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/number.h"

#include <fast_float/fast_float.h>

namespace kerf::io::detail {

double parse_any_decimal(const char* begin, const char* end) {
  double value = 0;
  fast_float::from_chars(begin, end, value);
  return value;
}

}  // namespace kerf::io::detail
