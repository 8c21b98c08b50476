// SPDX-License-Identifier: Apache-2.0
#include "kerf/insight/pages/skeleton_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "kerf/insight/pages/html.h"

namespace kerf::detail {
namespace {

using Levels = std::vector<std::vector<Index>>;

Levels levels_of(const Skeleton& skeleton) {
  const auto& nodes = skeleton.nodes();
  std::vector<std::size_t> level(nodes.size(), 0);
  Levels levels(static_cast<std::size_t>(skeleton.depth()) + 1);
  for (std::size_t v = 0; v < nodes.size(); ++v) {
    for (const Index from : nodes[v].in) level[v] = std::max(level[v], level[from] + 1);
    levels[level[v]].push_back(static_cast<Index>(v));
  }
  return levels;
}

std::string kind_of(const SkeletonNode& node) {
  if (!node.is_input) return fmt::format("{} of {}", node.activation.text(), node.in.size());
  const BaseSpace& base = node.base;
  std::string text = name_of(base.kind);
  if (!base.factor.empty())
    text += " with a matrix";
  else if (base.kind == BaseKind::circle || base.kind == BaseKind::gaussian)
    text += fmt::format(" {}", base.scale);
  if (base.columns.size() > 1) text += fmt::format(" of {} columns", base.columns.size());
  if (base.levels > 0) text += fmt::format(" of {} levels", base.levels);
  return text;
}

/// "100 nodes: exp 0.25 of 75"; several kinds with how many there are of each.
std::string summary_of(const Skeleton& skeleton, const std::vector<Index>& level) {
  std::map<std::string, Index> kinds;
  for (const Index v : level) ++kinds[kind_of(skeleton.nodes()[v])];
  std::vector<std::string> parts;
  for (const auto& [kind, count] : kinds)
    parts.push_back(kinds.size() == 1 ? kind : fmt::format("{} {}", count, kind));
  constexpr std::size_t kMost = 6;
  if (parts.size() > kMost) {
    parts.resize(kMost);
    parts.push_back(fmt::format("{} kinds more", kinds.size() - kMost));
  }
  return fmt::format("{} node{}: {}", level.size(), level.size() == 1 ? "" : "s",
                     fmt::join(parts, "; "));
}

}  // namespace

std::string skeleton_outline(const Skeleton& skeleton) {
  const Levels levels = levels_of(skeleton);
  std::string text;
  for (std::size_t k = levels.size(); k > 0; --k)
    text += fmt::format("{:>8}  {}\n",
                        k == levels.size() ? "output"
                        : k == 1           ? "inputs"
                                           : fmt::format("level {}", k - 1),
                        summary_of(skeleton, levels[k - 1]));
  Index edges = 0;
  for (const SkeletonNode& node : skeleton.nodes()) edges += static_cast<Index>(node.in.size());
  return text +
         fmt::format("{} columns, {} nodes, {} edges; C(S) = {:.6g} base factors a feature\n",
                     skeleton.columns(), skeleton.nodes().size(), edges, skeleton.complexity());
}

std::string skeleton_svg(const Skeleton& skeleton, Index most) {
  const Levels levels = levels_of(skeleton);
  const double width = 900, step = 110, margin = 40;
  const double height = step * static_cast<double>(levels.size() - 1) + 2 * margin + 20;
  std::map<Index, std::pair<double, double>> place;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const auto count = static_cast<Index>(levels[k].size());
    const Index drawn = std::min(count, most);
    for (Index i = 0; i < drawn; ++i)
      place[levels[k][i * count / drawn]] = {
          (static_cast<double>(i) + 0.5) * width / static_cast<double>(drawn),
          height - margin - step * static_cast<double>(k)};
  }
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" "
      "font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, height);
  for (const auto& [v, at] : place)
    for (const Index from : skeleton.nodes()[v].in) {
      const auto below = place.find(from);
      if (below == place.end()) continue;
      svg += fmt::format(
          "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#4c78a8\" "
          "stroke-opacity=\"0.35\"/>\n",
          below->second.first, below->second.second, at.first, at.second);
    }
  for (const auto& [v, at] : place) {
    const SkeletonNode& node = skeleton.nodes()[v];
    svg += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\"><title>{}: {}</title></circle>\n",
        at.first, at.second, 5, node.is_input ? "#54a24b" : "#f58518", html::escape(node.name),
        html::escape(kind_of(node)));
  }
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const auto count = static_cast<Index>(levels[k].size());
    const std::string note = count > most ? fmt::format(" ({} drawn)", most) : "";
    svg += fmt::format("<text x=\"8\" y=\"{:.1f}\" fill=\"#333\">{}{}</text>\n",
                       height - margin - step * static_cast<double>(k) + (k == 0 ? 24 : -12),
                       html::escape(summary_of(skeleton, levels[k])), note);
  }
  return svg + "</svg>\n";
}

}  // namespace kerf::detail
