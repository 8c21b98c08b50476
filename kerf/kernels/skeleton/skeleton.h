// Computation skeletons: kernels composed along a directed acyclic graph.
//
//   input node v   the kernel of its base space
//   inner node v   k_v(x, y) = s_v( mean over in-edges u -> v of k_u(x, y) ),   s_v: dual_series.h
//   k(x, y) = k_out(x, y), the one node without outgoing edges.  k(x, x) = 1.
//
// Base spaces, of some columns of a row (a scale, w a standard normal vector):
//   sign          sg(x) sg(y), sg(x) = 1 for x >= 0, else -1                      one column
//   circle        cos(a (x - y))                                                   one column
//   gaussian      exp(-a^2 |x - y|^2 / 2), or exp(-(x - y)^T A (x - y) / 2)        any columns
//   categorical   1 if x and y are the same class, else 0: one column of codes 0 .. n - 1 (whole
//                 parts; modulo n), or n one-hot columns (the largest; none: k = 0, k(x, x) = 0)
//   sphere        <x, y> / (|x| |y|)  (a zero row: 0)                              any columns
//
// Complexity C(S) = expected number of base factors of a random feature (features/skeleton_draw.h):
//   C(input) = 1,   C(v) = s_v'(1) times the mean of C over the in-edges.
//
// Reference:  Daniely, Frostig, Gupta, Singer, "Random features for compositional kernels", 2017,
//             section 5 and equation (11); base spaces: section 4 (the constant of categorical
//             coordinates is misprinted there).
// Differs:    rows off the sphere, and numbers that are no signs, are projected, so that k is
//             defined for every row.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "kerf/core/names.h"
#include "kerf/core/rows/matrix.h"
#include "kerf/core/rows/row_source.h"
#include "kerf/kernels/network/dual_series.h"

namespace kerf::detail {

enum class BaseKind { sign, circle, gaussian, categorical, sphere };
constexpr auto names_of(BaseKind) {
  return std::array{"sign", "circle", "gaussian", "categorical", "sphere"};
}

struct BaseSpace {
  BaseKind kind = BaseKind::circle;
  std::vector<Index> columns;
  double scale = 1;  ///< circle, gaussian
  Index levels = 0;  ///< categorical with one column: n
  /// gaussian: rows of the factor L of A = L L^T; empty: A = scale^2 I.
  std::vector<std::vector<double>> factor = {};
};

/// One node as it is given; `base` or `activation` and `in`.
struct SkeletonNode {
  std::string name;
  bool is_input = false;
  BaseSpace base = {};
  DualSeries activation = DualSeries();
  std::vector<Index> in = {};  ///< nodes with an edge into this one
};

/// A valid skeleton: acyclic, one output, every node used.
class Skeleton {
 public:
  /// Nodes in any order; Error (usage) names the node at fault: a cycle, two outputs, an inner node
  /// without inputs, an edge to nowhere, a base space that does not fit `columns`.
  Skeleton(std::vector<SkeletonNode> nodes, Index columns);

  /// Every node after its inputs; the output last.
  const std::vector<SkeletonNode>& nodes() const { return nodes_; }
  Index columns() const { return columns_; }
  const SkeletonNode& output() const { return nodes_.back(); }
  Index inputs() const { return inputs_; }
  /// Longest path from an input to the output, in edges.
  Index depth() const;
  double complexity() const;
  /// B with E |psi(x)|^2 |psi(y)|^2 <= B for a random complex feature psi; 1 unless there are
  /// spheres, infinite if their products are not square integrable.  `sphere`: the bound of |psi|^2
  /// of a sphere of d columns, over d (1/2 or 1: the two constructions).
  double second_moment(double sphere = 0.5) const;

 private:
  void check_base(const SkeletonNode& node) const;
  void sort();

  std::vector<SkeletonNode> nodes_;
  Index columns_, inputs_ = 0;
};

/// A = L L^T, lower triangular; Error (usage) unless A is symmetric positive semi-definite.
std::vector<std::vector<double>> psd_factor(const std::vector<std::vector<double>>& matrix);

}  // namespace kerf::detail
