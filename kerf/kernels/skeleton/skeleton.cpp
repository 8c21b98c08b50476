// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/skeleton/skeleton.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kerf/core/require.h"

namespace kerf::detail {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

Skeleton::Skeleton(std::vector<SkeletonNode> nodes, Index columns)
    : nodes_(std::move(nodes)), columns_(columns) {
  KERF_REQUIRE(!nodes_.empty(), usage, "the skeleton has no nodes");
  for (const SkeletonNode& node : nodes_) {
    if (node.is_input) {
      check_base(node);
      KERF_REQUIRE(node.in.empty(), usage, "the input node '{}' has an edge into it", node.name);
      ++inputs_;
      continue;
    }
    KERF_REQUIRE(!node.in.empty(), usage, "the node '{}' has no inputs", node.name);
    for (const Index from : node.in)
      KERF_REQUIRE(from >= 0 && from < static_cast<Index>(nodes_.size()), usage,
                   "the node '{}' has an edge from a node that does not exist", node.name);
  }
  sort();
}

void Skeleton::check_base(const SkeletonNode& node) const {
  const BaseSpace& base = node.base;
  const char* kind = name_of(base.kind);
  KERF_REQUIRE(!base.columns.empty(), usage, "the input node '{}' has no columns", node.name);
  for (const Index column : base.columns)
    KERF_REQUIRE(column >= 0 && column < columns_, usage,
                 "the input node '{}' takes column {}, but rows have {} (counted from 0)",
                 node.name, column, columns_);
  const bool single = base.kind == BaseKind::sign || base.kind == BaseKind::circle;
  KERF_REQUIRE(!single || base.columns.size() == 1, usage,
               "the input node '{}' is a {}: it has one column, not {}", node.name, kind,
               base.columns.size());
  KERF_REQUIRE(base.kind != BaseKind::categorical || base.columns.size() > 1 || base.levels >= 1,
               usage, "the input node '{}' needs its number of levels", node.name);
  KERF_REQUIRE(base.scale > 0 && std::isfinite(base.scale), usage,
               "the input node '{}' has the scale {}: it must be above 0", node.name, base.scale);
  KERF_REQUIRE(base.factor.empty() || base.factor.size() == base.columns.size(), usage,
               "the matrix of the input node '{}' is of {} columns, the node of {}", node.name,
               base.factor.size(), base.columns.size());
}

/// Puts every node after its inputs (depth first from the output, so that the output is last).
void Skeleton::sort() {
  std::vector<bool> used(nodes_.size(), false);
  for (const SkeletonNode& node : nodes_)
    for (const Index from : node.in) used[at(from)] = true;
  Index output = -1;
  for (std::size_t v = 0; v < nodes_.size(); ++v) {
    if (used[v]) continue;
    KERF_REQUIRE(output < 0, usage,
                 "the skeleton has two outputs, '{}' and '{}': exactly one node must have no edge "
                 "out of it",
                 nodes_[at(output)].name, nodes_[v].name);
    output = static_cast<Index>(v);
  }
  KERF_REQUIRE(output >= 0, usage, "the skeleton has no output: every node is part of a cycle");
  enum class Mark { none, open, done };
  std::vector<Mark> marks(nodes_.size(), Mark::none);
  std::vector<Index> order, place(nodes_.size(), -1);
  struct Visit {
    Index node;
    std::size_t next;
  };
  std::vector<Visit> stack = {{output, 0}};
  marks[at(output)] = Mark::open;
  while (!stack.empty()) {
    Visit& visit = stack.back();
    const SkeletonNode& node = nodes_[at(visit.node)];
    if (visit.next == node.in.size()) {
      marks[at(visit.node)] = Mark::done;
      place[at(visit.node)] = static_cast<Index>(order.size());
      order.push_back(visit.node);
      stack.pop_back();
      continue;
    }
    const Index from = node.in[visit.next++];
    KERF_REQUIRE(marks[at(from)] != Mark::open, usage,
                 "the skeleton has a cycle through the node '{}'", nodes_[at(from)].name);
    if (marks[at(from)] == Mark::none) {
      marks[at(from)] = Mark::open;
      stack.push_back({from, 0});
    }
  }
  // A node that the output does not reach leads nowhere but into a cycle.
  for (std::size_t v = 0; v < nodes_.size(); ++v)
    KERF_REQUIRE(marks[v] == Mark::done, usage,
                 "the node '{}' does not reach the output: it is unreachable from there, or part "
                 "of a cycle",
                 nodes_[v].name);
  std::vector<SkeletonNode> sorted;
  for (const Index v : order) {
    sorted.push_back(std::move(nodes_[at(v)]));
    for (Index& from : sorted.back().in) from = place[at(from)];
  }
  nodes_ = std::move(sorted);
}

Index Skeleton::depth() const {
  std::vector<Index> depth(nodes_.size(), 0);
  for (std::size_t v = 0; v < nodes_.size(); ++v)
    for (const Index from : nodes_[v].in) depth[v] = std::max(depth[v], depth[at(from)] + 1);
  return depth.back();
}

double Skeleton::complexity() const {
  std::vector<double> cost(nodes_.size(), 1.0);
  for (std::size_t v = 0; v < nodes_.size(); ++v) {
    const SkeletonNode& node = nodes_[v];
    if (node.is_input) continue;
    double sum = 0;
    for (const Index from : node.in) sum += cost[at(from)];
    cost[v] = node.activation.mean_degree() * sum / static_cast<double>(node.in.size());
  }
  return cost.back();
}

double Skeleton::second_moment(double sphere) const {
  std::vector<double> moment(nodes_.size(), 1.0);
  for (std::size_t v = 0; v < nodes_.size(); ++v) {
    const SkeletonNode& node = nodes_[v];
    if (node.is_input) {
      // |psi(x)|^2 <= sphere d and E |psi(y)|^2 = 1.
      if (node.base.kind == BaseKind::sphere)
        moment[v] = std::max(1.0, sphere * static_cast<double>(node.base.columns.size()));
      continue;
    }
    double sum = 0;
    for (const Index from : node.in) sum += moment[at(from)];
    moment[v] = node.activation.beyond_one(sum / static_cast<double>(node.in.size()));
  }
  return moment.back();
}

std::vector<std::vector<double>> psd_factor(const std::vector<std::vector<double>>& matrix) {
  const std::size_t n = matrix.size();
  double largest = 0;
  for (const auto& row : matrix) {
    KERF_REQUIRE(row.size() == n, usage, "the matrix of a gaussian base is not square");
    for (const double value : row) {
      KERF_REQUIRE(std::isfinite(value), usage, "the matrix of a gaussian base is not finite");
      largest = std::max(largest, std::abs(value));
    }
  }
  const double tolerance = 1e-10 * largest;
  std::vector<std::vector<double>> factor(n, std::vector<double>(n, 0.0));
  for (std::size_t j = 0; j < n; ++j) {
    double pivot = matrix[j][j];
    for (std::size_t k = 0; k < j; ++k) pivot -= factor[j][k] * factor[j][k];
    KERF_REQUIRE(pivot >= -tolerance, usage,
                 "the matrix of a gaussian base is not positive semi-definite");
    const double root = pivot > tolerance ? std::sqrt(pivot) : 0;
    factor[j][j] = root;
    for (std::size_t i = j + 1; i < n; ++i) {
      KERF_REQUIRE(std::abs(matrix[i][j] - matrix[j][i]) <= tolerance, usage,
                   "the matrix of a gaussian base is not symmetric");
      double rest = matrix[i][j];
      for (std::size_t k = 0; k < j; ++k) rest -= factor[i][k] * factor[j][k];
      KERF_REQUIRE(root > 0 || std::abs(rest) <= 1e-5 * largest, usage,
                   "the matrix of a gaussian base is not positive semi-definite");
      factor[i][j] = root > 0 ? rest / root : 0;
    }
  }
  return factor;
}

}  // namespace kerf::detail
