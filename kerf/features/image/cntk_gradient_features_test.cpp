// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/image/cntk_gradient_features.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kerf/api/error.h"

namespace kerf::detail {
namespace {

/// The network as one reads it, in double, with every weight in one vector.
struct Network {
  CntkOptions options;
  ImageShape shape;
  Index width;
  std::vector<std::vector<double>> weights;  // W_1 .. W_L
  std::vector<double> last;

  Network(const CntkGradientOptions& map, Index in_dim, rng::Key key)
      : options(map.network),
        shape(parse_image_shape(map.network.image)),
        width(CntkGradientFeatures::width(in_dim, map)) {
    const Index area = options.filter * options.filter;
    for (Index l = 1; l <= options.depth; ++l) {
      auto& w = weights.emplace_back(width * area * (l == 1 ? shape.channels : width));
      for (std::size_t k = 0; k < w.size(); ++k)
        w[k] = rng::normal(key.child(static_cast<std::uint64_t>(l)), k);
    }
    last.resize(width * shape.height * shape.width);
    for (std::size_t k = 0; k < last.size(); ++k) last[k] = rng::normal(key.child("v"), k);
  }

  double output(std::span<const float> image) const {
    Index height = shape.height, columns = shape.width, channels = shape.channels;
    const Index q = options.filter;
    const bool same = options.padding == Padding::same;
    std::vector<double> h(image.begin(), image.end());
    for (const auto& w : weights) {
      const Index new_height = same ? height : height - q + 1;
      const Index new_columns = same ? columns : columns - q + 1, shift = same ? q / 2 : 0;
      std::vector<double> next;
      for (Index p = 0; p < new_height * new_columns; ++p)
        for (Index c = 0; c < width; ++c) {
          double t = 0;
          for (Index o = 0; o < q * q; ++o) {
            const Index i = p / new_columns + o / q - shift, j = p % new_columns + o % q - shift;
            if (i < 0 || j < 0 || i >= height || j >= columns) continue;
            for (Index d = 0; d < channels; ++d)
              t += w[(c * q * q + o) * channels + d] * h[(i * columns + j) * channels + d];
          }
          next.push_back(std::sqrt(2 / static_cast<double>(width)) * std::max(0.0, t) /
                         static_cast<double>(q));
        }
      h = next;
      height = new_height, columns = new_columns, channels = width;
    }
    const bool pooled = options.pooling == Pooling::gap;
    double sum = 0;
    for (std::size_t k = 0; k < h.size(); ++k)
      sum += h[k] * last[pooled ? k % static_cast<std::size_t>(width) : k];
    const auto pixels = static_cast<double>(height * columns);
    return sum / (pooled ? pixels : std::sqrt(pixels));
  }
};

// Differences of the network's output; the map's numbers are single precision.
TEST(CntkGradientFeatures, AreThePartialDerivatives) {
  const Index values = 5 * 4 * 2;
  Matrix<float> x(1, values);
  rng::fill_normal(rng::Key{3}, 0, {x.data(), static_cast<std::size_t>(values)});
  for (const Padding padding : {Padding::same, Padding::valid})
    for (const Pooling pooling : {Pooling::gap, Pooling::none}) {
      CntkGradientOptions options;
      options.network = {"5x4x2", 3, padding == Padding::same ? 3 : 2, padding, pooling, true};
      options.features = 250;
      const CntkGradientFeatures map(values, options, rng::Key{11});
      Matrix<float> z(1, 250);
      map.transform(x.view(), z.view());
      Network network(options, values, rng::Key{11});
      ASSERT_GE(network.width, 2);
      Index at = 0;
      for (std::size_t l = 3; l > 0; --l)
        for (double& weight : network.weights[l - 1]) {
          const double before = weight, step = 1e-6;
          weight = before + step;
          const double up = network.output(x.row(0));
          weight = before - step;
          const double down = network.output(x.row(0));
          weight = before;
          ASSERT_NEAR(z(0, at), (up - down) / (2 * step), 1e-4) << "layer " << l << " at " << at;
          ++at;
        }
      for (; at < 250; ++at) EXPECT_EQ(z(0, at), 0);
    }
}

// 5 standard errors (a false alarm below 1e-6), and a bias of 1/w at depth 2.
TEST(CntkGradientFeatures, EstimateTheKernel) {
  constexpr int kMaps = 300;
  const Index values = 4 * 4 * 2;
  Matrix<float> x(2, values);
  rng::fill_normal(rng::Key{4}, 0, {x.data(), static_cast<std::size_t>(2 * values)});
  for (Index k = 0; k < values; ++k) x(1, k) += x(0, k);
  CntkGradientOptions options;
  options.network.image = "4x4x2";
  options.network.depth = 2;
  options.features = 9 * 8 * 8;
  const auto kernel = CntkGradientFeatures::kernel(options);
  const std::vector<double> a(x.row(0).begin(), x.row(0).end());
  const std::vector<double> b(x.row(1).begin(), x.row(1).end());
  double sum = 0, squares = 0;
  for (int t = 0; t < kMaps; ++t) {
    const CntkGradientFeatures map(values, options,
                                   rng::Key{5}.child(static_cast<std::uint64_t>(t)));
    Matrix<float> z(2, options.features);
    map.transform(x.view(), z.view());
    double dot = 0;
    for (Index k = 0; k < options.features; ++k) dot += double{z(0, k)} * z(1, k);
    sum += dot, squares += dot * dot;
  }
  const double mean = sum / kMaps, error = std::sqrt((squares / kMaps - mean * mean) / kMaps);
  EXPECT_NEAR(mean, (*kernel)(a, b), 5 * error + std::sqrt((*kernel)(a, a) * (*kernel)(b, b)) / 8);
}

TEST(CntkGradientFeatures, NeedFeaturesForOneChannel) {
  CntkGradientOptions options;
  options.network.image = "4x4x2";
  options.features = 17;
  EXPECT_THROW(CntkGradientFeatures(32, options, rng::Key{1}), Error);
  options.features = 18;
  EXPECT_EQ(CntkGradientFeatures::width(32, options), 1);
}

}  // namespace
}  // namespace kerf::detail
