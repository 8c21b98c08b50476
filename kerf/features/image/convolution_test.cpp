// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/image/convolution.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kerf/core/random/random.h"
#include "kerf/features/image/window_sketch.h"

namespace kerf::detail {
namespace {

PixelMap random_map(Index height, Index width, Index channels, Index margin, std::uint64_t seed) {
  PixelMap map;
  map.resize(height, width, channels, margin);
  for (Index i = 0; i < height; ++i)
    for (Index j = 0; j < width; ++j)
      rng::fill_normal(rng::Key{seed}, static_cast<std::uint64_t>((i * width + j) * channels),
                       {map.pixel(i, j), static_cast<std::size_t>(channels)});
  return map;
}

/// Pixel (i, j), zero outside of the image.
double value(const PixelMap& map, Index i, Index j, Index c) {
  const bool inside = i >= 0 && j >= 0 && i < map.height() && j < map.width();
  return inside ? map.pixel(i, j)[c] : 0;
}

double filter_number(Index j, std::size_t k) {
  return rng::normal(rng::Key{5}, static_cast<std::uint64_t>(j) * 1000 + k);
}

// Sums of at most 75 products of numbers below 5: rounding of 1e-4 at the very most.
TEST(Convolution, IsTheSumOverWindows) {
  for (const bool centred : {true, false})
    for (const Index filter : {1, 3, 5})
      for (const Index out : {1, 7, 40}) {
        const Index channels = 3, skip = 2;
        const PixelMap map = random_map(6, 11, channels + skip, centred ? filter / 2 : 0, 1);
        const Convolution convolution(filter, channels, out, [](Index j, std::span<float> to) {
          for (std::size_t k = 0; k < to.size(); ++k)
            to[k] = static_cast<float>(filter_number(j, k));
        });
        const Index radius = centred ? filter / 2 : 0;
        Index windows_seen = 0;
        convolution.apply(windows(map, filter, centred, skip),
                          [&](Index i, Index j, std::span<float> y) {
                            ++windows_seen;
                            ASSERT_EQ(static_cast<Index>(y.size()), out);
                            for (Index o = 0; o < out; ++o) {
                              double sum = 0;
                              std::size_t k = 0;
                              for (Index a = 0; a < filter; ++a)
                                for (Index b = 0; b < filter; ++b)
                                  for (Index c = 0; c < channels; ++c)
                                    sum += filter_number(o, k++) *
                                           value(map, i + a - radius, j + b - radius, skip + c);
                              ASSERT_NEAR(y[o], sum, 1e-4) << i << " " << j << " " << o;
                            }
                          });
        EXPECT_EQ(windows_seen, centred ? 66 : (7 - filter) * (12 - filter));
      }
}

TEST(WindowProducts, AreTheSumsOverPixels) {
  for (const bool centred : {true, false}) {
    const Index filter = 3, channels = 37, count = 11;
    const PixelMap map = random_map(5, 9, channels, centred ? 1 : 0, 2);
    const WindowView view = windows(map, filter, centred);
    Matrix<float> factors(view.height * view.width, count), sums(count, 9 * channels);
    rng::fill_normal(rng::Key{3}, 0,
                     {factors.data(), static_cast<std::size_t>(factors.rows() * count)});
    window_products(view, filter, channels, factors.view(), sums.view());
    for (Index f = 0; f < count; ++f)
      for (Index k = 0; k < 9 * channels; ++k) {
        const Index a = k / channels / 3, b = k / channels % 3;
        double sum = 0;
        for (Index i = 0; i < view.height; ++i)
          for (Index j = 0; j < view.width; ++j)
            sum += double{factors(i * view.width + j, f)} *
                   value(map, i + a - (centred ? 1 : 0), j + b - (centred ? 1 : 0), k % channels);
        ASSERT_NEAR(sums(f, k), sum, 1e-4);
      }
  }
}

// Averaged over T sketches the estimate is within 5 standard errors; Var <= sum_i 2 |b_i|^2
// |b_i'|^2 / m_i for the whole image, and the same with sums over pixels by pixel.
TEST(WindowSketch, KeepsInnerProductsOnAverage) {
  constexpr int kSketches = 400;
  const PixelMap x = random_map(3, 4, 5, 1, 7), y = random_map(3, 4, 5, 1, 8);
  Matrix<float> f(12, 3), g(12, 3);
  rng::fill_sign(rng::Key{9}, 0, {f.data(), 36});
  rng::fill_sign(rng::Key{10}, 0, {g.data(), 36});
  for (const bool by_pixel : {false, true}) {
    // Inner products of the parts, and of each with itself.
    const auto exact = [&](const PixelMap& p, const Matrix<float>& fp, const PixelMap& r,
                           const Matrix<float>& fr, Index factor) {
      double sum = 0;
      for (Index m = 0; m < 12; ++m)
        for (Index n = 0; n < 12; ++n) {
          if (by_pixel && m != n) continue;
          for (Index a = -1; a <= 1; ++a)
            for (Index b = -1; b <= 1; ++b)
              for (Index c = 0; c < 5; ++c)
                sum += double{fp(m, factor)} * fr(n, factor) * value(p, m / 4 + a, m % 4 + b, c) *
                       value(r, n / 4 + a, n % 4 + b, c);
        }
      return sum;
    };
    const std::vector<Index> sizes = {40, 9, 70};
    double expected = 0, variance = 0;
    for (Index i = 0; i < 3; ++i) {
      expected += exact(x, f, y, g, i);
      variance += 2 * exact(x, f, x, f, i) * exact(y, g, y, g, i) / static_cast<double>(sizes[i]);
    }
    double sum = 0;
    for (int t = 0; t < kSketches; ++t) {
      const WindowSketch sketch({3, 5, 12, by_pixel}, sizes,
                                rng::Key{static_cast<std::uint64_t>(t)});
      std::vector<float> u(119), v(119);
      sketch.apply(windows(x, 3, true), f.view(), u);
      sketch.apply(windows(y, 3, true), g.view(), v);
      for (std::size_t k = 0; k < u.size(); ++k) sum += double{u[k]} * v[k];
    }
    // By pixel the blocks share their signs: their errors may add up, 3 of them.
    EXPECT_NEAR(sum / kSketches, expected,
                5 * std::sqrt((by_pixel ? 3 : 1) * variance / kSketches));
  }
}

}  // namespace
}  // namespace kerf::detail
