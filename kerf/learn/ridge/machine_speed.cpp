// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/ridge/machine_speed.h"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>

#include "kerf/core/random/random.h"
#include "kerf/core/system/parallel.h"
#include "kerf/core/system/stopwatch.h"
#include "kerf/learn/ridge/normal_equations.h"

namespace kerf::detail {
namespace {

// Of each thread.
constexpr double kSums = 70e9, kSumsDouble = 15e9, kThin = 20e9, kFactor = 30e9, kMemory = 8e9;
constexpr Index kRows = 512, kFeatures = 512;
// The best of some rounds counts, because others may be using the machine; but not many milliseconds.
constexpr int kRounds = 3;
constexpr double kEnough = 0.01;

template <class Work>
double best_seconds(Work work) {
  double best = std::numeric_limits<double>::infinity(), all = 0;
  for (int round = 0; round < kRounds && all < kEnough; ++round) {
    double seconds = 0;
    {
      const Stopwatch watch(seconds);
      work();
    }
    best = std::min(best, seconds);
    all += seconds;
  }
  return std::max(best, 1e-6);
}

double seconds_of_sums(Matrix<float>& z) {
  Matrix<double> y(z.rows(), 1);
  y.fill(0);
  const Origin origin{std::vector<float>(z.cols(), 0.0F), {0.0}};
  return best_seconds([&] {
    NormalEquations sums(origin, Precision::single_);
    sums.add(z.view(), y.view(), {});
  });
}

Speeds measure() {
  Matrix<float> z(kRows, kFeatures);
  rng::fill_normal(rng::Key{0}.child("speed"), 0, std::span(z.data(), kRows * kFeatures));
  constexpr double kFlops = static_cast<double>(kRows) * kFeatures * kFeatures;
  const Speeds assumed = assumed_speeds();
  Speeds found = assumed;
  found.sums = kFlops / seconds_of_sums(z);
  const double faster = found.sums / assumed.sums;
  found.sums_double *= faster;
  found.thin *= faster;
  found.factor *= faster;
  found.memory *= faster;
  return found;
}

}  // namespace

Speeds assumed_speeds() {
  const double all = threads();
  return {kSums * all, kSumsDouble * all, kThin * all, kFactor * all, kMemory * all};
}

const Speeds& measured_speeds() {
  static std::mutex mutex;
  static std::map<int, Speeds> known;  // by threads
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = known.try_emplace(threads());
  if (is_new) found->second = measure();
  return found->second;
}

}  // namespace kerf::detail
