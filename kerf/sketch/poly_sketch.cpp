// SPDX-License-Identifier: Apache-2.0
#include "kerf/sketch/poly_sketch.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"
#include "kerf/transforms/walsh_hadamard.h"

namespace kerf::detail {
namespace {

constexpr Index kMaxDegree = 256;

std::vector<Index> factor_dims(Index in_dim, Index degree) {
  KERF_REQUIRE(degree >= 1 && degree <= kMaxDegree, usage,
               "a PolySketch of degree {}: it must be between 1 and {}", degree, kMaxDegree);
  return std::vector<Index>(degree, in_dim);
}

void multiply(const float* a, const float* b, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = a[i] * b[i];
}

/// Memory that a thread keeps from call to call: asking the system for it anew costs page faults.
Matrix<float>& workspace(Index rows, Index cols) {
  thread_local Matrix<float> memory;
  memory.resize(rows, cols);
  return memory;
}

}  // namespace

/// One row's tree.  One at a time in a thread.  Leaves are set first, then inner nodes from the
/// bottom up.
class PolySketch::Tree {
 public:
  explicit Tree(const PolySketch& sketch)
      : sketch_(sketch),
        own_(workspace(2 * sketch.leaves_, sketch.out_dim())),
        lifted_(node_count()) {
    for (Index v = 1; v < 2 * sketch.leaves_; ++v) set_pad(v);
  }

  /// Leaf `leaf` takes row i of x.
  void set_leaf(Index leaf, const RowsView& x, Index i) {
    const Index v = sketch_.leaves_ + leaf;
    const std::span<float> out = own_.row(v);
    const bool is_root = v == 1;
    if (sketch_.counts_.empty()) {
      lift(v).apply(dense_row(x, i, spread_), out);
    } else {
      count_.resize(1, sketch_.out_dim());
      const auto& count = sketch_.counts_[leaf];
      count.apply(x.slice(i, i + 1),
                  is_root ? MatrixView(out.data(), 1, sketch_.out_dim()) : count_.view());
      if (!is_root) lift(v).apply(count_.row(0), out);
    }
    at(v) = out.data();
  }

  void set_pad(Index v) { at(v) = sketch_.pads_.row(v).data(); }
  void set_pad_leaf(Index leaf) { set_pad(sketch_.leaves_ + leaf); }

  /// An inner node below the root, when leaves 0 .. factors - 1 are no pads.
  void set_node(Index v, Index factors) {
    if (first_leaf(v) >= factors) return set_pad(v);
    const auto m = static_cast<std::size_t>(sketch_.out_dim());
    lift(v).apply_product({at(2 * v), m}, {at(2 * v + 1), m}, own_.row(v));
    at(v) = own_.row(v).data();
  }
  void set_all_nodes(Index factors) {
    for (Index v = sketch_.leaves_ - 1; v > 1; --v) set_node(v, factors);
  }
  /// The nodes between a leaf and the root.
  void set_nodes_above(Index leaf, Index factors) {
    for (Index v = (sketch_.leaves_ + leaf) / 2; v > 1; v /= 2) set_node(v, factors);
  }

  void copy_lifted(Matrix<float>& out) {
    for (Index v = 1; v < 2 * sketch_.leaves_; ++v)
      std::copy_n(at(v), sketch_.out_dim(), out.row(v).begin());
  }

  void write_root(std::span<float> out) {
    if (sketch_.leaves_ == 1)
      std::copy_n(at(1), out.size(), out.begin());
    else
      multiply(at(2), at(3), out);
  }

 private:
  std::size_t node_count() const { return static_cast<std::size_t>(2 * sketch_.leaves_); }
  const float*& at(Index v) { return lifted_[v]; }
  const SampledHadamard& lift(Index v) const { return sketch_.lifts_[v - 1]; }
  Index first_leaf(Index v) const {
    while (v < sketch_.leaves_) v *= 2;
    return v - sketch_.leaves_;
  }

  const PolySketch& sketch_;
  Matrix<float>& own_;                // lifted vectors that belong to this row, by node
  std::vector<const float*> lifted_;  // of each node: a row of own_, or of the sketch's pads_
  Matrix<float> count_;
  std::vector<float> spread_;
};

PolySketch::PolySketch(Index in_dim, const PolySketchOptions& options, rng::Key key)
    : TensorMap(factor_dims(in_dim, options.degree), options.out_dim),
      leaves_(static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(options.degree)))) {
  const Index m = options.out_dim;
  const bool counts = options.leaf == PolyLeaf::osnap;
  const double scale = 1 / std::sqrt(static_cast<double>(m));
  for (Index leaf = 0; counts && leaf < leaves_; ++leaf)
    counts_.emplace_back(in_dim, m, std::min(options.nonzeros, m),
                         key.child("leaf").child(static_cast<std::uint64_t>(leaf)));
  // A node's vector is a left factor, in order and carrying the scale, or a right one, shuffled.
  for (Index v = 1; v < 2 * leaves_; ++v) {
    const bool left = v % 2 == 0 || v == 1;
    lifts_.emplace_back(v >= leaves_ && !counts ? in_dim : m, m, left ? scale : 1.0,
                        left ? SampledHadamard::Order::sorted : SampledHadamard::Order::shuffled,
                        key.child("node").child(static_cast<std::uint64_t>(v)));
  }
  pads_.resize(2 * leaves_, m);
  pads_.fill(0.0f);
  std::vector<float> e1(in_dim);
  e1[0] = 1;
  const RowsView pad(MatrixView<const float>(e1.data(), 1, in_dim));
  Tree tree(*this);
  for (Index leaf = 0; leaf < leaves_; ++leaf) tree.set_leaf(leaf, pad, 0);
  tree.set_all_nodes(leaves_);
  tree.copy_lifted(pads_);
}

void PolySketch::apply_rows(std::span<const RowsView> x, Index begin, Index end,
                            MatrixView<float> out) const {
  Tree tree(*this);
  for (Index i = begin; i < end; ++i) {
    for (Index leaf = 0; leaf < degree(); ++leaf) tree.set_leaf(leaf, x[leaf], i);
    tree.set_all_nodes(degree());
    tree.write_root(out.row(i));
  }
}

void PolySketch::require_shapes(const RowsView& x, MatrixView<float> out, Index cols) const {
  KERF_REQUIRE(x.cols() == in_dim(0), usage, "rows of {} columns, but the sketch takes {}",
               x.cols(), in_dim(0));
  KERF_REQUIRE(out.rows == x.rows() && out.cols == cols, usage,
               "powers of {} rows in {} columns cannot be written to {} x {}", x.rows(), cols,
               out.rows, out.cols);
}

void PolySketch::apply_power(const RowsView& x, Index power, MatrixView<float> out) const {
  KERF_REQUIRE(power >= 0 && power <= degree(), usage, "power {} of a PolySketch of degree {}",
               power, degree());
  require_shapes(x, out, out_dim());
  parallel_for(out.rows, 8, [&](Index begin, Index end) {
    Tree tree(*this);
    for (Index i = begin; i < end; ++i) {
      for (Index leaf = 0; leaf < power; ++leaf) tree.set_leaf(leaf, x, i);
      tree.set_all_nodes(power);
      tree.write_root(out.row(i));
    }
  });
}

void PolySketch::apply_powers(const RowsView& x, MatrixView<float> out) const {
  require_shapes(x, out, (degree() + 1) * out_dim());
  const auto m = static_cast<std::size_t>(out_dim());
  parallel_for(out.rows, 8, [&](Index begin, Index end) {
    Tree tree(*this);
    for (Index i = begin; i < end; ++i) {
      for (Index leaf = 0; leaf < degree(); ++leaf) tree.set_leaf(leaf, x, i);
      tree.set_all_nodes(degree());
      for (Index power = degree();; --power) {
        tree.write_root(out.row(i).subspan(static_cast<std::size_t>(power) * m, m));
        if (power == 0) break;
        tree.set_pad_leaf(power - 1);
        tree.set_nodes_above(power - 1, power - 1);
      }
    }
  });
}

double poly_sketch_variance(Index in_dim, const PolySketchOptions& options,
                            std::span<const float> x, std::span<const float> y) {
  const auto m = static_cast<double>(options.out_dim);
  const bool counts = options.leaf == PolyLeaf::osnap;
  const auto rho = [&](Index dim) {
    const Index n = hadamard_size(dim), t = options.out_dim % n;
    return t == 0 ? 0.0 : static_cast<double>(t * (n - t)) / (m * static_cast<double>(n - 1));
  };
  const auto leaf_moments = [&](double inner, double xx, double yy) {
    double M = inner * inner, N = xx * yy;
    if (counts) {
      M += (inner * inner + xx * yy) / m;
      N += 2 * inner * inner / m;
    }
    return std::pair(M, N);
  };
  double inner = 0, xx = 0, yy = 0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    inner += double{x[j]} * double{y[j]};
    xx += double{x[j]} * double{x[j]};
    yy += double{y[j]} * double{y[j]};
  }
  const auto leaves = static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(options.degree)));
  std::vector<std::pair<double, double>> level;
  for (Index leaf = 0; leaf < leaves; ++leaf)
    level.push_back(leaf < options.degree ? leaf_moments(inner, xx, yy) : leaf_moments(1, 1, 1));
  const double power = std::pow(inner, 2 * static_cast<double>(options.degree));
  if (leaves == 1)  // the leaf's own sketch; OSNAP's ranges may differ by one in size
    return counts ? (level[0].first - power) * 2 : rho(in_dim) * (xx * yy + inner * inner) / m;
  for (bool lowest = true; level.size() > 1; lowest = false) {
    const double r = rho(lowest && !counts ? in_dim : options.out_dim);
    std::vector<std::pair<double, double>> next;
    for (std::size_t k = 0; k < level.size(); k += 2) {
      const auto [ml, nl] = level[k];
      const auto [mr, nr] = level[k + 1];
      const double more = options.out_dim > 1 ? 1 + 1 / (m - 1) : 1;
      next.emplace_back(
          ml * mr + (r * ((ml + nl) * mr + (mr + nr) * ml) + more * (ml + nl) * (mr + nr)) / m,
          nl * nr * (1 + 4 * (r + more) / m));
    }
    level = std::move(next);
  }
  return level[0].first - power;
}

}  // namespace kerf::detail
