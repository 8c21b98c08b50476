// Speed of the NTK maps on rows of 784 columns (MNIST's), beside the matrix products that limit
// them, all in one run on all threads.  Counters: `mnist` = seconds for 70,000 rows.
//
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "kerf/core/random/random.h"
#include "kerf/core/system/parallel.h"
#include "kerf/features/feature_map.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

constexpr Index kRows = 4096, kDim = 784;

Matrix<float> pixels() {
  Matrix<float> x(kRows, kDim);
  rng::fill_normal(rng::Key{1}, 0, {x.data(), static_cast<std::size_t>(kRows * kDim)});
  for (Index i = 0; i < kRows; ++i)
    for (float& v : x.row(i)) v = v > 0.9f ? v : 0;  // a fifth of them, as in images of digits
  return x;
}

void count(benchmark::State& state) {
  state.counters["mnist"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kRows / 70000,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void transform(benchmark::State& state, const char* name, Params params) {
  params.insert({{"features", std::to_string(state.range(0))}, {"bias", "0"}, {"depth", "1"}});
  const auto x = pixels();
  const auto map = find_feature_map(name).make(kDim, params, rng::Key{1});
  Matrix<float> out(kRows, map->out_dim());
  for (auto _ : state) {
    map->transform(x.view(), out.view());
    benchmark::DoNotOptimize(out.data());
  }
  count(state);
}

/// The product of all rows with `range(1)` directions, by OpenBLAS, threads over blocks of rows.
void BM_Sgemm(benchmark::State& state) {
  const auto x = pixels();
  Matrix<float> w(state.range(1), kDim), out(kRows, state.range(1));
  rng::fill_normal(rng::Key{2}, 0, {w.data(), static_cast<std::size_t>(state.range(1) * kDim)});
  for (auto _ : state) {
    parallel_for(kRows, 512, [&](Index begin, Index end) {
      blas::gemm(false, true, 1.0f, x.view().slice(begin, end), w.view(), 0.0f,
                 out.view().slice(begin, end));
    });
    benchmark::DoNotOptimize(out.data());
  }
  count(state);
}

/// Drawing all directions of depth 2 with m0 = m1 = ms = features / 2.
void draw(benchmark::State& state, const char* directions, const char* split) {
  for (auto _ : state) {
    const auto map = find_feature_map("ntk-rf").make(kDim,
                                                     {{"features", std::to_string(state.range(0))},
                                                      {"directions", directions},
                                                      {"split", split},
                                                      {"depth", "2"},
                                                      {"bias", "0"}},
                                                     rng::Key{1});
    benchmark::DoNotOptimize(map.get());
  }
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->Arg(4096)->Arg(8192)->UseRealTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK(BM_Sgemm)
    ->Args({4096, 2048})
    ->Args({4096, 4096})
    ->Args({8192, 4096})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(transform, rf_published_own_gaussian, "ntk-rf",
                  Params{{"split", "false"},
                         {"directions", "gaussian"},
                         {"shared-directions", "false"}})
    ->Apply(sizes);
BENCHMARK_CAPTURE(transform, rf_published_shared, "ntk-rf", Params{{"split", "false"}})
    ->Apply(sizes);
BENCHMARK_CAPTURE(transform, rf_split, "ntk-rf", Params{{"split", "true"}})->Apply(sizes);
BENCHMARK_CAPTURE(transform, rf_structured, "ntk-rf", Params{{"directions", "structured"}})
    ->Apply(sizes);
BENCHMARK_CAPTURE(transform, rf_split_structured, "ntk-rf",
                  Params{{"split", "true"}, {"directions", "structured"}})
    ->Apply(sizes);
BENCHMARK_CAPTURE(transform, rf_split_depth_2, "ntk-rf", Params{{"depth", "2"}, {"split", "true"}})
    ->Apply(sizes);
BENCHMARK_CAPTURE(transform, rf_published_depth_2, "ntk-rf",
                  Params{{"depth", "2"}, {"split", "false"}})
    ->Apply(sizes);
BENCHMARK_CAPTURE(transform, poly_degree_8, "ntk-poly", Params{{"degree", "8"}})->Apply(sizes);
BENCHMARK_CAPTURE(transform, poly_degree_16, "ntk-poly", Params{})->Apply(sizes);
BENCHMARK_CAPTURE(transform, sketch, "ntk-sketch", Params{})->Apply(sizes);
BENCHMARK_CAPTURE(transform, sketch_polysketch, "ntk-sketch", Params{{"powers", "polysketch"}})
    ->Apply(sizes);
BENCHMARK_CAPTURE(draw, sphere_published, "sphere", "false")
    ->Arg(8192)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(draw, sphere, "sphere", "true")
    ->Arg(8192)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(draw, gibbs_published, "gibbs", "false")
    ->Arg(8192)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kerf::detail
