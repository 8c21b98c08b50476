// SPDX-License-Identifier: Apache-2.0
#include "kerf/transforms/fft.h"

#include <algorithm>
#include <vector>

#include "kerf/core/require.h"

namespace kerf::detail {

void multiply_spectrum(std::span<const std::complex<float>> factor,
                       std::span<std::complex<float>> product) {
  KERF_REQUIRE(factor.size() == product.size(), usage, "spectra of {} and {} numbers",
               factor.size(), product.size());
  // Written out: operator* of std::complex looks after infinities and does not vectorise.
  const auto* a = reinterpret_cast<const float*>(factor.data());
  auto* b = reinterpret_cast<float*>(product.data());
  for (std::size_t k = 0; k < 2 * product.size(); k += 2) {
    const float real = a[k] * b[k] - a[k + 1] * b[k + 1];
    const float imaginary = a[k] * b[k + 1] + a[k + 1] * b[k];
    b[k] = real;
    b[k + 1] = imaginary;
  }
}

void convolve_reference(std::span<const std::span<const float>> factors, std::span<float> out) {
  const std::size_t n = out.size();
  std::vector<double> product(n), next(n);
  if (n > 0) product[0] = 1;
  for (const auto factor : factors) {
    KERF_REQUIRE(factor.size() == n, usage, "a row of {} in a convolution of length {}",
                 factor.size(), n);
    std::ranges::fill(next, 0.0);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) next[(i + j) % n] += product[i] * double{factor[j]};
    std::swap(product, next);
  }
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<float>(product[i]);
}

}  // namespace kerf::detail
