// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/image/pixel_norms.h"

#include <algorithm>
#include <cmath>

#include "kerf/linalg/pointwise.h"

namespace kerf::detail {

PixelNorms::PixelNorms(const CntkOptions& network, const PixelMap& image)
    : filter_(network.filter),
      centred_(network.padding == Padding::same),
      height_(image.height()),
      width_(image.width()) {
  for (Index i = 0; i < height_; ++i)
    for (Index j = 0; j < width_; ++j)
      phi_.push_back(squared_norm({image.pixel(i, j), static_cast<std::size_t>(image.channels())}));
  eta_.assign(phi_.size(), 0.0);
  if (network.train_first_layer) eta_ = phi_;
}

std::vector<double> PixelNorms::window_means(const std::vector<double>& squares) const {
  const Index radius = centred_ ? filter_ / 2 : 0, shrink = centred_ ? 0 : filter_ - 1;
  std::vector<double> means;
  means.reserve(squares.size());
  for (Index i = 0; i < height_ - shrink; ++i)
    for (Index j = 0; j < width_ - shrink; ++j) {
      double sum = 0;
      for (Index a = std::max<Index>(0, i - radius); a < std::min(height_, i - radius + filter_);
           ++a)
        for (Index b = std::max<Index>(0, j - radius); b < std::min(width_, j - radius + filter_);
             ++b)
          sum += squares[a * width_ + b];
      means.push_back(sum / static_cast<double>(filter_ * filter_));
    }
  return means;
}

void PixelNorms::advance() {
  phi_ = window_means(phi_);
  products_ = window_means(eta_);
  eta_ = products_;
  for (std::size_t k = 0; k < eta_.size(); ++k) eta_[k] += phi_[k];
  if (centred_) return;
  height_ -= filter_ - 1;
  width_ -= filter_ - 1;
}

void set_length(std::span<float> numbers, double square) {
  const double now = squared_norm(numbers);
  if (!(now > 0)) return;
  // In double: pixels of an image of length 1 may be so short that 1 / length is no float.
  const double factor = std::sqrt(square / now);
  for (float& number : numbers) number = static_cast<float>(number * factor);
}

}  // namespace kerf::detail
