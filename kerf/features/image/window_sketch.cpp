// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/image/window_sketch.h"

#include <cmath>
#include <numeric>

#include "kerf/transforms/walsh_hadamard.h"

namespace kerf::detail {
namespace {

/// Scratch memory that a thread keeps from image to image.
Matrix<float>& scratch(Index rows, Index cols) {
  thread_local Matrix<float> memory;
  memory.resize(rows, cols);
  return memory;
}

}  // namespace

WindowSketch::WindowSketch(const Shape& shape, std::vector<Index> sizes, rng::Key key)
    : shape_(shape),
      sizes_(std::move(sizes)),
      out_dim_(std::reduce(sizes_.begin(), sizes_.end())),
      length_(hadamard_size(shape.filter * shape.filter * shape.channels)) {
  const Index dim = shape.filter * shape.filter * shape.channels;
  std::uint64_t label = 0;
  for (const Index size : sizes_) {
    const rng::Key own = key.child(label++);
    if (shape.by_pixel) {
      const auto part = balanced_sample(length_, size, false, own);
      sample_.insert(sample_.end(), part.begin(), part.end());
    } else {
      sketches_.emplace_back(dim, size, 1 / std::sqrt(static_cast<double>(size)),
                             SampledHadamard::Order::sorted, own);
    }
  }
  if (!shape.by_pixel) return;
  signs_.resize(shape.windows, dim);
  rng::fill_sign(key.child("pixels"), 0,
                 {signs_.data(), static_cast<std::size_t>(shape.windows * dim)});
}

Index WindowSketch::bytes(const Shape& shape, Index factors) {
  return 4 * shape.filter * shape.filter * shape.channels *
         (shape.by_pixel ? shape.windows : factors);
}

void WindowSketch::apply(const WindowView& x, MatrixView<const float> factors,
                         std::span<float> out) const {
  if (shape_.by_pixel)
    apply_by_pixel(x, factors, out);
  else
    apply_whole(x, factors, out);
}

void WindowSketch::apply_whole(const WindowView& x, MatrixView<const float> factors,
                               std::span<float> out) const {
  Matrix<float>& sums = scratch(this->factors(), shape_.filter * shape_.filter * shape_.channels);
  window_products(x, shape_.filter, shape_.channels, factors, sums.view());
  std::size_t at = 0;
  for (std::size_t i = 0; i < sketches_.size(); ++i) {
    const auto size = static_cast<std::size_t>(sizes_[i]);
    sketches_[i].apply(sums.row(static_cast<Index>(i)), out.subspan(at, size));
    at += size;
  }
}

void WindowSketch::apply_by_pixel(const WindowView& x, MatrixView<const float> factors,
                                  std::span<float> out) const {
  const Index line = shape_.filter * shape_.channels;
  Matrix<float>& memory = scratch(2, length_);
  const std::span<float> window = memory.row(0), mixed = memory.row(1);
  std::ranges::fill(out, 0.0f);
  for (Index p = 0; p < shape_.windows; ++p) {
    const float* from = x.window(p / x.width, p % x.width);
    for (Index a = 0; a < shape_.filter; ++a)
      for (Index b = 0; b < shape_.filter; ++b)
        std::copy_n(from + a * x.line_stride + b * x.pixel_stride, shape_.channels,
                    window.begin() + a * line + b * shape_.channels);
    signed_walsh_hadamard(window.first(signs_.cols()), signs_.row(p), mixed);
    std::size_t at = 0;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      const auto end = at + static_cast<std::size_t>(sizes_[i]);
      const float factor = factors(p, static_cast<Index>(i));
      for (; at < end; ++at) out[at] += factor * mixed[sample_[at]];
    }
  }
  std::size_t at = 0;
  for (const Index size : sizes_)
    for (Index k = 0; k < size; ++k)
      out[at++] *= static_cast<float>(1 / std::sqrt(static_cast<double>(size)));
}

}  // namespace kerf::detail
