// The last step of the maps for images: windows and signs of every pixel to features.
//
//   x_p: the window of a map at pixel p, K numbers;  f_pi, i = 0 .. m: factors of the pixel
//   whole image:  z = (S_i sum_p f_pi x_p)_i           S_i: subsampled Hadamard transforms,
//   by pixel:     z = sum_p (f_pi P_i H D_p x_p)_i     D_p: signs of every pixel, P_i: a sample
//   E <z, z'> = sum_i <sum_p f_pi x_p, sum_p f'_pi x'_p>,  or  sum_i sum_p f_pi f'_pi <x_p, x'_p>.
//
// Error:      sum_i V(b_i, b'_i) / m_i for blocks of m_i features (sketch.h), b_i = sum_p f_pi x_p.
// Cost:       whole: m K multiply-adds a pixel and m + 1 Hadamard transforms an image; by pixel:
//             one Hadamard transform and M additions a pixel.
// Memory:     m K floats of signs, or one set for each pixel.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/features/image/convolution.h"
#include "kerf/sketch/sampled_hadamard.h"

namespace kerf::detail {

class WindowSketch {
 public:
  struct Shape {
    Index filter, channels;  ///< a window has filter^2 channels numbers
    Index windows;           ///< of an image
    bool by_pixel;
  };
  /// `sizes`: features of each factor; their sum is out_dim().
  WindowSketch(const Shape& shape, std::vector<Index> sizes, rng::Key key);

  Index out_dim() const { return out_dim_; }
  Index factors() const { return static_cast<Index>(sizes_.size()); }

  /// factors: a row for each window.  On the calling thread.
  void apply(const WindowView& x, MatrixView<const float> factors, std::span<float> out) const;

  static Index bytes(const Shape& shape, Index factors);

 private:
  void apply_whole(const WindowView& x, MatrixView<const float> factors,
                   std::span<float> out) const;
  void apply_by_pixel(const WindowView& x, MatrixView<const float> factors,
                      std::span<float> out) const;

  Shape shape_;
  std::vector<Index> sizes_;
  Index out_dim_ = 0, length_ = 0;         // K, padded
  std::vector<SampledHadamard> sketches_;  // whole: S_i
  Matrix<float> signs_;                    // by pixel: D_p, a row for each pixel
  std::vector<std::int32_t> sample_;       // by pixel: P_i, one after the other
};

}  // namespace kerf::detail
