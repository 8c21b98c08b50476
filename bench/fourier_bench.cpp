// Rows a second of the Fourier maps: matrix product (rff) against fast transforms (fastfood, orf
// structured), in one run; arguments are input columns and features.
//
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "kerf/core/parallel.h"
#include "kerf/features/feature_map.h"

namespace kerf {
namespace {

void run(benchmark::State& state, const char* name, Params params) {
  constexpr Index kRows = 1024;
  const Index in_dim = state.range(0), features = state.range(1);
  params["features"] = std::to_string(features);
  params["bandwidth"] = "1";
  const auto map = find_feature_map(name).make(in_dim, params, rng::Key{1});
  Matrix<float> x(kRows, in_dim), z(kRows, features);
  rng::fill_normal(rng::Key{2}, 0, {x.data(), static_cast<std::size_t>(kRows * in_dim)});
  const int before = threads();
  set_threads(1);  // CPU time of one core
  for (auto _ : state) {
    map->transform(x.view(), z.view());
    benchmark::DoNotOptimize(z.data());
  }
  set_threads(before);
  state.counters["rows"] =
      benchmark::Counter(static_cast<double>(kRows) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
}

void BM_Rff(benchmark::State& state) { run(state, "rff", {}); }
void BM_Fastfood(benchmark::State& state) { run(state, "fastfood", {}); }
void BM_OrfStructured(benchmark::State& state) {
  run(state, "orf", {{"directions", "structured"}});
}

void sizes(benchmark::internal::Benchmark* bench) {
  for (const Index in_dim : {8, 16, 32, 64, 128, 256, 784}) bench->Args({in_dim, 4096});
}

BENCHMARK(BM_Rff)->Apply(sizes);
BENCHMARK(BM_Fastfood)->Apply(sizes);
BENCHMARK(BM_OrfStructured)->Apply(sizes);

}  // namespace
}  // namespace kerf
