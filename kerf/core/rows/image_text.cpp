// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/rows/image_text.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/options.h"
#include "kerf/core/require.h"
#include "kerf/core/spelling.h"

namespace kerf::detail {

ImageShape parse_image_shape(const std::string& text) {
  std::vector<Index> sizes;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of("xX", begin), text.size());
    const auto size = parse_number(std::string_view(text).substr(begin, end - begin));
    KERF_REQUIRE(size && *size >= 1 && *size <= 1 << 24 && *size == std::floor(*size), usage,
                 "{} is HEIGHTxWIDTH or HEIGHTxWIDTHxCHANNELS, not '{}'", spell("image"), text);
    sizes.push_back(static_cast<Index>(*size));
    begin = end + 1;
  }
  KERF_REQUIRE(sizes.size() == 2 || sizes.size() == 3, usage,
               "{} is HEIGHTxWIDTH or HEIGHTxWIDTHxCHANNELS, not '{}'", spell("image"), text);
  return {sizes[0], sizes[1], sizes.size() == 3 ? sizes[2] : 1};
}

std::string format_image_shape(ImageShape shape) {
  return fmt::format("{}x{}x{}", shape.height, shape.width, shape.channels);
}

}  // namespace kerf::detail
