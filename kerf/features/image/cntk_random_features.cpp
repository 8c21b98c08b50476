// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/image/cntk_random_features.h"

#include <cmath>

#include "kerf/core/require.h"
#include "kerf/features/directions/directions.h"
#include "kerf/features/image/pixel_norms.h"
#include "kerf/linalg/pointwise.h"

namespace kerf::detail {
namespace {

/// Part of the features that are b_0: where pixels are alike it holds most of the kernel.
constexpr double kConstantShare = 0.25;

/// Sizes that follow from the options.
struct Sizes {
  explicit Sizes(const CntkMapOptions& options)
      : constant(std::max<Index>(
            1, static_cast<Index>(kConstantShare * static_cast<double>(options.features)))),
        signs(std::min(options.last_filters(), options.features - constant)) {}

  /// Features of b_0, b_1, ...
  std::vector<Index> blocks(Index features) const {
    std::vector<Index> all = {constant};
    const Index rest = features - constant;
    for (Index i = 0; i < signs; ++i) all.push_back(rest / signs + (i < rest % signs ? 1 : 0));
    return all;
  }

  Index constant, signs;  // M_0 and m0
};

CntkChannels channels_of(const CntkMapOptions& options, Index image_channels) {
  return {options.network, image_channels, options.width, options.products()};
}

/// Unit filters, orthogonal in groups.
Convolution unit_filters(Index filter, Index channels, Index count, rng::Key key) {
  const Matrix<float> w = orthogonal_directions(filter * filter * channels, count, key);
  return Convolution(filter, channels, count, [&](Index j, std::span<float> to) {
    std::ranges::copy(w.row(j), to.begin());
  });
}

Convolution sign_filters(Index filter, Index channels, Index count, rng::Key key) {
  return Convolution(filter, channels, count, [&](Index j, std::span<float> to) {
    rng::fill_sign(key, static_cast<std::uint64_t>(j) * to.size(), to);
  });
}

/// The products and phi_h of every pixel get the lengths that they ought to have.
void renormalise(PixelNorms& norms, Index products, PixelMap& eta) {
  norms.advance();
  const auto count = static_cast<std::size_t>(products);
  for (Index i = 0; i < eta.height(); ++i)
    for (Index j = 0; j < eta.width(); ++j) {
      const std::span<float> all(eta.pixel(i, j), eta.channels());
      const Index pixel = i * eta.width() + j;
      set_length(all.first(count), norms.products_square(pixel));
      set_length(all.subspan(count), norms.phi_square(pixel));
    }
}

}  // namespace

CntkRandomFeatures::CntkRandomFeatures(Index in_dim, const Options& options, rng::Key key)
    : CntkMap(in_dim, options.features, options.network, kOwner), options_(options) {
  const CntkOptions& network = options.network;
  const CntkChannels channels = channels_of(options, shape_.channels);
  const auto q = static_cast<double>(network.filter);
  for (Index h = 1; h < network.depth; ++h) {
    const rng::Key own = key.child(static_cast<std::uint64_t>(h));
    const Index phi = channels.phi(h - 1);
    Layer layer;
    layer.products = channels.products(h);
    layer.constant = layer.products / 2;
    const Index signs = layer.products - layer.constant;
    layer.filters =
        unit_filters(network.filter, phi, std::max(options.width, signs), own.child("filters"));
    if (layer.products > 0)
      layer.projections = sign_filters(network.filter, channels.eta(h - 1), layer.products,
                                       own.child("projections"));
    layer.relu_scale = static_cast<float>(
        std::sqrt(2 * q * q * static_cast<double>(phi) / static_cast<double>(options.width)) / q);
    layer.constant_scale = static_cast<float>(
        std::sqrt(0.5 / static_cast<double>(std::max<Index>(1, layer.constant))) / q);
    layer.sign_scale =
        static_cast<float>(std::sqrt(0.5 / static_cast<double>(std::max<Index>(1, signs))) / q);
    layers_.push_back(std::move(layer));
  }
  const Sizes sizes(options);
  last_ =
      unit_filters(network.filter, channels.phi(network.depth - 1), sizes.signs, key.child("last"));
  output_ = std::make_unique<WindowSketch>(channels.output(shape_), sizes.blocks(options.features),
                                           key.child("output"));
}

std::unique_ptr<Kernel> CntkRandomFeatures::kernel(const Options& options) {
  return cntk_kernel(options.network);
}

double CntkRandomFeatures::relative_variance(const Options& options) {
  const Sizes sizes(options);
  const auto depth = static_cast<double>(options.network.depth);
  const double plain =
      (depth > 1 ? 2.25 : 1) * 0.5 *
          (1 / static_cast<double>(sizes.constant) +
           1 / static_cast<double>(options.features - sizes.constant)) +
      0.25 / static_cast<double>(sizes.signs) +
      (depth - 1) * 0.2 *
          (1 / static_cast<double>(options.width) + 1 / static_cast<double>(options.products()));
  return mirror_factor(options.network) * (plain + channels_of(options, 1).output_variance());
}

Index CntkRandomFeatures::bytes(Index in_dim, const Options& options) {
  const ImageShape image = cntk_image(options.network, in_dim, kOwner);
  const Index filter = options.network.filter, depth = options.network.depth;
  const Sizes sizes(options);
  const CntkChannels channels = channels_of(options, image.channels);
  Index floats = 0;
  for (Index h = 1; h <= depth; ++h) {
    const Index below = channels.eta(h - 1);
    floats +=
        Convolution::floats(filter, channels.phi(h - 1), h < depth ? options.width : sizes.signs);
    if (h < depth && below > 0) floats += Convolution::floats(filter, below, options.products());
  }
  return 4 * floats + WindowSketch::bytes(channels.output(image), sizes.signs + 1);
}

void CntkRandomFeatures::transform_image(std::span<const float> pixels, double norm,
                                         std::span<float> out) const {
  thread_local PixelMap maps[2];
  thread_local Matrix<float> factors;
  const CntkOptions& network = options_.network;
  set_pixels(pixels, maps[0]);
  PixelMap* below = &maps[0];
  PixelNorms norms(network, maps[0]);
  Index phi = 0;  // first channel of phi_{h-1} in eta_{h-1}
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    PixelMap* next = &maps[(l + 1) % 2];
    apply(layers_[l], *below, phi, *next);
    if (options_.renormalise) renormalise(norms, layers_[l].products, *next);
    phi = layers_[l].products;
    below = next;
  }
  const WindowView view = windows(*below, network.filter, centred_);
  factors.resize(view.height * view.width, output_->factors());
  const auto windows_count = static_cast<double>(factors.rows());
  const double pooled = network.pooling == Pooling::gap ? windows_count : std::sqrt(windows_count);
  const double scale = norm * std::sqrt(0.5) / (static_cast<double>(network.filter) * pooled);
  const auto sign_scale =
      static_cast<float>(1 / std::sqrt(static_cast<double>(output_->factors() - 1)));
  last_.apply(windows(*below, network.filter, centred_, phi),
              [&](Index i, Index j, std::span<float> t) {
                const std::span<float> f = factors.row(i * view.width + j);
                f[0] = 1;
                sign(t, sign_scale, f.data() + 1);
              });
  output_->apply(view, factors.view(), out);
  for (float& z : out) z = static_cast<float>(z * scale);
}

/// eta_h of eta_{h-1} = `below`, in which phi_{h-1} begins at channel `phi`.
void CntkRandomFeatures::apply(const Layer& layer, const PixelMap& below, Index phi,
                               PixelMap& next) const {
  const Index filter = options_.network.filter, width = options_.width;
  const WindowView view = windows(below, filter, centred_, phi);
  next.resize(view.height, view.width, layer.products + width, margin_);
  const auto constant = static_cast<std::size_t>(layer.constant);
  if (layer.products > 0)
    layer.projections.apply(
        windows(below, filter, centred_), [&](Index i, Index j, std::span<float> y) {
          float* to = next.pixel(i, j);
          for (std::size_t k = 0; k < y.size(); ++k)
            to[k] = y[k] * (k < constant ? layer.constant_scale : layer.sign_scale);
        });
  layer.filters.apply(view, [&](Index i, Index j, std::span<float> t) {
    float* to = next.pixel(i, j);
    for (Index k = layer.constant; k < layer.products; ++k)
      to[k] = t[k - layer.constant] > 0 ? to[k] : -to[k];
    relu(t.first(width), layer.relu_scale, to + layer.products);
  });
}

}  // namespace kerf::detail
