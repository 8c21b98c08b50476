// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/image/cntk_map.h"

#include <algorithm>
#include <functional>

#include "kerf/core/rows/image_text.h"
#include "kerf/features/unit_rows.h"
#include "kerf/images/mirror.h"
#include "kerf/sketch/sketch.h"

namespace kerf::detail {

Index CntkChannels::eta(Index h) const {
  if (h == 0) return network.train_first_layer ? image : 0;
  return products(h) + width;
}

WindowSketch::Shape CntkChannels::output(ImageShape shape) const {
  const Index shrink = network.padding == Padding::same ? 0 : network.depth * (network.filter - 1);
  return {network.filter, eta(network.depth - 1), (shape.height - shrink) * (shape.width - shrink),
          network.pooling == Pooling::none};
}

double CntkChannels::output_variance() const {
  if (network.pooling == Pooling::gap || network.image == "auto") return 0;
  const ImageShape shape = parse_image_shape(network.image);
  const CntkChannels channels = {network, shape.channels, width, sketched};
  const Index pixels =
      std::min(network.filter, shape.height) * std::min(network.filter, shape.width);
  return 1.6 / static_cast<double>(std::max<Index>(1, pixels * channels.eta(network.depth - 1)));
}

CntkMap::CntkMap(Index in_dim, Index features, const CntkOptions& network, const char* owner)
    : FeatureMap(in_dim, features),
      shape_(cntk_image(network, in_dim, owner)),
      centred_(network.padding == Padding::same),
      margin_(centred_ ? network.filter / 2 : 0),
      mirror_(network.mirror) {}

void CntkMap::set_pixels(std::span<const float> pixels, PixelMap& map) const {
  map.resize(shape_.height, shape_.width, shape_.channels, margin_);
  const Index line = shape_.width * shape_.channels;
  for (Index i = 0; i < shape_.height; ++i)
    std::copy_n(pixels.data() + i * line, line, map.pixel(i, 0));
}

void CntkMap::transform_rows(const RowsView& x, MatrixView<float> out) const {
  thread_local UnitRows unit;
  std::vector<float> spread, turned, other(mirror_ ? static_cast<std::size_t>(out_dim()) : 0);
  for (Index i = 0; i < x.rows(); ++i) {
    unit.assign(x.slice(i, i + 1), 0);
    const std::span<const float> pixels = dense_row(unit.view(), 0, spread);
    const double norm = unit.norm(0) * (mirror_ ? 0.5 : 1);
    transform_image(pixels, norm, out.row(i));
    if (!mirror_) continue;
    turned.assign(pixels.begin(), pixels.end());
    mirror_image(std::span(turned), shape_);
    transform_image(turned, norm, other);
    std::ranges::transform(out.row(i), other, out.row(i).begin(), std::plus<>());
  }
}

}  // namespace kerf::detail
