// SPDX-License-Identifier: Apache-2.0
#include "kerf/sketch/power_sketch.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kerf/core/require.h"
#include "kerf/core/rows/matrix.h"
#include "kerf/core/system/parallel.h"
#include "kerf/sketch/sketch.h"
#include "kerf/transforms/walsh_hadamard.h"

namespace kerf::detail {
namespace {

constexpr Index kHashNonzeros = 4;

/// n_j: power j and those above it need that many coordinates.
Index chain_length(const std::vector<Index>& out_dims, std::size_t power) {
  const auto first = out_dims.begin() + static_cast<std::ptrdiff_t>(power) - 1;
  return hadamard_size(*std::max_element(first, out_dims.end()));
}

Index widest(const std::vector<Index>& out_dims) { return chain_length(out_dims, 1); }

struct Scratch {
  Matrix<float> left[2], right[2], hashed;
  std::vector<float> spread;
};

Scratch& scratch() {
  thread_local Scratch memory;
  return memory;
}

}  // namespace

bool PowerSketch::hashes(Index in_dim, const std::vector<Index>& out_dims) {
  // A power of two on the right: the same as of the padded length, which long rows have none of.
  return in_dim > 4 * std::max<Index>(1024, widest(out_dims));
}

PowerSketch::Leaf PowerSketch::make_leaf(Index length, double scale, SampledHadamard::Order order,
                                         rng::Key key) const {
  std::optional<Osnap> hash;
  if (hash_dim_ > 0) hash.emplace(in_dim_, hash_dim_, kHashNonzeros, key.child("hash"));
  return {std::move(hash), SampledHadamard(hash_dim_ > 0 ? hash_dim_ : in_dim_, length, scale,
                                           order, key.child("transform"))};
}

PowerSketch::PowerSketch(Index in_dim, std::vector<Index> out_dims, rng::Key key)
    : in_dim_(in_dim) {
  while (!out_dims.empty() && out_dims.back() == 0) out_dims.pop_back();
  KERF_REQUIRE(in_dim >= 1 && !out_dims.empty() && std::ranges::min(out_dims) >= 0, usage,
               "powers of rows of {} columns: at least one power must be wanted", in_dim);
  out_dim_ = std::accumulate(out_dims.begin(), out_dims.end(), Index{0});
  if (hashes(in_dim, out_dims)) hash_dim_ = std::max<Index>(1024, widest(out_dims));
  const Index first = out_dims[0];
  if (first > 0 && hash_dim_ > 0)
    first_hash_.emplace(in_dim, first, std::min(kHashNonzeros, first), key.child(1));
  else if (first > 0)
    first_.emplace(in_dim, first, 1 / std::sqrt(static_cast<double>(first)),
                   SampledHadamard::Order::sorted, key.child(1));
  for (std::size_t j = 2; j <= out_dims.size(); ++j) {
    const rng::Key node = key.child(j);
    Power power;
    power.dim = out_dims[j - 1];
    power.length = chain_length(out_dims, j);
    const double root = std::sqrt(static_cast<double>(power.length));
    if (power.dim > 0 && power.dim < power.length)
      power.sample = balanced_sample(power.length, power.dim, false, node.child("output"));
    if (power.dim > 0)
      power.scale = static_cast<float>(root / std::sqrt(static_cast<double>(power.dim)));
    if (j == 2)
      power.leaves.push_back(
          make_leaf(power.length, 1 / root, SampledHadamard::Order::sorted, node.child("left")));
    else
      power.lift.emplace(powers_.back().length, power.length, 1 / root,
                         SampledHadamard::Order::sorted, node.child("left"));
    power.leaves.push_back(
        make_leaf(power.length, 1, SampledHadamard::Order::shuffled, node.child("right")));
    powers_.push_back(std::move(power));
  }
}

void PowerSketch::apply(const RowsView& x, MatrixView<float> out) const {
  KERF_REQUIRE(x.cols() == in_dim_ && out.rows == x.rows() && out.cols == out_dim_, usage,
               "powers of {} rows of {} columns cannot be written to {} x {}", x.rows(), x.cols(),
               out.rows, out.cols);
  parallel_for(out.rows, 8, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) apply_row(x, i, out.row(i));
  });
}

void PowerSketch::apply_leaf(const Leaf& leaf, const RowsView& x, Index i,
                             std::span<float> out) const {
  Scratch& s = scratch();
  if (!leaf.hash) return leaf.transform.apply(dense_row(x, i, s.spread), out);
  s.hashed.resize(1, hash_dim_);
  leaf.hash->apply(x.slice(i, i + 1), s.hashed.view());
  leaf.transform.apply(s.hashed.row(0), out);
}

void PowerSketch::apply_row(const RowsView& x, Index i, std::span<float> out) const {
  Scratch& s = scratch();
  std::size_t written = 0;
  if (first_hash_) {
    written = static_cast<std::size_t>(first_hash_->out_dim());
    first_hash_->apply(x.slice(i, i + 1), {out.data(), 1, first_hash_->out_dim()});
  } else if (first_) {
    written = static_cast<std::size_t>(first_->out_dim());
    first_->apply(dense_row(x, i, s.spread), out.first(written));
  }
  for (std::size_t k = 0; k < powers_.size(); ++k) {
    const Power& power = powers_[k];
    Matrix<float>&left = s.left[k % 2], &right = s.right[k % 2];
    left.resize(1, power.length);
    right.resize(1, power.length);
    if (power.lift)
      power.lift->apply_product(s.left[(k + 1) % 2].row(0), s.right[(k + 1) % 2].row(0),
                                left.row(0));
    else
      apply_leaf(power.leaves.front(), x, i, left.row(0));
    apply_leaf(power.leaves.back(), x, i, right.row(0));
    const float *a = left.data(), *b = right.data();
    float* to = out.data() + written;
    if (power.sample.empty())
      for (Index c = 0; c < power.dim; ++c) to[c] = power.scale * (a[c] * b[c]);
    else
      for (Index c = 0; c < power.dim; ++c) {
        const std::int32_t from = power.sample[c];
        to[c] = power.scale * (a[from] * b[from]);
      }
    written += static_cast<std::size_t>(power.dim);
  }
}

double power_sketch_variance(const std::vector<Index>& out_dims, Index power, double inner,
                             bool hashes) {
  const auto dim = static_cast<double>(out_dims[power - 1]);
  const double square = inner * inner;
  double leaf_m = square, leaf_n = 1;
  if (hashes) {
    const auto hashed = static_cast<double>(std::max<Index>(1024, widest(out_dims)));
    leaf_m += (1 + square) / hashed;
    leaf_n += 2 * square / hashed;
  }
  if (power == 1) return 2 * (1 + square) / dim;
  double M = leaf_m, N = leaf_n;
  for (Index j = 2; j <= power; ++j) {
    const double m = j == power ? dim : static_cast<double>(chain_length(out_dims, j));
    const double more = m > 1 ? 1 + 1 / (m - 1) : 1;
    const double next =
        M * leaf_m +
        ((M + N) * leaf_m + (leaf_m + leaf_n) * M + more * (M + N) * (leaf_m + leaf_n)) / m;
    N *= leaf_n * (1 + (4 + 4 * more) / m);
    M = next;
  }
  return M - std::pow(inner, 2 * static_cast<double>(power));
}

}  // namespace kerf::detail
