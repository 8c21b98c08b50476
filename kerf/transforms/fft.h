// Fourier transforms of real rows, and circular convolution through them.
//
//   X_k = sum_j x_j exp(-2 pi i j k / n),  k = 0 .. n/2   (the rest is the conjugate mirror image)
//   inverse(X) = n x: no scale, the caller folds 1/n into a factor that it applies anyway
//
// The library behind it is chosen when kerf is built: -DKERF_FFT=fftw (single-precision FFTW, GPL)
// or kissfft (BSD).  fft_fftw.cpp and fft_kissfft.cpp are the only files that name them.
//
// Bits:       the same from run to run and from thread to thread: a plan is a function of the
//             length alone (FFTW estimates it: a plan that it measures may change from run to run,
//             and the features with it).  The two libraries agree within rounding.
// Error:      relative to |x|_2 sqrt n: about 2^-24 log2 n.
// Cost:       2.5 n log2 n flops for lengths with small prime factors; any length works.
// Reference:  Frigo & Johnson, "The design and implementation of FFTW3", Proc. IEEE 2005.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <complex>
#include <memory>

#include "kerf/core/view.h"

namespace kerf::detail {

/// The transform of one length.  Copies share their plan; plans are kept for the process' life.
/// Thread-safe.
class RealFft {
 public:
  explicit RealFft(Index size);

  Index size() const { return size_; }
  /// n/2 + 1.
  Index spectrum_size() const { return size_ / 2 + 1; }

  /// Rows must start on a multiple of kAlignment (unaligned ones would cost twice the time).
  void forward(const float* x, std::complex<float>* spectrum) const;
  /// Destroys `spectrum`.
  void inverse(std::complex<float>* spectrum, float* x) const;

  /// "fftw" or "kissfft".
  static const char* library();

  struct Plan;

 private:
  Index size_;
  std::shared_ptr<const Plan> plan_;
};

/// product := product . factor, element by element: a circular convolution, transformed.
void multiply_spectrum(std::span<const std::complex<float>> factor,
                       std::span<std::complex<float>> product);

/// out = x_1 * x_2 * ... (circular), O(k n^2): the oracle.
void convolve_reference(std::span<const std::span<const float>> factors, std::span<float> out);

}  // namespace kerf::detail
