// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/image/convolution.h"

#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kerf/features/image/convolution.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kerf::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lane = hn::ScalableTag<float>;
using Vector = hn::Vec<Lane>;

/// Windows (or factors) of a tile: 2 x 8 sums want the 32 registers of the wider targets.
constexpr Index kTile = HWY_TARGET <= HWY_AVX3 ? 8 : 6;

Index tile_size() { return kTile; }
Index filter_panel_width() { return static_cast<Index>(2 * hn::Lanes(Lane())); }

/// One panel of filters against R windows side by side.
template <int R>
HWY_INLINE void filter_tile(const float* HWY_RESTRICT x, Index line_stride, Index pixel_stride,
                            Index filter, Index channels, const float* HWY_RESTRICT w,
                            float* HWY_RESTRICT out, Index stride) {
  const Lane d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Vector left[R], right[R];
  for (int r = 0; r < R; ++r) left[r] = right[r] = hn::Zero(d);
  for (Index a = 0; a < filter; ++a)
    for (Index b = 0; b < filter; ++b) {
      const float* pixel = x + a * line_stride + b * pixel_stride;
      for (Index c = 0; c < channels; ++c, w += 2 * lanes) {
        const Vector w0 = hn::Load(d, w), w1 = hn::Load(d, w + lanes);
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) {
          const Vector value = hn::Set(d, pixel[r * pixel_stride + c]);
          left[r] = hn::MulAdd(value, w0, left[r]);
          right[r] = hn::MulAdd(value, w1, right[r]);
        }
      }
    }
  for (int r = 0; r < R; ++r) {
    hn::StoreU(left[r], d, out + r * stride);
    hn::StoreU(right[r], d, out + r * stride + lanes);
  }
}

template <int R = kTile>
HWY_INLINE void filter_panel_of(const float* x, Index line_stride, Index pixel_stride, Index filter,
                                Index channels, const float* w, float* out, Index stride,
                                Index windows) {
  if constexpr (R > 1)
    if (windows < R)
      return filter_panel_of<R - 1>(x, line_stride, pixel_stride, filter, channels, w, out, stride,
                                    windows);
  filter_tile<R>(x, line_stride, pixel_stride, filter, channels, w, out, stride);
}

void filter_panel(const float* x, Index line_stride, Index pixel_stride, Index filter,
                  Index channels, const float* w, float* out, Index stride, Index windows) {
  filter_panel_of<>(x, line_stride, pixel_stride, filter, channels, w, out, stride, windows);
}

/// Adds to sums(r, 0 .. 2 lanes - 1) for R factors: factor r of window k at factors[k *
/// factor_stride + r].
template <int R>
HWY_INLINE void product_tile(const float* HWY_RESTRICT x, Index line_stride, Index pixel_stride,
                             Index height, Index width, const float* HWY_RESTRICT factors,
                             Index factor_stride, float* HWY_RESTRICT sums, Index stride) {
  const Lane d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  Vector left[R], right[R];
  for (int r = 0; r < R; ++r) {
    left[r] = hn::LoadU(d, sums + r * stride);
    right[r] = hn::LoadU(d, sums + r * stride + lanes);
  }
  for (Index i = 0; i < height; ++i) {
    const float* pixel = x + i * line_stride;
    for (Index j = 0; j < width; ++j, pixel += pixel_stride, factors += factor_stride) {
      const Vector x0 = hn::LoadU(d, pixel), x1 = hn::LoadU(d, pixel + lanes);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const Vector factor = hn::Set(d, factors[r]);
        left[r] = hn::MulAdd(factor, x0, left[r]);
        right[r] = hn::MulAdd(factor, x1, right[r]);
      }
    }
  }
  for (int r = 0; r < R; ++r) {
    hn::StoreU(left[r], d, sums + r * stride);
    hn::StoreU(right[r], d, sums + r * stride + lanes);
  }
}

template <int R = kTile>
HWY_INLINE void product_panel_of(const float* x, Index line_stride, Index pixel_stride,
                                 Index height, Index width, const float* factors,
                                 Index factor_stride, float* sums, Index stride, Index count) {
  if constexpr (R > 1)
    if (count < R)
      return product_panel_of<R - 1>(x, line_stride, pixel_stride, height, width, factors,
                                     factor_stride, sums, stride, count);
  product_tile<R>(x, line_stride, pixel_stride, height, width, factors, factor_stride, sums,
                  stride);
}

void product_panel(const float* x, Index line_stride, Index pixel_stride, Index height, Index width,
                   const float* factors, Index factor_stride, float* sums, Index stride,
                   Index count) {
  product_panel_of<>(x, line_stride, pixel_stride, height, width, factors, factor_stride, sums,
                     stride, count);
}

}  // namespace kerf::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kerf::detail {
namespace {

HWY_EXPORT(tile_size);
HWY_EXPORT(filter_panel_width);
HWY_EXPORT(filter_panel);
HWY_EXPORT(product_panel);

Index round_up(Index n, Index to) { return (n + to - 1) / to * to; }

/// Zeros after a map: vectors of the last pixel may run over its end.
constexpr Index kSlack = 64;

/// Windows whose numbers stay in the first-level cache while all factors pass over them.
constexpr Index kBlockWindows = 128;

/// Scratch memory that a thread keeps from call to call.
Matrix<float>& scratch(Index rows, Index cols) {
  thread_local Matrix<float> memory;
  memory.resize(rows, cols);
  return memory;
}

}  // namespace

void PixelMap::resize(Index height, Index width, Index channels, Index margin) {
  height_ = height, width_ = width, channels_ = channels, margin_ = margin;
  data_.resize(1, (height + 2 * margin) * line_stride() + kSlack);
  data_.fill(0);
}

WindowView windows(const PixelMap& map, Index filter, bool centred, Index channel) {
  const Index radius = centred ? filter / 2 : 0, shrink = centred ? 0 : filter - 1;
  return {map.pixel(-radius, -radius) + channel, map.height() - shrink, map.width() - shrink,
          map.line_stride(), map.pixel_stride()};
}

Index Convolution::floats(Index filter, Index channels, Index out_channels) {
  return filter * filter * channels * round_up(out_channels, 32);
}

Convolution::Convolution(Index filter, Index channels, Index out_channels, const Draw& draw)
    : filter_(filter),
      channels_(channels),
      out_(out_channels),
      width_(HWY_DYNAMIC_DISPATCH(filter_panel_width)()) {
  KERF_REQUIRE(filter >= 1 && channels >= 1 && out_channels >= 1, usage,
               "a convolution of {0} x {0} pixels from {1} to {2} channels", filter, channels,
               out_channels);
  const Index terms = filter * filter * channels, count = (out_ + width_ - 1) / width_;
  panels_.resize(count * terms, width_);
  panels_.fill(0);
  parallel_for(out_, 8, [&](Index begin, Index end) {
    std::vector<float> numbers(terms);
    for (Index j = begin; j < end; ++j) {
      draw(j, numbers);
      float* panel = panels_.data() + j / width_ * terms * width_ + j % width_;
      for (Index k = 0; k < terms; ++k) panel[k * width_] = numbers[k];
    }
  });
}

void Convolution::apply(const WindowView& x, const Receive& receive) const {
  const Index tile = HWY_DYNAMIC_DISPATCH(tile_size)();
  const Index terms = filter_ * filter_ * channels_, stride = round_up(out_, width_);
  // All windows of a line share a reading of the panel.
  float* sums = scratch(x.width, stride).data();
  for (Index i = 0; i < x.height; ++i) {
    for (Index p = 0; p < stride; p += width_)
      for (Index j = 0; j < x.width; j += tile) HWY_DYNAMIC_DISPATCH(filter_panel)
    (x.window(i, j), x.line_stride, x.pixel_stride, filter_, channels_, panels_.data() + p * terms,
     sums + j * stride + p, stride, std::min(tile, x.width - j));
    for (Index j = 0; j < x.width; ++j)
      receive(i, j, {sums + j * stride, static_cast<std::size_t>(out_)});
  }
}

void window_products(const WindowView& x, Index filter, Index channels,
                     MatrixView<const float> factors, MatrixView<float> sums) {
  const Index tile = HWY_DYNAMIC_DISPATCH(tile_size)();
  const Index wide = HWY_DYNAMIC_DISPATCH(filter_panel_width)();
  const Index panels = (channels + wide - 1) / wide, pixels = filter * filter;
  // Whole vectors, so that sums of other channels do not mix.
  Matrix<float>& all = scratch(sums.rows, pixels * panels * wide);
  all.fill(0);
  const Index lines = std::max<Index>(1, kBlockWindows / x.width);
  for (Index i = 0; i < x.height; i += lines)
    for (Index p = 0; p < pixels * panels; ++p) {
      const Index a = p / panels / filter, b = p / panels % filter, c = p % panels * wide;
      for (Index j = 0; j < sums.rows; j += tile) HWY_DYNAMIC_DISPATCH(product_panel)
      (x.window(i + a, b) + c, x.line_stride, x.pixel_stride, std::min(lines, x.height - i),
       x.width, factors.data + i * x.width * factors.stride + j, factors.stride,
       all.data() + j * all.cols() + p * wide, all.cols(), std::min(tile, sums.rows - j));
    }
  for (Index j = 0; j < sums.rows; ++j)
    for (Index k = 0; k < pixels; ++k)
      std::copy_n(all.data() + j * all.cols() + k * panels * wide, channels,
                  sums.row(j).data() + k * channels);
}

}  // namespace kerf::detail
#endif  // HWY_ONCE
