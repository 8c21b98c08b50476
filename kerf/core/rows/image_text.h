// Rows as images: their shape as text, "24x24x3", an option of kernels and maps, and their mirror
// images.
//
// The option `image` of a kernel or map is "auto" until resolve_automatic() puts the shape of the
// rows at hand there; so it stands in the recipe that a model file keeps.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <span>
#include <string>

#include "kerf/core/rows/row_source.h"

namespace kerf::detail {

/// HEIGHTxWIDTH or HEIGHTxWIDTHxCHANNELS; Error (usage) otherwise.
ImageShape parse_image_shape(const std::string& text);

std::string format_image_shape(ImageShape shape);

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
