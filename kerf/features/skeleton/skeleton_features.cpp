// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/skeleton/skeleton_features.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kerf/core/require.h"
#include "kerf/core/system/memory.h"
#include "kerf/core/system/parallel.h"
#include "kerf/features/skeleton/skeleton_simd.h"
#include "kerf/linalg/pointwise.h"

namespace kerf::detail {
namespace {

constexpr Index kTile = 64;  // columns computed before they are written: some cache lines a row

/// The rows' columns as lines: line k, position r = x(r, k); zeros behind the last row.
Matrix<float> transposed(const RowsView& x, Index stride) {
  Matrix<float> lines(x.cols(), stride);
  lines.fill(0);
  for (Index r = 0; r < x.rows(); ++r) {
    if (!x.is_sparse()) {
      const auto row = x.dense().row(r);
      for (Index k = 0; k < x.cols(); ++k) lines(k, r) = row[k];
      continue;
    }
    const SparseRow row = x.sparse().row(r);
    for (std::size_t k = 0; k < row.values.size(); ++k) lines(row.columns[k], r) = row.values[k];
  }
  return lines;
}

/// A draw walks down every layer, so that a small file of thousands of them would be at work for minutes.
Skeleton not_too_deep(Skeleton skeleton) {
  constexpr Index kMostLayers = 256;
  const Index layers = skeleton.depth();
  KERF_REQUIRE(layers <= kMostLayers, usage,
               "the skeleton has {} layers: features are drawn of at most {}", layers, kMostLayers);
  return skeleton;
}

DrawOptions draw_options(const SkeletonMapOptions& o) {
  return {o.features, o.form, o.sphere, o.deduplicate, o.hybrid};
}

}  // namespace

SkeletonFeatures::SkeletonFeatures(Index in_dim, const Options& options, rng::Key key)
    : FeatureMap(in_dim, options.features),
      skeleton_(not_too_deep(options.kernel.build(in_dim))),
      table_(draw_skeleton(skeleton_, draw_options(options), key)) {}

std::unique_ptr<Kernel> SkeletonFeatures::kernel(const Options& options) {
  return std::make_unique<SkeletonKernel>(options.kernel);
}

double SkeletonFeatures::relative_variance(const Options& options) {
  const double sphere = options.sphere == SphereForm::pair ? 0.5 : 1;
  const double moment = options.kernel.build().second_moment(sphere);
  if (options.form == RealForm::phase) return 2 * moment / static_cast<double>(options.features);
  return moment / static_cast<double>(std::max<Index>(1, options.features / 2));
}

Index SkeletonFeatures::bytes(Index in_dim, const Options& options) {
  const SkeletonSize size = options.kernel.size(in_dim);
  const double factors = 2 * std::max(1.0, size.complexity) + 2;
  // Gaussian columns of an average draw, over those of an average base factor.
  const double gaussians =
      std::max(size.gaussian, options.hybrid ? 2 * size.widest : 0) * factors / 2;
  // The nodes; the table, and the index of features while it is drawn; lines of 96 rows, of columns
  // and of atoms (at most two of an input's column).
  const double lines = static_cast<double>(in_dim) + 2 * std::max(size.nodes, size.gaussian);
  return saturated(size.bytes() +
                   static_cast<double>(options.features) * (32 + 16 * factors + 8 * gaussians) +
                   4.0 * 96 * static_cast<double>(threads()) * lines);
}

void SkeletonFeatures::fill_atom(const SkeletonAtom& atom, const Matrix<float>& columns,
                                 std::span<float> out) const {
  using Kind = SkeletonAtom::Kind;
  const BaseSpace& base = skeleton_.nodes()[atom.node].base;
  const auto value = [&](Index position, std::size_t r) {
    const Index column = base.columns[position];
    return static_cast<double>(columns(column, static_cast<Index>(r)));
  };
  const auto size = static_cast<Index>(base.columns.size());
  for (std::size_t r = 0; r < out.size(); ++r) {
    double result = 0;
    if (atom.kind == Kind::circle) {
      // Less its whole turns, in double: exact for integer multiples of any size.
      result = base.scale * value(0, r) / (2 * std::numbers::pi);
      result -= std::round(result);
    } else if (atom.kind == Kind::sign) {
      result = value(0, r) >= 0 ? 1 : -1;
    } else if (base.kind == BaseKind::categorical) {
      Index best = 0;
      for (Index k = 1; k < size; ++k)
        if (value(k, r) > value(best, r)) best = k;
      const double code = size > 1 ? static_cast<double>(best) : std::floor(value(0, r));
      const auto levels = static_cast<double>(size > 1 ? size : base.levels);
      result = std::fmod(code, levels) / levels;
      if (atom.kind == Kind::sphere_radius) result = value(best, r) > 0 ? 1 : 0;
    } else {
      double largest = 0, norm = 0;
      for (Index k = 0; k < size; ++k) largest = std::max(largest, std::abs(value(k, r)));
      if (largest > 0)
        for (Index k = 0; k < size; ++k) norm += std::pow(value(k, r) / largest, 2);
      const double factor = largest > 0 ? 1 / (largest * std::sqrt(norm)) : 0;
      const double a = value(atom.position, r) * factor,
                   b = value((atom.position + 1) % size, r) * factor;
      if (atom.kind == Kind::sphere_coordinate)
        result = std::sqrt(static_cast<double>(size)) * a;
      else if (atom.kind == Kind::sphere_radius)
        result = std::sqrt(static_cast<double>(size) / 2) * std::hypot(a, b);
      else
        result = std::atan2(b, a) / (2 * std::numbers::pi);
    }
    out[r] = static_cast<float>(result);
  }
}

void SkeletonFeatures::fill_lines(const Matrix<float>& columns, Index stride, float* atoms,
                                  float* numbers) const {
  std::size_t phases = 0;
  const auto length = static_cast<std::size_t>(stride);
  for (std::size_t a = 0; a < table_.atoms.size(); ++a) {
    fill_atom(table_.atoms[a], columns, {atoms + a * length, length});
    if (table_.atoms[a].is_phase()) ++phases;
  }
  if (numbers == nullptr) return;
  std::copy_n(columns.data(), columns.rows() * stride, numbers);
  float* cosines = numbers + columns.rows() * stride;
  sincos_turns({atoms, phases * length}, 1, cosines, cosines + phases * length);
}

void SkeletonFeatures::transform_rows(const RowsView& x, MatrixView<float> out) const {
  const Index stride = (x.rows() + kSkeletonLanes - 1) / kSkeletonLanes * kSkeletonLanes;
  const Matrix<float> columns = transposed(x, stride);
  const auto atom_count = static_cast<Index>(table_.atoms.size());
  Matrix<float> atoms(std::max<Index>(1, atom_count), stride), numbers;
  const bool gaussian = !table_.number.empty();
  if (gaussian) numbers.resize(columns.rows() + 2 * atom_count, stride);
  fill_lines(columns, stride, atoms.data(), gaussian ? numbers.data() : nullptr);
  Matrix<float> tile(kTile, stride);
  const Index drawn = table_.columns();
  for (Index begin = 0; begin < drawn; begin += kTile) {
    const Index end = std::min(begin + kTile, drawn);
    skeleton_columns(table_, begin, end, atoms.data(), numbers.data(), stride, tile.data());
    for (Index r = 0; r < x.rows(); ++r) {
      float* to = out.row(r).data() + begin;
      for (Index j = 0; j < end - begin; ++j) to[j] = tile(j, r);
    }
  }
  for (Index r = 0; r < x.rows(); ++r)
    std::fill(out.row(r).begin() + drawn, out.row(r).end(), 0.0f);
}

}  // namespace kerf::detail
