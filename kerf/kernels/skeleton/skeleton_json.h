// The JSON form of skeletons: see skeleton_text.h and docs/compositional.md.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <variant>

#include "kerf/kernels/skeleton/skeleton_text.h"

namespace kerf::detail {

/// As parse_skeleton(), of JSON; layers are left to be built.
std::variant<Skeleton, LayeredSkeleton> parse_skeleton_json(const std::string& text,
                                                            ImageShape image);

}  // namespace kerf::detail
