// The diagonal of the convolutional tangent kernel at every pixel, layer by layer: what the lengths
// of a pixel's features would be without any randomness.
//
//   |phi_0|^2 = |x_p|^2,  |phi_h|^2 = win(|phi_{h-1}|^2) / q^2        (M_h of kernels/cntk.h)
//   |products_h|^2 = win(|eta_{h-1}|^2) / q^2,  |eta_h|^2 = |products_h|^2 + |phi_h|^2
//
// Maps scale their features to these lengths: errors of the lengths would grow from layer to layer
// and are most of a kernel's error where pixels are alike (docs/cntk.md).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/features/image/convolution.h"
#include "kerf/kernels/image/cntk.h"

namespace kerf::detail {

class PixelNorms {
 public:
  /// Of the pixels of an image.
  PixelNorms(const CntkOptions& network, const PixelMap& image);

  /// On to the next layer.
  void advance();

  double phi_square(Index pixel) const { return phi_[pixel]; }
  double products_square(Index pixel) const { return products_[pixel]; }

 private:
  /// Sums over windows, divided by q^2.
  std::vector<double> window_means(const std::vector<double>& squares) const;

  Index filter_;
  bool centred_;
  Index height_, width_;
  std::vector<double> phi_, products_, eta_;
};

/// Scales a pixel's numbers to the given squared length; zeros stay.
void set_length(std::span<float> numbers, double square);

}  // namespace kerf::detail
