// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/skeleton/skeleton_json.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "kerf/core/options.h"
#include "kerf/core/require.h"
#include "kerf/core/rows/image_text.h"
#include "kerf/core/shallow_json.h"

namespace kerf::detail {
namespace {

// Members by name: of an object that keeps their order each is searched for among all.
using Json = nlohmann::json;

constexpr Index kMostNodes = 1 << 22;
constexpr std::size_t kMostBytes = 1 << 28;

void check_names(const Json& object, const std::vector<std::string>& names,
                 const std::string& owner) {
  for (const auto& [name, value] : object.items())
    KERF_REQUIRE(std::ranges::find(names, name) != names.end(), usage,
                 "{}: there is no '{}'{}; it may have {}", owner, name, did_you_mean(name, names),
                 fmt::join(names, ", "));
}

Index whole(const Json& value, const std::string& owner) {
  KERF_REQUIRE(value.is_number_integer(), usage, "{}: {} should be a whole number", owner,
               value.dump());
  return value.get<Index>();
}

const Json& array_of(const Json& object, const char* name, const std::string& owner) {
  KERF_REQUIRE(object.contains(name) && object.at(name).is_array(), usage,
               "{}: '{}' should be a list", owner, name);
  return object.at(name);
}

std::string text_of(const Json& object, const char* name, const std::string& owner) {
  KERF_REQUIRE(object.contains(name) && object.at(name).is_string(), usage,
               "{}: '{}' should be text", owner, name);
  return object.at(name);
}

BaseSpace read_base(const Json& object, const std::string& owner, bool has_columns) {
  BaseSpace base;
  const std::string space = text_of(object, "space", owner);
  const auto kind = find_by_name<BaseKind>(space);
  KERF_REQUIRE(kind, usage, "{}: there is no base space '{}'; they are {}", owner, space,
               fmt::join(names_of(BaseKind{}), ", "));
  base.kind = *kind;
  if (object.contains("scale")) {
    KERF_REQUIRE(object.at("scale").is_number(), usage, "{}: the scale is no number", owner);
    base.scale = object.at("scale");
  }
  if (object.contains("levels")) base.levels = whole(object.at("levels"), owner);
  if (has_columns)
    for (const Json& column : array_of(object, "columns", owner))
      base.columns.push_back(whole(column, owner));
  if (object.contains("matrix")) {
    KERF_REQUIRE(base.kind == BaseKind::gaussian, usage, "{}: only a gaussian has a matrix", owner);
    std::vector<std::vector<double>> matrix;
    for (const Json& row : array_of(object, "matrix", owner)) {
      KERF_REQUIRE(row.is_array(), usage, "{}: a row of the matrix is no list", owner);
      auto& numbers = matrix.emplace_back();
      for (const Json& value : row) {
        KERF_REQUIRE(value.is_number(), usage, "{}: {} in the matrix is no number", owner,
                     value.dump());
        numbers.push_back(value);
      }
    }
    base.factor = psd_factor(matrix);
  }
  return base;
}

Skeleton read_nodes(const Json& document, Index columns) {
  check_names(document, {"columns", "nodes", "image"}, "the skeleton");
  const Json& given = document.at("nodes");
  KERF_REQUIRE(given.is_object() && static_cast<Index>(given.size()) <= kMostNodes, usage,
               "'nodes' should be an object with a node for each name");
  std::map<std::string, Index> numbers;
  for (const auto& [name, object] : given.items())
    numbers.emplace(name, static_cast<Index>(numbers.size()));
  KERF_REQUIRE(numbers.size() == given.size(), usage, "two nodes have the same name");
  Index next = 0;
  for (const auto& [name, object] : given.items()) numbers[name] = next++;
  std::vector<SkeletonNode> nodes;
  for (const auto& [name, object] : given.items()) {
    const std::string owner = "node '" + name + "'";
    KERF_REQUIRE(object.is_object(), usage, "{} is no object", owner);
    if (object.contains("space") || object.contains("columns")) {  // an input, or meant as one
      check_names(object, {"space", "columns", "scale", "levels", "matrix"}, owner);
      nodes.push_back({name, true, read_base(object, owner, true)});
      continue;
    }
    check_names(object, {"activation", "in"}, owner);
    SkeletonNode node{name, false, {}, DualSeries(text_of(object, "activation", owner))};
    for (const Json& from : array_of(object, "in", owner)) {
      const auto found = numbers.find(from.is_string() ? from.get<std::string>() : "");
      KERF_REQUIRE(found != numbers.end(), usage, "{} has an edge from {}, which does not exist",
                   owner, from.dump());
      node.in.push_back(found->second);
    }
    nodes.push_back(std::move(node));
  }
  return Skeleton(std::move(nodes), columns);
}

SkeletonLayers read_layers(const Json& document) {
  check_names(document, {"columns", "image", "base", "layers"}, "the skeleton");
  SkeletonLayers layers;
  if (document.contains("base")) {
    const Json& base = document.at("base");
    KERF_REQUIRE(base.is_object() && base.contains("space"), usage, "'base' has no 'space'");
    check_names(base, {"space", "scale", "size", "stride", "matrix"}, "'base'");
    layers.base = read_base(base, "'base'", false);
    if (base.contains("size")) layers.base_size = whole(base.at("size"), "'base'");
    if (base.contains("stride")) layers.base_stride = whole(base.at("stride"), "'base'");
    KERF_REQUIRE(layers.base_size >= 1 && layers.base_stride >= 1, usage,
                 "'base': size and stride are at least 1");
  }
  for (const Json& object : array_of(document, "layers", "the skeleton")) {
    KERF_REQUIRE(object.is_object(), usage, "a layer is no object: {}", object.dump());
    check_names(object, {"conv", "stride", "activation"}, "a layer");
    SkeletonLayer layer;
    layer.activation = text_of(object, "activation", "a layer");
    if (object.contains("conv")) {
      layer.size = whole(object.at("conv"), "a layer");
      KERF_REQUIRE(layer.size >= 1, usage, "a layer: windows of size {}", layer.size);
    }
    if (object.contains("stride")) layer.stride = whole(object.at("stride"), "a layer");
    KERF_REQUIRE(layer.stride >= 1, usage, "a layer: the stride {} is not positive", layer.stride);
    layers.layers.push_back(layer);
  }
  return layers;
}

ImageShape stated_shape(const Json& document) {
  if (document.contains("image")) {
    const Json& sizes = array_of(document, "image", "the skeleton");
    KERF_REQUIRE(sizes.size() == 2 || sizes.size() == 3, usage,
                 "the skeleton: 'image' is [height, width, channels]");
    ImageShape shape{whole(sizes[0], "'image'"), whole(sizes[1], "'image'"),
                     sizes.size() == 3 ? whole(sizes[2], "'image'") : 1};
    for (const Index size : {shape.height, shape.width, shape.channels})
      KERF_REQUIRE(size >= 1 && size <= 1 << 20, usage, "the skeleton: 'image' has the size {}",
                   size);
    return shape;
  }
  if (!document.contains("columns")) return {};
  const Index columns = whole(document.at("columns"), "'columns'");
  KERF_REQUIRE(columns >= 1, usage, "the skeleton: {} columns", columns);
  return {1, 1, columns};
}

Json parse_document(const std::string& text) {
  Json document;
  try {
    document = parse_shallow_json<Json>(text);
  } catch (const Json::parse_error& error) {
    fail(ErrorKind::usage, "the skeleton is no valid JSON: a mistake at character {}", error.byte);
  } catch (const Json::exception& error) {  // a number such as 1e400
    fail(ErrorKind::usage, "the skeleton is no valid JSON: {}", json_words(error));
  }
  KERF_REQUIRE(document.is_object(), usage, "the skeleton is no JSON object");
  KERF_REQUIRE(document.contains("nodes") != document.contains("layers"), usage,
               "the skeleton should have either 'nodes' or 'layers'");
  return document;
}

/// The shape of the rows, which the document and the data may both say.
ImageShape shape_of(const Json& document, ImageShape image) {
  const ImageShape stated = stated_shape(document);
  KERF_REQUIRE(!stated.present() || !image.present() || values_of(stated) == values_of(image),
               usage, "the skeleton is for rows of {} numbers, but these have {}",
               values_of(stated), values_of(image));
  const bool flat = image.height == 1 && image.width == 1;
  const ImageShape shape = stated.present() && (!image.present() || flat) ? stated : image;
  KERF_REQUIRE(shape.present(), usage,
               "the skeleton does not say how many columns rows have: give 'columns' or 'image'");
  return shape;
}

}  // namespace

std::variant<Skeleton, LayeredSkeleton> parse_skeleton_json(const std::string& text,
                                                            ImageShape image) {
  const Json document = parse_document(text);
  const ImageShape shape = shape_of(document, image);
  if (document.contains("layers")) return LayeredSkeleton{read_layers(document), shape};
  return read_nodes(document, values_of(shape));
}

std::string load_skeleton_text(const std::string& value) {
  const auto first = value.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || value[first] == '{') return value;
  std::ifstream file(value, std::ios::binary);
  if (!file) {
    // Words of a layer never look like a path.
    KERF_REQUIRE(value.find(' ') != std::string::npos || value.find('.') == std::string::npos, data,
                 "cannot open the skeleton {}", value);
    return value;
  }
  std::string text;
  constexpr std::size_t kPiece = 1 << 20;
  // A device may go on for ever.
  while (file && text.size() < kMostBytes) {
    const std::size_t had = text.size();
    text.resize(had + kPiece);
    file.read(text.data() + had, kPiece);
    text.resize(had + static_cast<std::size_t>(file.gcount()));
  }
  KERF_REQUIRE(file.eof() && !file.bad() && text.size() < kMostBytes, data,
               "cannot read the skeleton {}", value);
  return text;
}

std::string skeleton_json(const Skeleton& skeleton) {
  using Ordered = nlohmann::ordered_json;
  Ordered nodes = Ordered::object();
  // Put behind one another without a search for the name: those of nodes are their own.
  auto& members = nodes.get_ref<Ordered::object_t&>();
  const auto& all = skeleton.nodes();
  members.reserve(all.size());
  for (const SkeletonNode& node : all) {
    Ordered& object = members.emplace_back(node.name, Ordered::object()).second;
    if (!node.is_input) {
      object["activation"] = node.activation.text();
      Ordered& in = object["in"] = Ordered::array();
      for (const Index from : node.in) in.push_back(all[from].name);
      continue;
    }
    const BaseSpace& base = node.base;
    object["space"] = name_of(base.kind);
    object["columns"] = base.columns;
    const bool scaled = base.kind == BaseKind::circle || base.kind == BaseKind::gaussian;
    if (scaled && base.factor.empty()) object["scale"] = base.scale;
    if (base.levels > 0) object["levels"] = base.levels;
    if (base.factor.empty()) continue;
    std::vector<std::vector<double>> matrix(base.factor.size());
    for (std::size_t i = 0; i < matrix.size(); ++i)
      for (std::size_t j = 0; j < matrix.size(); ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < matrix.size(); ++k)
          sum += base.factor[i][k] * base.factor[j][k];
        matrix[i].push_back(sum);
      }
    object["matrix"] = matrix;
  }
  return Ordered{{"columns", skeleton.columns()}, {"nodes", std::move(nodes)}}.dump(1);
}

}  // namespace kerf::detail
