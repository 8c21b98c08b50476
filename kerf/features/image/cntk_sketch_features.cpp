// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/image/cntk_sketch_features.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kerf/kernels/network/arc_cosine.h"
#include "kerf/linalg/pointwise.h"
#include "kerf/transforms/walsh_hadamard.h"

namespace kerf::detail {
namespace {

CntkChannels channels_of(const CntkSketchOptions& options, Index image_channels) {
  return {options.network, image_channels, options.m1, options.ms};
}

/// Coordinates of the rotated e_L that are used.
Index factor_count(const CntkSketchOptions& options) {
  return std::min(hadamard_size(options.m0), options.features);
}

std::vector<Index> equal_parts(Index total, Index parts) {
  std::vector<Index> sizes;
  for (Index i = 0; i < parts; ++i) sizes.push_back(total / parts + (i < total % parts ? 1 : 0));
  return sizes;
}

/// The windows of line i of a view, one in a row of `out`.
void gather_line(const WindowView& view, Index filter, Index channels, Index i,
                 Matrix<float>& out) {
  out.resize(view.width, filter * filter * channels);
  for (Index j = 0; j < view.width; ++j) {
    const float* from = view.window(i, j);
    float* to = out.row(j).data();
    for (Index a = 0; a < filter; ++a)
      for (Index b = 0; b < filter; ++b, to += channels)
        std::copy_n(from + a * view.line_stride + b * view.pixel_stride, channels, to);
  }
}

void to_unit_length(Matrix<float>& rows) {
  for (Index j = 0; j < rows.rows(); ++j) set_length(rows.row(j), 1);
}

Index smallest(const CntkSketchOptions& options) {
  return std::min({options.m1, options.m0, options.ms, options.features});
}

}  // namespace

CntkSketchFeatures::CntkSketchFeatures(Index in_dim, const Options& options, rng::Key key)
    : CntkMap(in_dim, options.features, options.network, kOwner), options_(options) {
  const CntkOptions& network = options.network;
  const CntkChannels channels = channels_of(options, shape_.channels);
  const Index area = network.filter * network.filter;
  const auto covariance = truncated_series(1, options.degree, options.m1);
  const auto derivative = truncated_series(0, options.step_degree, options.m0);
  for (Index h = 1; h < network.depth; ++h) {
    const rng::Key own = key.child(static_cast<std::uint64_t>(h));
    const Index phi = area * channels.phi(h - 1), psi = area * channels.eta(h - 1);
    Layer& layer = layers_.emplace_back();
    layer.covariance.emplace(phi, covariance, options.m1, options.powers, own.child("covariance"));
    if (psi == 0) continue;
    layer.derivative.emplace(phi, derivative, options.m0, options.powers, own.child("derivative"));
    layer.product.emplace(options.m0, psi, options.ms, own.child("product"));
  }
  last_.emplace(area * channels.phi(network.depth - 1), derivative, options.m0, options.powers,
                key.child("last"));
  const Index factors = factor_count(options);
  rotate_ = std::make_unique<SampledHadamard>(options.m0, factors,
                                              1 / std::sqrt(static_cast<double>(factors)),
                                              SampledHadamard::Order::sorted, key.child("rotate"));
  output_ = std::make_unique<WindowSketch>(
      channels.output(shape_), equal_parts(options.features, factors), key.child("output"));
}

std::unique_ptr<Kernel> CntkSketchFeatures::kernel(const Options& options) {
  return cntk_kernel(options.network);
}

double CntkSketchFeatures::relative_variance(const Options& options) {
  const auto depth = static_cast<double>(options.network.depth);
  const double plain =
      (options.renormalise ? 5 + depth / 2 : 8 * depth) / static_cast<double>(smallest(options));
  return mirror_factor(options.network) * (plain + channels_of(options, 1).output_variance());
}

double CntkSketchFeatures::relative_bias(const Options& options) {
  const auto covariance = truncated_series(1, options.degree, options.m1);
  const auto derivative = truncated_series(0, options.step_degree, options.m0);
  const auto depth = static_cast<double>(options.network.depth);
  double largest = 0;
  constexpr int kGrid = 2000;
  for (int g = 0; g <= kGrid; ++g) {
    Cosine exact = Cosine::of(std::cos(std::numbers::pi * g / kGrid));
    double cosine = exact.value, ours = exact.value, theirs = exact.value;
    for (Index h = 0; h < options.network.depth; ++h) {
      ours = ours * series_value(derivative, cosine) + series_value(covariance, cosine);
      theirs = theirs * kappa0(exact) + kappa1(exact).value;
      cosine = series_value(covariance, cosine);
      exact = kappa1(exact);
    }
    largest = std::max(largest, std::abs(ours - theirs));
  }
  return std::sqrt(mirror_factor(options.network)) *
         (largest / depth +
          (options.renormalise ? 2 : 8) * depth / static_cast<double>(smallest(options)));
}

Index CntkSketchFeatures::bytes(Index in_dim, const Options& options) {
  const ImageShape image = cntk_image(options.network, in_dim, kOwner);
  const Index area = options.network.filter * options.network.filter;
  const Index widest = area * std::max(image.channels, options.m1 + options.ms);
  const Index transforms = 4 * (options.degree + options.step_degree + 4);
  return options.network.depth * transforms * 12 * widest +
         WindowSketch::bytes(channels_of(options, image.channels).output(image),
                             factor_count(options));
}

void CntkSketchFeatures::transform_image(std::span<const float> pixels, double norm,
                                         std::span<float> out) const {
  thread_local PixelMap maps[2];
  thread_local Matrix<float> factors;
  const CntkOptions& network = options_.network;
  set_pixels(pixels, maps[0]);
  PixelMap* below = &maps[0];
  PixelNorms norms(network, *below);
  Index phi = 0;  // first channel of phi_{h-1} in eta_{h-1}
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    PixelMap* next = &maps[(l + 1) % 2];
    norms.advance();
    apply(layers_[l], *below, phi, norms, *next);
    phi = layers_[l].product ? options_.ms : 0;
    below = next;
  }
  last_factors(*below, phi, factors);
  output_->apply(windows(*below, network.filter, centred_), factors.view(), out);
  const auto count = static_cast<double>(factors.rows());
  const double scale = norm / (static_cast<double>(network.filter) *
                               (network.pooling == Pooling::gap ? count : std::sqrt(count)));
  for (float& z : out) z = static_cast<float>(z * scale);
}

/// eta_h of eta_{h-1} = `below`, in which phi_{h-1} begins at channel `phi`; norms of layer h.
void CntkSketchFeatures::apply(const Layer& layer, const PixelMap& below, Index phi,
                               const PixelNorms& norms, PixelMap& next) const {
  thread_local Matrix<float> mu, psi, covariance, derivative, product;
  const Index filter = options_.network.filter;
  const WindowView phi_view = windows(below, filter, centred_, phi);
  const WindowView psi_view = windows(below, filter, centred_);
  const Index products = layer.product ? options_.ms : 0;
  next.resize(phi_view.height, phi_view.width, products + options_.m1, margin_);
  covariance.resize(phi_view.width, options_.m1);
  derivative.resize(phi_view.width, options_.m0);
  product.resize(phi_view.width, options_.ms);
  for (Index i = 0; i < phi_view.height; ++i) {
    gather_line(phi_view, filter, below.channels() - phi, i, mu);
    to_unit_length(mu);
    layer.covariance->apply(mu.view(), covariance.view());
    if (options_.renormalise) to_unit_length(covariance);
    if (layer.product) {
      layer.derivative->apply(mu.view(), derivative.view());
      if (options_.renormalise) to_unit_length(derivative);
      gather_line(psi_view, filter, below.channels(), i, psi);
      const RowsView both[] = {derivative.view(), psi.view()};
      layer.product->apply(both, product.view());
    }
    for (Index j = 0; j < next.width(); ++j) {
      const Index pixel = i * next.width() + j;
      const std::span<float> to(next.pixel(i, j), next.channels());
      const auto phi_length = static_cast<float>(std::sqrt(norms.phi_square(pixel)));
      for (Index k = 0; k < options_.m1; ++k) to[products + k] = phi_length * covariance(j, k);
      if (!layer.product) continue;
      for (Index k = 0; k < products; ++k) to[k] = product(j, k) / static_cast<float>(filter);
      if (options_.renormalise) set_length(to.first(products), norms.products_square(pixel));
    }
  }
}

/// e_L of every pixel, rotated.
void CntkSketchFeatures::last_factors(const PixelMap& below, Index phi,
                                      Matrix<float>& factors) const {
  thread_local Matrix<float> mu, derivative;
  const Index filter = options_.network.filter;
  const WindowView view = windows(below, filter, centred_, phi);
  factors.resize(view.height * view.width, output_->factors());
  derivative.resize(view.width, options_.m0);
  for (Index i = 0; i < view.height; ++i) {
    gather_line(view, filter, below.channels() - phi, i, mu);
    to_unit_length(mu);
    last_->apply(mu.view(), derivative.view());
    if (options_.renormalise) to_unit_length(derivative);
    for (Index j = 0; j < view.width; ++j)
      rotate_->apply(derivative.row(j), factors.row(i * view.width + j));
  }
}

}  // namespace kerf::detail
