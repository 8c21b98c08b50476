// PolySketch as an explicit matrix acting on explicit tensor products: the oracle, in double.
//
//   Q_leaf = the leaf's sketch of each unit vector;   rows of Q_node:  (1/sqrt m)
//   (row p_i of H D_l Q_left) (x) (row r_i of H D_r Q_right)
// Draws come from the same keys as the sketch's; everything else is built from definitions.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cmath>
#include <vector>

#include "kerf/core/random/random.h"
#include "kerf/sketch/poly_sketch.h"

namespace kerf::detail::oracle {

using Rows = std::vector<std::vector<double>>;

/// scale P H D q for q (dim x columns), dim padded to a power of two.
inline Rows lifted(const Rows& q, Index m, double scale, bool shuffled, rng::Key key) {
  const Index n = static_cast<Index>(std::bit_ceil(q.size()));
  const auto sample = balanced_sample(n, m, shuffled, key.child("sample"));
  Rows out(m, std::vector<double>(q[0].size()));
  for (std::size_t i = 0; i < out.size(); ++i)
    for (std::size_t j = 0; j < q.size(); ++j) {
      const int parity = std::popcount(static_cast<std::uint64_t>(sample[i]) & j) % 2;
      const double entry = (parity == 0 ? scale : -scale) * rng::sign(key.child("sign"), j);
      for (std::size_t k = 0; k < q[0].size(); ++k) out[i][k] += entry * q[j][k];
    }
  return out;
}

/// The degree-1 map of a leaf: unit vectors for SRHT leaves (the lift is all), OSNAP otherwise.
inline Rows leaf_matrix(Index dim, const PolySketchOptions& options, Index leaf, rng::Key key) {
  if (options.leaf == PolyLeaf::srht) {
    Rows unit(dim, std::vector<double>(dim));
    for (std::size_t j = 0; j < unit.size(); ++j) unit[j][j] = 1;
    return unit;
  }
  const Osnap osnap(dim, options.out_dim, std::min(options.nonzeros, options.out_dim),
                    key.child("leaf").child(static_cast<std::uint64_t>(leaf)));
  Matrix<float> unit(dim, dim), columns(dim, options.out_dim);
  unit.fill(0.0f);
  for (Index j = 0; j < dim; ++j) unit(j, j) = 1;
  osnap.apply(unit.view(), columns.view());
  Rows q(options.out_dim, std::vector<double>(dim));
  for (Index i = 0; i < options.out_dim; ++i)
    for (Index j = 0; j < dim; ++j) q[i][j] = double{columns(j, i)};
  return q;
}

/// Q of the subtree below node v (heap numbering, `leaves` leaves): rows x dim^(leaves below v).
inline Rows poly_sketch_matrix(Index dim, const PolySketchOptions& options, rng::Key key,
                               Index leaves, Index v = 1) {
  const Index m = options.out_dim;
  const double scale = 1 / std::sqrt(static_cast<double>(m));
  const auto node_key = [&](Index node) {
    return key.child("node").child(static_cast<std::uint64_t>(node));
  };
  if (v >= leaves) {
    const Rows q = leaf_matrix(dim, options, v - leaves, key);
    const bool is_whole_srht = leaves == 1 && options.leaf == PolyLeaf::srht;
    return is_whole_srht ? lifted(q, m, scale, false, node_key(v)) : q;
  }
  const Rows left = lifted(poly_sketch_matrix(dim, options, key, leaves, 2 * v), m, scale, false,
                           node_key(2 * v));
  const Rows right = lifted(poly_sketch_matrix(dim, options, key, leaves, 2 * v + 1), m, 1, true,
                            node_key(2 * v + 1));
  Rows q(m);
  for (std::size_t i = 0; i < q.size(); ++i)
    for (const double a : left[i])
      for (const double b : right[i]) q[i].push_back(a * b);
  return q;
}

/// v_1 (x) v_2 (x) ...
inline std::vector<double> tensor_product(const std::vector<std::vector<double>>& factors) {
  std::vector<double> product = {1};
  for (const auto& factor : factors) {
    std::vector<double> next;
    next.reserve(product.size() * factor.size());
    for (const double a : product)
      for (const double b : factor) next.push_back(a * b);
    product = std::move(next);
  }
  return product;
}

}  // namespace kerf::detail::oracle
