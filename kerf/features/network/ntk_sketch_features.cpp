// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/network/ntk_sketch_features.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kerf/features/unit_rows.h"
#include "kerf/linalg/pointwise.h"

namespace kerf::detail {
namespace {

constexpr Index kBlockRows = 8;  // of one layer's work, which is wide where degrees are many

struct Sizes {
  Index m1, m0, ms;
};

Sizes sizes_of(const NtkSketchOptions& options) {
  const auto or_features = [&](Index m) { return m > 0 ? m : options.features; };
  return {or_features(options.m1), or_features(options.m0), or_features(options.ms)};
}

Index least(const NtkSketchOptions& options) {
  const Sizes size = sizes_of(options);
  return std::min({size.m1, size.m0, size.ms, options.features});
}

/// Every row to the given length; a zero row stays.
void scale_rows(MatrixView<float> x, double length) {
  for (Index i = 0; i < x.rows; ++i) {
    const double square = squared_norm(x.row(i));
    const auto factor = static_cast<float>(square > 0 ? length / std::sqrt(square) : 0);
    for (float& v : x.row(i)) v *= factor;
  }
}

}  // namespace

NtkSketchFeatures::NtkSketchFeatures(Index in_dim, const Options& options, rng::Key key)
    : FeatureMap(in_dim, options.features),
      bias_(resolved(options.bias, kOwner, "bias")),
      renormalise_(options.renormalise) {
  const Sizes size = sizes_of(options);
  const auto covariance = truncated_series(1, options.degree, size.m1);
  const auto derivative = truncated_series(0, options.step_degree, size.m0);
  Index phi = direction_dim(in_dim, bias_), psi = phi;
  for (Index l = 1; l <= options.depth; ++l) {
    const rng::Key layer = key.child(static_cast<std::uint64_t>(l));
    const Index out = l == options.depth ? options.features : size.ms;
    layers_.push_back(
        {TaylorMap(phi, covariance, size.m1, options.powers, layer.child("covariance")),
         TaylorMap(phi, derivative, size.m0, options.powers, layer.child("derivative")),
         TensorSrht(size.m0, psi, size.ms, layer.child("product")),
         Srht(size.ms + size.m1, out, layer.child("compress"))});
    phi = size.m1;
    psi = out;
  }
}

std::unique_ptr<Kernel> NtkSketchFeatures::kernel(const Options& options) {
  return find_kernel(NtkKernel::kName)
      .make(write_options(NtkOptions{options.depth, options.bias, {}}));
}

double NtkSketchFeatures::relative_variance(const Options& options) {
  const auto depth = static_cast<double>(options.depth);
  const double own = options.powers == PowersKind::chain ? 1 : 3;
  return (options.renormalise ? own + depth / 2 : 8 * depth) / static_cast<double>(least(options));
}

double NtkSketchFeatures::relative_bias(const Options& options) {
  const Sizes size = sizes_of(options);
  const auto covariance = truncated_series(1, options.degree, size.m1);
  const auto derivative = truncated_series(0, options.step_degree, size.m0);
  double largest = 0;
  constexpr int kGrid = 2000;
  for (int g = 0; g <= kGrid; ++g) {
    const double a = std::cos(std::numbers::pi * g / kGrid);
    double nngp = a, ntk = a;
    for (Index l = 0; l < options.depth; ++l) {
      const double slope = series_value(derivative, nngp);
      nngp = series_value(covariance, nngp);
      ntk = ntk * slope + nngp;
    }
    largest = std::max(largest, std::abs(ntk - ntk_of_cosine(Cosine::of(a), options.depth)));
  }
  const auto depth = static_cast<double>(options.depth);
  return largest / (depth + 1) +
         (options.renormalise ? 2 + depth : 8 * depth) / static_cast<double>(least(options));
}

Index NtkSketchFeatures::bytes(Index in_dim, const Options& options) {
  const Sizes size = sizes_of(options);
  const Index widest = std::max({in_dim + 1, size.m1, size.m0, size.ms, options.features});
  const Index transforms = 4 * (options.degree + options.step_degree + 4);
  return options.depth * transforms * 12 * widest;
}

void NtkSketchFeatures::apply(const Layer& layer, const RowsView& phi, const RowsView& psi,
                              MatrixView<float> next, MatrixView<float> out) const {
  thread_local Matrix<float> derivative, both;
  const Index m1 = layer.covariance.out_dim(), ms = layer.product.out_dim();
  layer.covariance.apply(phi, next);
  derivative.resize(out.rows, layer.derivative.out_dim());
  layer.derivative.apply(phi, derivative.view());
  if (renormalise_) {
    scale_rows(next, 1);
    scale_rows(derivative.view(), 1);
  }
  both.resize(out.rows, ms + m1);
  const RowsView factors[] = {derivative.view(), psi};
  layer.product.apply(factors, {both.data(), out.rows, ms, ms + m1});
  for (Index i = 0; i < out.rows; ++i) std::ranges::copy(next.row(i), both.row(i).begin() + ms);
  layer.compress.apply(both.view(), out);
}

void NtkSketchFeatures::transform_rows(const RowsView& x, MatrixView<float> out) const {
  thread_local UnitRows unit;
  thread_local Matrix<float> phis[2], psis[2];
  for (Index begin = 0; begin < x.rows(); begin += kBlockRows) {
    const Index end = std::min(begin + kBlockRows, x.rows()), rows = end - begin;
    const MatrixView<float> block = out.slice(begin, end);
    unit.assign(x.slice(begin, end), bias_);
    RowsView phi = unit.view(), psi = phi;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      phis[l % 2].resize(rows, layers_[l].covariance.out_dim());
      MatrixView<float> target = block;
      if (l + 1 < layers_.size()) {
        psis[l % 2].resize(rows, layers_[l].compress.out_dim());
        target = psis[l % 2].view();
      }
      apply(layers_[l], phi, psi, phis[l % 2].view(), target);
      if (renormalise_) scale_rows(target, std::sqrt(static_cast<double>(l + 2)));
      phi = phis[l % 2].view();
      psi = target;
    }
    for (Index i = 0; i < rows; ++i)
      for (float& z : block.row(i)) z *= static_cast<float>(unit.norm(i));
  }
}

}  // namespace kerf::detail
