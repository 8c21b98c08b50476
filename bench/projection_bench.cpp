// The projection's speed against OpenBLAS SGEMM of the same product, in one run.
//
// SPDX-License-Identifier: Apache-2.0
#include "kerf/linalg/projection.h"

#include <benchmark/benchmark.h>

#include "kerf/core/random/random.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

Matrix<float> gaussian(Index rows, Index cols, std::uint64_t seed) {
  Matrix<float> x(rows, cols);
  rng::fill_normal(rng::Key{seed}, 0, {x.data(), static_cast<std::size_t>(rows * cols)});
  return x;
}

void count_flops(benchmark::State& state, Index rows, Index in_dim, Index out_dim) {
  const double flops = 2.0 * static_cast<double>(rows * in_dim * out_dim);
  state.counters["flop"] = benchmark::Counter(flops * static_cast<double>(state.iterations()),
                                              benchmark::Counter::kIsRate);
}

void BM_Projection(benchmark::State& state) {
  const Index rows = state.range(0), in_dim = state.range(1), out_dim = state.range(2);
  const auto x = gaussian(rows, in_dim, 1);
  const Projection projection(in_dim, out_dim, [](Index j, std::span<float> w) {
    rng::fill_normal(rng::Key{2}, static_cast<std::uint64_t>(j) * w.size(), w);
    return 0.0f;
  });
  Matrix<float> out(rows, out_dim);
  for (auto _ : state) {
    projection.apply(x.view(), out.view());
    benchmark::DoNotOptimize(out.data());
  }
  count_flops(state, rows, in_dim, out_dim);
}

void BM_Sgemm(benchmark::State& state) {
  const Index rows = state.range(0), in_dim = state.range(1), out_dim = state.range(2);
  const auto x = gaussian(rows, in_dim, 1), w = gaussian(out_dim, in_dim, 2);
  Matrix<float> out(rows, out_dim);
  for (auto _ : state) {
    blas::gemm(false, true, 1.0f, x.view(), w.view(), 0.0f, out.view());
    benchmark::DoNotOptimize(out.data());
  }
  count_flops(state, rows, in_dim, out_dim);
}

void BM_Normals(benchmark::State& state) {
  std::vector<float> x(1 << 16);
  for (auto _ : state) {
    rng::fill_normal(rng::Key{1}, 0, std::span(x));
    benchmark::DoNotOptimize(x.data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * (1 << 16));
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->Args({960, 784, 4096})
      ->Args({960, 64, 4096})
      ->Args({960, 8, 4096})
      ->Args({960, 4096, 4096})
      ->Args({1, 784, 1024});
}
BENCHMARK(BM_Projection)->Apply(sizes);
BENCHMARK(BM_Sgemm)->Apply(sizes);
BENCHMARK(BM_Normals);

}  // namespace
}  // namespace kerf::detail
