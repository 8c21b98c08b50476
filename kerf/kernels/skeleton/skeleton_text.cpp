// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/skeleton/skeleton_text.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <variant>

#include "kerf/core/options.h"
#include "kerf/core/require.h"
#include "kerf/core/rows/image_text.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/memory.h"
#include "kerf/kernels/skeleton/skeleton_json.h"

namespace kerf::detail {
namespace {

/// A layer of nodes as an image: `first` is the number of its first node.
struct Plane {
  Index first, height, width, channels;
};

Index windows(Index length, Index size, Index stride) {
  return length < size ? 0 : (length - size) / stride + 1;
}

/// Calls body(y, x) for every window.
template <class Body>
Plane for_each_window(const Plane& below, Index size, Index stride, Index first, Body body) {
  const Index height = windows(below.height, size, stride),
              width = windows(below.width, size, stride);
  KERF_REQUIRE(height > 0 && width > 0, usage,
               "a window of {} x {} does not fit into the {} x {} nodes below it", size, size,
               below.height, below.width);
  for (Index y = 0; y < height; ++y)
    for (Index x = 0; x < width; ++x) body(y * stride, x * stride);
  return {first, height, width, 1};
}

/// Nodes of the window at (y, x), all channels.
std::vector<Index> window_nodes(const Plane& plane, Index y, Index x, Index height, Index width) {
  std::vector<Index> nodes;
  for (Index i = 0; i < height; ++i)
    for (Index j = 0; j < width; ++j)
      for (Index c = 0; c < plane.channels; ++c)
        nodes.push_back(plane.first + ((y + i) * plane.width + x + j) * plane.channels + c);
  return nodes;
}

bool is_window_space(BaseKind kind) {
  return kind == BaseKind::gaussian || kind == BaseKind::sphere;
}

std::vector<std::string> split(const std::string& text, char mark) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, mark);) {
    const auto begin = part.find_first_not_of(" \t\n"), end = part.find_last_not_of(" \t\n");
    parts.push_back(begin == std::string::npos ? "" : part.substr(begin, end - begin + 1));
  }
  return parts;
}

Index positive(const std::string& word, const std::string& layer) {
  const auto number = parse_number(word);
  KERF_REQUIRE(number && *number >= 1 && *number <= 1 << 20 && *number == std::floor(*number),
               usage, "the layer '{}' has '{}' where a size should be", layer, word);
  return static_cast<Index>(*number);
}

/// "5/2": size and stride; "5": stride 1.
void read_window(const std::string& word, const std::string& layer, Index& size, Index& stride) {
  const auto slash = word.find('/');
  size = positive(word.substr(0, slash), layer);
  stride = slash == std::string::npos ? 1 : positive(word.substr(slash + 1), layer);
}

void read_base(const std::string& text, SkeletonLayers& layers) {
  const std::vector<std::string> words = split(text, ' ');
  layers.base.kind = find_by_name<BaseKind>(words[0]).value();
  KERF_REQUIRE(layers.base.kind != BaseKind::categorical, usage,
               "categorical inputs are given node by node, in JSON");
  const bool scaled =
      layers.base.kind == BaseKind::circle || layers.base.kind == BaseKind::gaussian;
  std::size_t next = 1;
  if (scaled) {
    const auto scale = words.size() > 1 ? parse_number(words[1]) : std::nullopt;
    KERF_REQUIRE(scale && *scale > 0, usage, "'{}' needs a scale above 0, as in '{} 0.5'", text,
                 words[0]);
    layers.base.scale = *scale;
    next = 2;
  }
  if (words.size() > next && is_window_space(layers.base.kind))
    read_window(words[next++], text, layers.base_size, layers.base_stride);
  KERF_REQUIRE(words.size() == next, usage, "'{}' has a word too many: '{}'", text, words[next]);
}

SkeletonLayer read_layer(const std::string& text) {
  const std::vector<std::string> words = split(text, ' ');
  SkeletonLayer layer;
  std::size_t next = 1;
  KERF_REQUIRE(words[0] == "conv" || words[0] == "full", usage,
               "a layer is 'conv SIZE/STRIDE ACTIVATION' or 'full ACTIVATION', not '{}'", text);
  if (words[0] == "conv") {
    KERF_REQUIRE(words.size() >= 2, usage, "the layer '{}' has no size", text);
    read_window(words[next++], text, layer.size, layer.stride);
  }
  KERF_REQUIRE(next < words.size(), usage, "the layer '{}' has no activation", text);
  layer.activation = words[next++];
  for (; next < words.size(); ++next) layer.activation += " " + words[next];
  return layer;
}

SkeletonLayers read_layers(const std::string& text) {
  SkeletonLayers layers;
  const std::vector<std::string> parts = split(text, ',');
  for (std::size_t k = 0; k < parts.size(); ++k) {
    KERF_REQUIRE(!parts[k].empty(), usage, "the skeleton '{}' has an empty layer", text);
    const std::string word = parts[k].substr(0, parts[k].find(' '));
    if (k == 0 && find_by_name<BaseKind>(word))
      read_base(parts[k], layers);
    else
      layers.layers.push_back(read_layer(parts[k]));
  }
  return layers;
}

/// The inputs of a skeleton, in `nodes`, and how they lie.
Plane add_inputs(const SkeletonLayers& layers, ImageShape image, std::vector<SkeletonNode>& nodes) {
  const Plane pixels{0, image.height, image.width, image.channels};
  const auto add = [&](std::string name, std::vector<Index> columns) {
    SkeletonNode node{std::move(name), true, layers.base};
    node.base.columns = std::move(columns);
    nodes.push_back(std::move(node));
  };
  if (is_window_space(layers.base.kind))
    return for_each_window(pixels, layers.base_size, layers.base_stride, 0, [&](Index y, Index x) {
      add(fmt::format("input {},{}", y, x),
          window_nodes(pixels, y, x, layers.base_size, layers.base_size));
    });
  for (Index k = 0; k < values_of(image); ++k) {
    const Index pixel = k / image.channels;
    add(fmt::format("input {},{},{}", pixel / image.width, pixel % image.width, k % image.channels),
        {k});
  }
  return pixels;
}

/// Layer number `number` over the nodes of `below`.
Plane add_layer(const SkeletonLayer& layer, std::size_t number, const Plane& below,
                std::vector<SkeletonNode>& nodes) {
  const DualSeries activation(layer.activation);
  const auto first = static_cast<Index>(nodes.size());
  const auto add = [&](std::string name, std::vector<Index> in) {
    nodes.push_back({std::move(name), false, {}, activation, std::move(in)});
  };
  if (layer.size == 0) {
    add(fmt::format("full {}", number), window_nodes(below, 0, 0, below.height, below.width));
    return {first, 1, 1, 1};
  }
  return for_each_window(below, layer.size, layer.stride, first, [&](Index y, Index x) {
    add(fmt::format("conv {} at {},{}", number, y, x),
        window_nodes(below, y, x, layer.size, layer.size));
  });
}

/// Strides may leave a border that no window covers: those pixels are not part of the kernel.
std::vector<SkeletonNode> without_unused(std::vector<SkeletonNode> nodes) {
  std::vector<bool> used(nodes.size(), false);
  used.back() = true;
  for (std::size_t v = nodes.size(); v > 0; --v)
    if (used[v - 1])
      for (const Index from : nodes[v - 1].in) used[from] = true;
  std::vector<Index> place;
  std::vector<SkeletonNode> kept;
  for (std::size_t v = 0; v < nodes.size(); ++v) {
    place.push_back(static_cast<Index>(kept.size()));
    if (!used[v]) continue;
    for (Index& from : nodes[v].in) from = place[from];
    kept.push_back(std::move(nodes[v]));
  }
  return kept;
}

}  // namespace

Skeleton build_skeleton(const SkeletonLayers& layers, ImageShape image) {
  KERF_REQUIRE(image.present(), usage, "the skeleton does not say the shape of its rows: give {}",
               spell("image", "HxWxC"));
  require_memory(
      saturated(size_of(LayeredSkeleton{layers, image}).bytes()), 0,
      fmt::format("the skeleton of {} x {} x {} values", image.height, image.width, image.channels),
      "is this the shape of the rows?");
  std::vector<SkeletonNode> nodes;
  Plane plane = add_inputs(layers, image, nodes);
  for (std::size_t l = 0; l < layers.layers.size(); ++l)
    plane = add_layer(layers.layers[l], l + 1, plane, nodes);
  KERF_REQUIRE(plane.height * plane.width * plane.channels == 1, usage,
               "the last layer leaves {} x {} nodes, but a skeleton has one output: end with a "
               "layer 'full ACTIVATION'",
               plane.height, plane.width * plane.channels);
  return Skeleton(without_unused(std::move(nodes)), values_of(image));
}

std::string fill_table_skeleton(const std::string& text, Index columns,
                                const std::vector<std::vector<Index>>& one_hot_groups) {
  const std::vector<std::string> parts = split(text, ',');
  const std::vector<std::string> words = split(parts.empty() ? "" : parts[0], ' ');
  if (words.empty() || words[0] != "table") return text;
  const auto scale = words.size() == 2 ? parse_number(words[1]) : std::nullopt;
  KERF_REQUIRE(scale && *scale > 0, usage, "'{}' needs a scale above 0, as in 'table 1'", parts[0]);
  KERF_REQUIRE(parts.size() >= 2, usage, "the skeleton '{}' has no layers", text);
  std::vector<SkeletonNode> nodes;
  std::vector<bool> is_number(columns, true);
  for (const auto& group : one_hot_groups)
    for (const Index column : group) is_number[column] = false;
  for (Index k = 0; k < columns; ++k)
    if (is_number[k])
      nodes.push_back({fmt::format("column {}", k), true, {BaseKind::circle, {k}, *scale}});
  for (const auto& group : one_hot_groups) {
    // One level: a constant, as a category of a single code.
    const Index levels = group.size() == 1 ? 1 : 0;
    nodes.push_back({fmt::format("category {}", group.front()),
                     true,
                     {BaseKind::categorical, group, 1, levels}});
  }
  for (std::size_t l = 1; l < parts.size(); ++l) {
    const SkeletonLayer layer = read_layer(parts[l]);
    KERF_REQUIRE(layer.size == 0, usage, "a table has no windows: '{}'", parts[l]);
    SkeletonNode node{fmt::format("full {}", l), false, {}, DualSeries(layer.activation)};
    const auto count = static_cast<Index>(nodes.size());
    for (Index v = l == 1 ? 0 : count - 1; v < count; ++v) node.in.push_back(v);
    nodes.push_back(std::move(node));
  }
  return skeleton_json(Skeleton(std::move(nodes), columns));
}

namespace {

std::variant<Skeleton, LayeredSkeleton> parse(const std::string& text, ImageShape image) {
  const auto first = text.find_first_not_of(" \t\r\n");
  KERF_REQUIRE(first != std::string::npos, usage, "the skeleton is empty");
  if (text[first] == '{') return parse_skeleton_json(text, image);
  KERF_REQUIRE(!text.substr(first).starts_with("table"), usage,
               "the skeleton '{}' depends on the types of a table's columns: it is for a fit and "
               "whatever else reads one",
               text);
  return LayeredSkeleton{read_layers(text), image};
}

}  // namespace

Skeleton parse_skeleton(const std::string& text, ImageShape image) {
  auto parsed = parse(text, image);
  if (auto* layered = std::get_if<LayeredSkeleton>(&parsed))
    return build_skeleton(layered->layers, layered->image);
  return std::move(std::get<Skeleton>(parsed));
}

double SkeletonSize::bytes() const {
  // Nodes stand in up to three lists at once, a name of its own each; lists grow to twice their need.
  return nodes * (3.0 * sizeof(SkeletonNode) + 64) + 16 * edges;
}

SkeletonSize size_of(const Skeleton& skeleton) {
  SkeletonSize size{.complexity = skeleton.complexity()};
  size.nodes = static_cast<double>(skeleton.nodes().size());
  for (const SkeletonNode& node : skeleton.nodes()) {
    const auto columns = static_cast<double>(node.base.columns.size());
    const auto edges = static_cast<double>(node.in.size());
    size.edges += edges + columns;
    size.widest = std::max(size.widest, edges);
    if (node.is_input && node.base.kind == BaseKind::gaussian)
      size.gaussian = std::max(size.gaussian, columns);
  }
  return size;
}

SkeletonSize size_of(const LayeredSkeleton& layered) {
  const auto& [layers, image] = layered;
  SkeletonSize size;
  Index height = image.height, width = image.width;
  auto channels = static_cast<double>(image.channels);
  // All nodes of a layer are alike: `count` of them with so many edges (or columns) each.
  const auto add = [&](double count, double edges) {
    size.nodes += count;
    size.edges += count * edges;
  };
  const auto slide = [&](Index window, Index stride) {
    const double edges = static_cast<double>(window) * static_cast<double>(window) * channels;
    height = windows(height, window, stride);
    width = windows(width, window, stride);
    channels = 1;
    add(static_cast<double>(height) * static_cast<double>(width), edges);
    return edges;
  };
  const auto count = [&] {
    return static_cast<double>(height) * static_cast<double>(width) * channels;
  };
  if (is_window_space(layers.base.kind)) {
    const double columns = slide(layers.base_size, layers.base_stride);
    if (layers.base.kind == BaseKind::gaussian) size.gaussian = columns;
  } else {
    add(count(), 1);
  }
  for (const SkeletonLayer& layer : layers.layers) {
    double edges = count();
    if (layer.size == 0) {
      add(1, edges);
      height = width = 1;
      channels = 1;
    } else {
      edges = slide(layer.size, layer.stride);
    }
    size.widest = std::max(size.widest, edges);
    size.complexity *= DualSeries(layer.activation).mean_degree();
  }
  return size;
}

SkeletonSize skeleton_size(const std::string& text, ImageShape image) {
  return std::visit([](const auto& parsed) { return size_of(parsed); }, parse(text, image));
}

}  // namespace kerf::detail
