// Convolutions of images with fixed filters, and sums of products over pixels: the hot path of the
// maps for images.
//
//   y_p = (<w_j, window of x at p>)_j           x: pixels with channels;  w_j: q x q x channels
//   sums_j = sum_p e_pj (window of x at p)      e: numbers of each pixel
//
// As in core/projection.h every number is one chain of fused multiply-adds in a fixed order, so an
// image has the same bits whatever stands around it.  Windows are read where they are: nothing is
// copied or packed.  Filters are stored in panels of two SIMD vectors.
//
// Error:      (terms + 1) 2^-24 sum |w_jk x_k|.
// Cost:       2 q^2 channels out flops a pixel, either way; bench/cntk_bench.cpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "kerf/core/rows/matrix.h"

namespace kerf::detail {

/// Pixels with channels, `margin` zero pixels around them.  Reused from image to image.
class PixelMap {
 public:
  /// All zero.
  void resize(Index height, Index width, Index channels, Index margin);

  Index height() const { return height_; }
  Index width() const { return width_; }
  Index channels() const { return channels_; }
  Index pixel_stride() const { return channels_; }
  Index line_stride() const { return (width_ + 2 * margin_) * channels_; }
  float* pixel(Index i, Index j) {
    return data_.data() + (i + margin_) * line_stride() + (j + margin_) * channels_;
  }
  const float* pixel(Index i, Index j) const {
    return data_.data() + (i + margin_) * line_stride() + (j + margin_) * channels_;
  }

 private:
  Index height_ = 0, width_ = 0, channels_ = 0, margin_ = 0;
  Matrix<float> data_;
};

/// The windows of a map, or of some of its channels: window (i, j) begins at
/// first + i line_stride + j pixel_stride.
struct WindowView {
  const float* first;
  Index height, width;  ///< windows
  Index line_stride, pixel_stride;

  const float* window(Index i, Index j) const { return first + i * line_stride + j * pixel_stride; }
};

/// Windows of `filter` pixels: centred on every pixel (the map needs a margin of filter / 2), or
/// inside the map.  Channels from `channel` on.
WindowView windows(const PixelMap& map, Index filter, bool centred, Index channel = 0);

class Convolution {
 public:
  /// Writes filter j: number (a q + b) channels + c is that of pixel (a, b), channel c.  Called
  /// from several threads at once.
  using Draw = std::function<void(Index j, std::span<float> filter)>;
  /// Receives y of the pixel (i, j); it may change y in place.
  using Receive = std::function<void(Index i, Index j, std::span<float> y)>;

  Convolution() = default;
  Convolution(Index filter, Index channels, Index out_channels, const Draw& draw);

  Index out_channels() const { return out_; }
  /// Floats that the filters take.
  static Index floats(Index filter, Index channels, Index out_channels);

  /// Hands the numbers of every window to `receive`, on the calling thread.
  void apply(const WindowView& x, const Receive& receive) const;

 private:
  Index filter_ = 0, channels_ = 0, out_ = 0;
  Index width_ = 0;       // of a panel
  Matrix<float> panels_;  // panel p, term k: width_ numbers at ((p terms + k) width_)
};

/// sums(j, :) = sum over windows of factor(j) x (the window's filter^2 channels numbers); `factors`
/// has a row for each window, of sums.rows numbers (and a stride of its own).
void window_products(const WindowView& x, Index filter, Index channels,
                     MatrixView<const float> factors, MatrixView<float> sums);

}  // namespace kerf::detail
