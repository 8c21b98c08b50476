// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/image/cntk_gradient_features.h"

#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/linalg/pointwise.h"

namespace kerf::detail {
namespace {

/// Parameters that are trained.
Index parameters(const CntkOptions& network, Index channels, Index width) {
  const Index area = network.filter * network.filter;
  return (network.depth - 1) * area * width * width +
         (network.train_first_layer ? area * channels * width : 0);
}

/// Pixels of a side after `layers` convolutions.
Index side(const CntkOptions& network, Index pixels, Index layers) {
  return network.padding == Padding::same ? pixels : pixels - layers * (network.filter - 1);
}

/// What a thread keeps of an image between the passes.
struct Activity {
  std::vector<PixelMap> values;       // h_0 .. h_{L-1}
  std::vector<Matrix<float>> slopes;  // sqrt(2/w) / q [t_l > 0], a row for each pixel
  Matrix<float> delta[2], gradient;
  PixelMap spread;
};

Activity& activity() {
  thread_local Activity memory;
  return memory;
}

}  // namespace

Index CntkGradientFeatures::width(Index in_dim, const Options& options) {
  const ImageShape image = cntk_image(options.network, in_dim, kOwner);
  const Index least = parameters(options.network, image.channels, 1);
  KERF_REQUIRE(least <= options.features, usage,
               "{}: a network of one channel, depth {} and filters of {} pixels has {} parameters, "
               "but {} is {}",
               kOwner, options.network.depth, options.network.filter, least, spell("features"),
               options.features);
  Index width = 1;
  while (parameters(options.network, image.channels, width + 1) <= options.features) ++width;
  return width;
}

CntkGradientFeatures::CntkGradientFeatures(Index in_dim, const Options& options, rng::Key key)
    : CntkMap(in_dim, options.features, options.network, kOwner),
      options_(options),
      width_(width(in_dim, options)) {
  const Index filter = options.network.filter, area = filter * filter;
  const auto w = static_cast<std::size_t>(width_);
  for (Index l = 1; l <= options.network.depth; ++l) {
    const rng::Key layer = key.child(static_cast<std::uint64_t>(l));
    const Index channels = l == 1 ? shape_.channels : width_;
    forward_.emplace_back(filter, channels, width_, [&](Index j, std::span<float> to) {
      rng::fill_normal(layer, static_cast<std::uint64_t>(j) * to.size(), to);
    });
    if (l == 1) continue;
    // Channel c of the output: W_l(i, o, c) for all i, offsets in reverse order.
    backward_.emplace_back(filter, width_, width_, [&](Index c, std::span<float> to) {
      for (std::size_t o = 0; o < static_cast<std::size_t>(area); ++o)
        for (std::size_t i = 0; i < w; ++i) {
          const std::size_t from = (i * static_cast<std::size_t>(area) + o) * w;
          to[(static_cast<std::size_t>(area) - 1 - o) * w + i] =
              static_cast<float>(rng::normal(layer, from + static_cast<std::size_t>(c)));
        }
    });
  }
  const CntkOptions& network = options.network;
  const Index pixels =
      side(network, shape_.height, network.depth) * side(network, shape_.width, network.depth);
  last_.resize(w * (network.pooling == Pooling::none ? static_cast<std::size_t>(pixels) : 1));
  rng::fill_normal(key.child("v"), 0, std::span(last_));
}

std::unique_ptr<Kernel> CntkGradientFeatures::kernel(const Options& options) {
  return cntk_kernel(options.network);
}

double CntkGradientFeatures::relative_variance(const Options& options) {
  return mirror_factor(options.network) * 6 * static_cast<double>(options.network.depth);
}

Index CntkGradientFeatures::bytes(Index in_dim, const Options& options) {
  const Index wide = width(in_dim, options), filter = options.network.filter;
  const ImageShape image = cntk_image(options.network, in_dim, kOwner);
  const Index last = options.network.pooling == Pooling::none ? image.height * image.width : 1;
  return 4 *
         (Convolution::floats(filter, image.channels, wide) +
          2 * (options.network.depth - 1) * Convolution::floats(filter, wide, wide) + wide * last);
}

void CntkGradientFeatures::transform_image(std::span<const float> pixels, double norm,
                                           std::span<float> out) const {
  Activity& a = activity();
  const CntkOptions& network = options_.network;
  const auto depth = static_cast<std::size_t>(network.depth);
  a.values.resize(depth + 1);
  a.slopes.resize(depth);
  set_pixels(pixels, a.values[0]);
  const auto scale = static_cast<float>(std::sqrt(2 / static_cast<double>(width_)) /
                                        static_cast<double>(network.filter));
  for (std::size_t l = 0; l < depth; ++l) {
    const WindowView view = windows(a.values[l], network.filter, centred_);
    a.values[l + 1].resize(view.height, view.width, width_, margin_);
    a.slopes[l].resize(view.height * view.width, width_);
    forward_[l].apply(view, [&](Index i, Index j, std::span<float> t) {
      step(t, scale, a.slopes[l].row(i * view.width + j).data());
      relu(t, scale, a.values[l + 1].pixel(i, j));
    });
  }
  const Index count = a.slopes.back().rows();
  const bool pooled = network.pooling == Pooling::gap;
  const double mean =
      norm / (pooled ? static_cast<double>(count) : std::sqrt(static_cast<double>(count)));
  Matrix<float>* g = &a.delta[0];
  g->resize(count, width_);
  for (Index p = 0; p < count; ++p)
    for (Index c = 0; c < width_; ++c)
      (*g)(p, c) = static_cast<float>(mean * last_[(pooled ? 0 : p * width_) + c]);
  std::size_t at = 0;
  for (std::size_t l = depth; l > 0; --l) {
    for (Index k = 0; k < g->rows() * width_; ++k) g->data()[k] *= a.slopes[l - 1].data()[k];
    if (l == 1 && !network.train_first_layer) break;
    const PixelMap& below = a.values[l - 1];
    a.gradient.resize(width_, network.filter * network.filter * below.channels());
    window_products(windows(below, network.filter, centred_), network.filter, below.channels(),
                    g->view(), a.gradient.view());
    const auto size = static_cast<std::size_t>(width_ * a.gradient.cols());
    std::copy_n(a.gradient.data(), size, out.begin() + static_cast<std::ptrdiff_t>(at));
    at += size;
    if (l == 1) break;
    Matrix<float>* next = g == &a.delta[0] ? &a.delta[1] : &a.delta[0];
    backward(static_cast<Index>(l), *g, *next);
    g = next;
  }
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(at), out.end(), 0.0f);
}

/// next = g_{l-1} of d_l = `delta`.
void CntkGradientFeatures::backward(Index layer, const Matrix<float>& delta,
                                    Matrix<float>& next) const {
  PixelMap& spread = activity().spread;
  const CntkOptions& network = options_.network;
  const Index height = side(network, shape_.height, layer);
  const Index width = side(network, shape_.width, layer);
  // Without padding the layer below is larger: its pixels see windows that lie partly outside.
  const Index outer = centred_ ? margin_ : network.filter - 1;
  spread.resize(height, width, width_, outer);
  for (Index i = 0; i < height; ++i)
    std::copy_n(delta.row(i * width).data(), width * width_, spread.pixel(i, 0));
  const WindowView view{spread.pixel(-outer, -outer), side(network, shape_.height, layer - 1),
                        side(network, shape_.width, layer - 1), spread.line_stride(),
                        spread.pixel_stride()};
  next.resize(view.height * view.width, width_);
  backward_[layer - 2].apply(view, [&](Index i, Index j, std::span<float> g) {
    std::ranges::copy(g, next.row(i * view.width + j).begin());
  });
}

}  // namespace kerf::detail
