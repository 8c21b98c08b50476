// RealFft through single-precision FFTW.
//
// SPDX-License-Identifier: Apache-2.0
#include <fftw3.h>

#include <map>
#include <mutex>

#include "kerf/core/require.h"
#include "kerf/core/rows/matrix.h"
#include "kerf/transforms/fft.h"

namespace kerf::detail {

struct RealFft::Plan {
  fftwf_plan forward = nullptr, inverse = nullptr;

  explicit Plan(int n) {
    Matrix<float> x(1, n);
    Matrix<std::complex<float>> spectrum(1, n / 2 + 1);
    auto* s = reinterpret_cast<fftwf_complex*>(spectrum.data());
    forward = fftwf_plan_dft_r2c_1d(n, x.data(), s, FFTW_ESTIMATE);
    inverse = fftwf_plan_dft_c2r_1d(n, s, x.data(), FFTW_ESTIMATE | FFTW_DESTROY_INPUT);
  }
  ~Plan() {
    if (forward != nullptr) fftwf_destroy_plan(forward);
    if (inverse != nullptr) fftwf_destroy_plan(inverse);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
};

namespace {

/// FFTW makes plans on one thread at a time; executing them is free of locks.
std::shared_ptr<const RealFft::Plan> cached_plan(Index size) {
  static std::mutex mutex;
  static std::map<Index, std::shared_ptr<const RealFft::Plan>> plans;
  const std::lock_guard lock(mutex);
  auto& plan = plans[size];
  if (!plan) plan = std::make_shared<RealFft::Plan>(static_cast<int>(size));
  KERF_REQUIRE(plan->forward != nullptr && plan->inverse != nullptr, usage,
               "FFTW has no plan for a transform of length {}", size);
  return plan;
}

}  // namespace

RealFft::RealFft(Index size) : size_(size) {
  KERF_REQUIRE(size >= 1 && size <= Index{1} << 30, usage, "a Fourier transform of length {}",
               size);
  plan_ = cached_plan(size);
}

void RealFft::forward(const float* x, std::complex<float>* spectrum) const {
  fftwf_execute_dft_r2c(plan_->forward, const_cast<float*>(x),
                        reinterpret_cast<fftwf_complex*>(spectrum));
}

void RealFft::inverse(std::complex<float>* spectrum, float* x) const {
  fftwf_execute_dft_c2r(plan_->inverse, reinterpret_cast<fftwf_complex*>(spectrum), x);
}

const char* RealFft::library() { return "fftw"; }

}  // namespace kerf::detail
