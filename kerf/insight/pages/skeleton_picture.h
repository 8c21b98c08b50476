// A computation skeleton for people: an outline in words and a picture (SVG).
//
// Nodes stand in levels: a node's level is the longest path to it from an input.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kerf/kernels/skeleton/skeleton.h"

namespace kerf::detail {

/// One line a level from the output down, then columns, edges and C(S).
std::string skeleton_outline(const Skeleton& skeleton);

/// Levels as rows of dots with their edges; of a long level `most` nodes, evenly spread, are drawn.
std::string skeleton_svg(const Skeleton& skeleton, Index most = 48);

}  // namespace kerf::detail
