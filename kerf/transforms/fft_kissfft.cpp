// RealFft through kissfft, for builds that may not link FFTW.
//
// SPDX-License-Identifier: Apache-2.0
#include <kissfft/kiss_fft.h>
#include <kissfft/kiss_fftr.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "kerf/core/require.h"
#include "kerf/transforms/fft.h"

namespace kerf::detail {
namespace {

struct Free {
  void operator()(void* memory) const { kiss_fft_free(memory); }
};

}  // namespace

/// Even lengths have a real transform; odd ones go through the complex one of the same length.
/// A real plan of kissfft owns scratch memory, so each thread has its own.
struct RealFft::Plan {
  std::unique_ptr<kiss_fft_state, Free> forward, inverse;

  explicit Plan(int n) {
    if (n % 2 == 0) return;
    forward.reset(kiss_fft_alloc(n, 0, nullptr, nullptr));
    inverse.reset(kiss_fft_alloc(n, 1, nullptr, nullptr));
    KERF_REQUIRE(forward && inverse, memory, "out of memory for a Fourier transform of length {}",
                 n);
  }
};

namespace {

struct EvenPlan {
  std::unique_ptr<kiss_fftr_state, Free> forward, inverse;
};

EvenPlan& even_plan(Index size) {
  thread_local std::map<Index, EvenPlan> plans;
  auto& plan = plans[size];
  if (!plan.forward) {
    plan.forward.reset(kiss_fftr_alloc(static_cast<int>(size), 0, nullptr, nullptr));
    plan.inverse.reset(kiss_fftr_alloc(static_cast<int>(size), 1, nullptr, nullptr));
    KERF_REQUIRE(plan.forward && plan.inverse, memory,
                 "out of memory for a Fourier transform of length {}", size);
  }
  return plan;
}

std::vector<kiss_fft_cpx>& scratch(int which, Index size) {
  thread_local std::vector<kiss_fft_cpx> memory[2];
  memory[which].resize(size);
  return memory[which];
}

}  // namespace

RealFft::RealFft(Index size) : size_(size) {
  KERF_REQUIRE(size >= 1 && size <= Index{1} << 30, usage, "a Fourier transform of length {}",
               size);
  static std::mutex mutex;
  static std::map<Index, std::shared_ptr<const Plan>> plans;
  const std::lock_guard lock(mutex);
  auto& plan = plans[size];
  if (!plan) plan = std::make_shared<Plan>(static_cast<int>(size));
  plan_ = plan;
}

void RealFft::forward(const float* x, std::complex<float>* spectrum) const {
  auto* out = reinterpret_cast<kiss_fft_cpx*>(spectrum);
  if (size_ % 2 == 0) return kiss_fftr(even_plan(size_).forward.get(), x, out);
  auto& in = scratch(0, size_);
  auto& full = scratch(1, size_);
  for (Index j = 0; j < size_; ++j) in[j] = {x[j], 0.0f};
  kiss_fft(plan_->forward.get(), in.data(), full.data());
  std::copy_n(full.begin(), spectrum_size(), out);
}

void RealFft::inverse(std::complex<float>* spectrum, float* x) const {
  auto* in = reinterpret_cast<kiss_fft_cpx*>(spectrum);
  if (size_ % 2 == 0) return kiss_fftri(even_plan(size_).inverse.get(), in, x);
  auto& full = scratch(0, size_);
  auto& out = scratch(1, size_);
  for (Index k = 0; k < size_; ++k) {
    const bool mirrored = k > size_ / 2;
    const kiss_fft_cpx value = in[mirrored ? size_ - k : k];
    full[k] = {value.r, mirrored ? -value.i : value.i};
  }
  kiss_fft(plan_->inverse.get(), full.data(), out.data());
  for (Index j = 0; j < size_; ++j) x[j] = out[j].r;
}

const char* RealFft::library() { return "kissfft"; }

}  // namespace kerf::detail
