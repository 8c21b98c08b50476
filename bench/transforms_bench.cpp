// The transforms' speed, with what this machine's adders and memory allow measured in the same run.
//
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstring>

#include "kerf/core/rows/matrix.h"
#include "kerf/core/system/parallel.h"
#include "kerf/transforms/walsh_hadamard.h"

namespace kerf::detail {
namespace {

void count_rows(benchmark::State& state, Index rows) {
  state.counters["rows"] =
      benchmark::Counter(static_cast<double>(rows) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
  state.counters["s/row"] =
      benchmark::Counter(static_cast<double>(rows) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// Time per addition is what to compare across lengths.
void count_adds(benchmark::State& state, Index rows, Index n) {
  const double adds = static_cast<double>(rows * n) * std::log2(static_cast<double>(n));
  state.counters["adds"] = benchmark::Counter(adds * static_cast<double>(state.iterations()),
                                              benchmark::Counter::kIsRate);
}

#if defined(__x86_64__)
using Eight = float __attribute__((vector_size(32)));

/// The limit of the adders: independent 8-wide additions, nothing else.
__attribute__((target("avx2"))) void add_in_registers(Index count, float* out) {
  Eight a = {}, b = {}, c = {}, d = {}, e = {}, f = {}, g = {}, h = {};
  const Eight one = {1, 1, 1, 1, 1, 1, 1, 1};
  for (Index i = 0; i < count; ++i) {
    a += one, b += one, c += one, d += one, e += one, f += one, g += one, h += one;
    __asm__ volatile("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d), "+x"(e), "+x"(f), "+x"(g), "+x"(h));
  }
  *out += (a + b + c + d + e + f + g + h)[0];
}

void BM_PeakAdds(benchmark::State& state) {
  constexpr Index count = 10000;
  float sink = 0;
  for (auto _ : state) {
    add_in_registers(count, &sink);
    benchmark::DoNotOptimize(sink);
  }
  state.counters["adds"] =
      benchmark::Counter(static_cast<double>(count) * 64 * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
}
BENCHMARK(BM_PeakAdds);
#endif

/// The limit of memory: copying 128 MB, bytes read plus bytes written.
void BM_MemoryCopy(benchmark::State& state) {
  const Index count = Index{1} << 25;
  Matrix<float> from(1, count), to(1, count);
  from.fill(1.0f);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), static_cast<std::size_t>(count) * sizeof(float));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * count * 8);
}
BENCHMARK(BM_MemoryCopy);

/// Rows of zeros, transformed in place again and again: other values would overflow, and additions
/// take the same time.
void transform_zeros(benchmark::State& state, Index rows, Index n) {
  Matrix<float> x(rows, n);
  x.fill(0.0f);
  for (auto _ : state) {
    walsh_hadamard(x.view());
    benchmark::DoNotOptimize(x.data());
  }
  count_rows(state, rows);
  count_adds(state, rows, n);
}

/// args: length, rows, threads.
void BM_Hadamard(benchmark::State& state) {
  const Index n = state.range(0), rows = state.range(1);
  set_threads(static_cast<int>(state.range(2)));
  transform_zeros(state, rows, n);
}
BENCHMARK(BM_Hadamard)
    ->ArgNames({"n", "rows", "threads"})
    ->Args({64, 64, 1})
    ->Args({256, 16, 1})
    ->Args({1024, 4, 1})
    ->Args({2048, 2, 1})
    ->Args({4096, 1, 1})
    ->Args({8192, 1, 1})
    ->Args({1 << 14, 1, 1})
    ->Args({1 << 16, 1, 1})
    ->Args({1 << 17, 1, 1})
    ->Args({1 << 20, 1, 1})
    ->Args({1 << 22, 1, 1})
    ->Args({1 << 24, 1, 1})
    ->Args({1024, 1024, 1})
    ->Args({1024, 1024, 2})
    ->Args({4096, 256, 1})
    ->Args({4096, 256, 2})
    ->UseRealTime();

/// Each core with rows of its own in its first cache, without a pool between: what two cores give.
/// (1,024 rows of 1,024 above are 4 MB: there the third-level cache, which cores share, sets the
/// pace.)
void BM_HadamardInEachCache(benchmark::State& state) {
  const Index n = state.range(0), rows = 4096 / n;
  set_threads(1);
  transform_zeros(state, rows, n);
}
BENCHMARK(BM_HadamardInEachCache)
    ->ArgName("n")
    ->Arg(1024)
    ->Arg(4096)
    ->ThreadRange(1, 2)
    ->UseRealTime();

}  // namespace
}  // namespace kerf::detail
