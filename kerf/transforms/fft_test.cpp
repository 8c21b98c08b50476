// SPDX-License-Identifier: Apache-2.0
#include "kerf/transforms/fft.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "kerf/api/error.h"
#include "kerf/core/random/random.h"
#include "kerf/core/rows/matrix.h"
#include "kerf/core/system/parallel.h"

namespace kerf::detail {
namespace {

using Complex = std::complex<float>;
constexpr Index kLengths[] = {1, 2, 3, 4, 5, 7, 8, 12, 30, 31, 64, 100, 257, 1000, 1024};

Matrix<float> gaussian(Index rows, Index n, std::uint64_t seed) {
  Matrix<float> x(rows, n);
  rng::fill_normal(rng::Key{seed}, 0, {x.data(), static_cast<std::size_t>(rows * n)});
  return x;
}

// The norm of the rounding error of a transform is below 5 log2(n) 2^-24 times that of the result
// (Higham, Accuracy and Stability, theorem 24.2); we allow the same for each element.
double tolerance(Index n, double norm) {
  return 5 * (std::log2(static_cast<double>(n)) + 1) * std::ldexp(norm, -24);
}

TEST(RealFft, IsTheSumOfItsDefinition) {
  for (const Index n : kLengths) {
    const RealFft fft(n);
    const auto x = gaussian(1, n, 1);
    Matrix<Complex> spectrum(1, fft.spectrum_size());
    fft.forward(x.data(), spectrum.data());
    double norm = 0;
    for (Index j = 0; j < n; ++j) norm += double{x(0, j)} * double{x(0, j)};
    norm = std::sqrt(norm * static_cast<double>(n));
    for (Index k = 0; k < fft.spectrum_size(); ++k) {
      std::complex<double> exact = 0;
      for (Index j = 0; j < n; ++j)
        exact += double{x(0, j)} *
                 std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k % n) /
                                     static_cast<double>(n));
      EXPECT_NEAR(spectrum(0, k).real(), exact.real(), tolerance(n, norm)) << n << " " << k;
      EXPECT_NEAR(spectrum(0, k).imag(), exact.imag(), tolerance(n, norm)) << n << " " << k;
    }
    Matrix<float> back(1, n);
    fft.inverse(spectrum.data(), back.data());
    for (Index j = 0; j < n; ++j)
      EXPECT_NEAR(back(0, j), static_cast<double>(n) * double{x(0, j)},
                  2 * tolerance(n, std::sqrt(static_cast<double>(n)) * norm));
  }
}

TEST(RealFft, ConvolvesThroughProductsOfSpectra) {
  for (const Index n : kLengths) {
    const RealFft fft(n);
    Matrix<float> rows[3] = {gaussian(1, n, 2), gaussian(1, n, 3), gaussian(1, n, 4)};
    Matrix<Complex> product(1, fft.spectrum_size()), next(1, fft.spectrum_size());
    double norm = 1;
    for (int k = 0; k < 3; ++k) {
      fft.forward(rows[k].data(), next.data());
      if (k == 0)
        std::swap(product, next);
      else
        multiply_spectrum(next.row(0), product.row(0));
      double square = 0;
      for (const float v : rows[k].row(0)) square += double{v} * double{v};
      norm *= std::sqrt(square);
    }
    Matrix<float> out(1, n), expected(1, n);
    fft.inverse(product.data(), out.data());
    const std::span<const float> factors[] = {rows[0].row(0), rows[1].row(0), rows[2].row(0)};
    convolve_reference(factors, expected.row(0));
    // Spectra are at most sqrt(n) |x| each; five roundings on the way (three transforms, two
    // products), and the inverse divides the sum of n terms by n.
    const double bound = 5 * tolerance(n, norm * static_cast<double>(n));
    for (Index j = 0; j < n; ++j)
      EXPECT_NEAR(out(0, j) / static_cast<float>(n), expected(0, j), bound) << n << " " << j;
  }
}

TEST(RealFft, GivesTheSameBitsOnEveryThread) {
  const Index n = 1000, rows = 64, stride = 1008;
  const auto x = gaussian(rows, stride, 5);
  const Index width = n / 2 + 1, padded = 504;
  Matrix<Complex> one(rows, padded), many(rows, padded);
  const RealFft fft(n);
  for (Index i = 0; i < rows; ++i) fft.forward(x.row(i).data(), one.row(i).data());
  parallel_for(rows, 1, [&](Index begin, Index end) {
    const RealFft other(n);
    for (Index i = begin; i < end; ++i) other.forward(x.row(i).data(), many.row(i).data());
  });
  for (Index i = 0; i < rows; ++i)
    for (Index k = 0; k < width; ++k) EXPECT_EQ(one(i, k), many(i, k));
}

TEST(RealFft, RefusesAnEmptyRow) { EXPECT_THROW(RealFft(0), Error); }

}  // namespace
}  // namespace kerf::detail
