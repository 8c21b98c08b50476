// SPDX-License-Identifier: Apache-2.0
#include "kerf/sketch/tensor_sketch.h"

#include <algorithm>

#include "kerf/core/rows/matrix.h"

namespace kerf::detail {

TensorSketch::TensorSketch(std::vector<Index> in_dims, Index out_dim, rng::Key key)
    : TensorMap(std::move(in_dims), out_dim), fft_(out_dim) {
  for (Index k = 0; k < factors(); ++k)
    counts_.emplace_back(in_dim(k), out_dim, key.child(static_cast<std::uint64_t>(k)),
                         k == 0 ? 1 / static_cast<double>(out_dim) : 1.0);
}

void TensorSketch::apply_rows(std::span<const RowsView> x, Index begin, Index end,
                              MatrixView<float> out) const {
  // Fourier transforms work on aligned rows of our own, whatever the alignment of `out`.
  Matrix<float> row(1, out_dim());
  Matrix<std::complex<float>> product(1, fft_.spectrum_size()), factor(1, fft_.spectrum_size());
  for (Index i = begin; i < end; ++i) {
    for (Index k = 0; k < factors(); ++k) {
      const auto index = static_cast<std::size_t>(k);
      counts_[index].apply(x[index].slice(i, i + 1), row.view());
      fft_.forward(row.data(), k == 0 ? product.data() : factor.data());
      if (k > 0) multiply_spectrum(factor.row(0), product.row(0));
    }
    fft_.inverse(product.data(), row.data());
    std::ranges::copy(row.row(0), out.row(i).begin());
  }
}

}  // namespace kerf::detail
