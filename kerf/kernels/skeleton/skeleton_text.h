// Skeletons as text: layers in a line, or JSON (docs/compositional.md documents both).
//
//   circle 0.5, conv 5/2 exp 0.25, conv 4/2 relu, full relu
//       base space of every value (or window) of an image, then layers from the bottom up.
//       conv K/S ACTIVATION: K x K windows, S pixels apart (K: S = 1), no padding; a node for each,
//       over all channels below.  full ACTIVATION: one node over everything.
//       Bases: circle A | sign       one for each value
//              gaussian A [K/S] | sphere [K/S]   one for each window, of all its values (K = 1)
//              table A                           columns by their type: circles and categories
//
//   {"image": [24, 24, 3], "base": {"space": "circle", "scale": 0.5},
//    "layers": [{"conv": 5, "stride": 2, "activation": "exp 0.25"}, {"activation": "relu"}]}
//
//   {"columns": 3, "nodes": {"a": {"space": "circle", "columns": [0]}, ...,
//                            "v": {"activation": "relu", "in": ["a", "b"]}}}
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kerf/kernels/skeleton/skeleton.h"

namespace kerf::detail {

/// One layer of windows; size 0: fully connected.
struct SkeletonLayer {
  Index size = 0, stride = 1;
  std::string activation = "relu";
};

/// Layers over an image; the base space of each value (circle, sign) or window (gaussian, sphere).
struct SkeletonLayers {
  BaseSpace base;  ///< without columns
  Index base_size = 1, base_stride = 1;
  std::vector<SkeletonLayer> layers;
};

struct LayeredSkeleton {
  SkeletonLayers layers;
  ImageShape image;
};

/// The last layer must leave one node; Error (usage) if windows do not fit, Error (memory) if the nodes
/// would be more than there is room for.
Skeleton build_skeleton(const SkeletonLayers& layers, ImageShape image);

/// What a skeleton takes, of layers without building it: few words may stand for any number of nodes.
struct SkeletonSize {
  double nodes = 0, edges = 0;
  double complexity = 1;  ///< Skeleton::complexity()
  double gaussian = 0;    ///< columns of the largest gaussian base
  double widest = 0;      ///< edges into one node
  double bytes() const;   ///< of the nodes, while they are put together
};
SkeletonSize size_of(const Skeleton& skeleton);
SkeletonSize size_of(const LayeredSkeleton& layered);
/// Of the skeleton that parse_skeleton() would give.
SkeletonSize skeleton_size(const std::string& text, ImageShape image);

/// Either text above.  `image`: the shape of the rows; what the text says must agree with it.
/// Without a shape (not present) the text must say it.  Error (usage) says what is wrong.
Skeleton parse_skeleton(const std::string& text, ImageShape image);

/// `value` itself if it is such a text, or the contents of the file of that name.
std::string load_skeleton_text(const std::string& value);

/// `table A, full ..` for a table whose columns are known: numbers become circles of scale A, each
/// group of one-hot columns a categorical space; as JSON, node by node.  Any other text unchanged.
std::string fill_table_skeleton(const std::string& text, Index columns,
                                const std::vector<std::vector<Index>>& one_hot_groups);

/// JSON of the nodes, one by one: parse_skeleton() of it gives the same skeleton.
std::string skeleton_json(const Skeleton& skeleton);

}  // namespace kerf::detail
