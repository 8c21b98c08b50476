// The transforms' speed, with what this machine's adders and memory allow measured in the same run.
//
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstring>

#include "kerf/core/matrix.h"
#include "kerf/core/parallel.h"
#include "kerf/core/random.h"
#include "kerf/transforms/walsh_hadamard.h"

namespace kerf {
namespace {

Matrix<float> gaussian(Index rows, Index cols, std::uint64_t seed) {
  Matrix<float> x(rows, cols);
  rng::fill_normal(rng::Key{seed}, 0, {x.data(), static_cast<std::size_t>(rows * cols)});
  return x;
}

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

/// args: length, rows, threads.  Rows are transformed again and again in place, scaled back now and
/// then by starting over (the values grow by n^1/2 each time).
void BM_Hadamard(benchmark::State& state) {
  const Index n = state.range(0), rows = state.range(1);
  set_threads(static_cast<int>(state.range(2)));
  Matrix<float> x(rows, n);
  x.fill(0.0f);
  for (auto _ : state) {
    walsh_hadamard(x.view());
    benchmark::DoNotOptimize(x.data());
  }
  count_rows(state, rows);
  count_adds(state, rows, n);
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

}  // namespace
}  // namespace kerf
