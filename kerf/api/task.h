// What is learned, and of what.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/api/matrix.h"

namespace kerf {

enum class Task { regression, classification };

/// Rows that are images: element (y, x, c) stands at (y * width + x) * channels + c.
struct ImageShape {
  Index height = 0, width = 0, channels = 0;
  bool present() const { return height > 0; }
  bool operator==(const ImageShape&) const = default;
};

}  // namespace kerf
