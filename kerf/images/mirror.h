// Mirror images.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <span>

#include "kerf/core/rows/row_source.h"

namespace kerf::detail {

/// Left becomes right.
template <class T>
void mirror_image(std::span<T> image, ImageShape shape) {
  const auto at = [&](Index y, Index x) {
    return image.begin() + static_cast<std::ptrdiff_t>((y * shape.width + x) * shape.channels);
  };
  for (Index y = 0; y < shape.height; ++y)
    for (Index x = 0; x < shape.width / 2; ++x)
      std::swap_ranges(at(y, x), at(y, x + 1), at(y, shape.width - 1 - x));
}

}  // namespace kerf::detail
