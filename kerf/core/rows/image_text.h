// The shape of rows that are images as text, "24x24x3": an option of kernels and maps.
//
// The option `image` of a kernel or map is "auto" until resolve_automatic() puts the shape of the
// rows at hand there; so it stands in the recipe that a model file keeps.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kerf/core/rows/row_source.h"

namespace kerf::detail {

/// HEIGHTxWIDTH or HEIGHTxWIDTHxCHANNELS; Error (usage) otherwise.
ImageShape parse_image_shape(const std::string& text);

std::string format_image_shape(ImageShape shape);

}  // namespace kerf::detail
