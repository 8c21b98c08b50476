// Speed of skeleton features: a million of the all-ReLU convolutions (4, 5) on 24x24x3 images.
//
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "kerf/core/system/memory.h"
#include "kerf/core/system/parallel.h"
#include "kerf/features/skeleton/skeleton_features.h"

namespace kerf::detail {
namespace {

SkeletonMapOptions convolutions(Index features) {
  SkeletonMapOptions options;
  options.features = features;
  options.kernel = {"circle 1, conv 4/2 relu, conv 5/2 relu, full relu", "24x24x3"};
  return options;
}

constexpr Index kInputs = 24 * 24 * 3;

void draw(benchmark::State& state) {
  Index bytes = 0, draws = 0;
  for (auto _ : state) {
    const SkeletonFeatures map(kInputs, convolutions(state.range(0)), rng::Key{1});
    bytes = map.table().bytes();
    draws = map.table().draws;
  }
  state.counters["bytes"] = static_cast<double>(bytes);
  state.counters["draws"] = static_cast<double>(draws);
  state.counters["process peak"] = static_cast<double>(peak_memory());
}
BENCHMARK(draw)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond)->Iterations(1);

void evaluate(benchmark::State& state) {
  const int before = threads();
  set_threads(static_cast<int>(state.range(1)));
  const SkeletonFeatures map(kInputs, convolutions(state.range(0)), rng::Key{1});
  constexpr Index kRows = 96;
  Matrix<float> x(kRows, kInputs), z(kRows, state.range(0));
  rng::fill_normal(rng::Key{2}, 0, std::span(x.data(), kRows * kInputs));
  for (auto _ : state) map.transform(x.view(), z.view());
  const double features = static_cast<double>(kRows * state.range(0));
  const SkeletonTable& table = map.table();
  const double factors =
      static_cast<double>(table.atom.size()) / static_cast<double>(table.columns());
  using benchmark::Counter;
  state.counters["features/s"] = Counter(features, Counter::kIsIterationInvariantRate);
  // A multiply-add a factor, 24 operations for the cosine, one product.
  state.counters["flop/s"] =
      Counter(features * (2 * factors + 25), Counter::kIsIterationInvariantRate);
  state.counters["bytes written/s"] = Counter(4 * features, Counter::kIsIterationInvariantRate);
  state.counters["factors a feature"] = factors;
  set_threads(before);
}
BENCHMARK(evaluate)
    ->Args({100'000, 1})
    ->Args({1'000'000, 1})
    ->Args({1'000'000, 2})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

/// What the memory takes: the same output written by a copy.
void copy(benchmark::State& state) {
  Matrix<float> from(96, 100'000), to(96, 100'000);
  from.fill(1);
  for (auto _ : state) {
    std::copy_n(from.data(), from.rows() * from.cols(), to.data());
    benchmark::DoNotOptimize(to.data());
  }
  state.counters["bytes written/s"] =
      benchmark::Counter(4.0 * 96 * 100'000, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(copy)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kerf::detail
