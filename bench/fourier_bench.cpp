// Rows a second of the Fourier maps: matrix product (rff) against fast transforms (fastfood, orf
// structured), in one run; arguments are input columns and features.  Then tefm on all threads: the
// subspace Q found in a stream of 61,440 rows against all features F of the same stream made once,
// and prediction with Q folded in against a model of rff, side by side in one loop (of_limit is the
// quotient); arguments are input columns, features and features before the compression.
//
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>

#include "kerf/core/system/parallel.h"
#include "kerf/features/feature_map.h"
#include "kerf/features/learned/tefm_features.h"
#include "kerf/learn/fit/trainer.h"

namespace kerf::detail {
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

constexpr Index kTefmRows = 61440;

Matrix<float> tefm_rows(Index in_dim) {
  Matrix<float> x(kTefmRows, in_dim);
  rng::fill_normal(rng::Key{2}, 0, {x.data(), static_cast<std::size_t>(kTefmRows * in_dim)});
  return x;
}

Params tefm_params(const benchmark::State& state, const char* variant) {
  return {{"features", std::to_string(state.range(1))},
          {"oversample", std::to_string(state.range(2) / state.range(1))},
          {"bandwidth", "20"},
          {"variant", variant}};
}

using Clock = std::chrono::steady_clock;

/// Times of `ours` and `limit`, one after the other in every iteration, so that a change of the
/// machine's speed meets both; the counter is the quotient of their medians.
template <class Ours, class Limit>
void run_side_by_side(benchmark::State& state, const Ours& ours, const Limit& limit) {
  const auto seconds = [](const auto& work) {
    const auto start = Clock::now();
    work();
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  const auto median = [](std::vector<double>& times) {
    std::ranges::sort(times);
    return times[times.size() / 2];
  };
  std::vector<double> times, limits;
  for (auto _ : state) {
    limits.push_back(seconds(limit));
    times.push_back(seconds(ours));
    state.SetIterationTime(times.back());
  }
  state.counters["limit_ms"] = 1e3 * median(limits);
  state.counters["of_limit"] = median(times) / median(limits);
}

/// Limit: making F once.
void BM_TefmFindQ(benchmark::State& state, const char* variant) {
  const Matrix<float> x = tefm_rows(state.range(0));
  const auto rff = find_feature_map("rff").make(
      x.cols(), {{"features", std::to_string(state.range(2))}, {"bandwidth", "20"}}, rng::Key{1});
  const Params params = tefm_params(state, variant);
  MemorySource rows(x.view(), {}, 1024);
  Matrix<float> f(1024, state.range(2));
  RowBlock block;
  const auto find_q = [&] {
    rows.rewind();
    benchmark::DoNotOptimize(find_feature_map("tefm").fit(rows, params, rng::Key{1}, {}));
  };
  run_side_by_side(state, find_q, [&] {
    rows.rewind();
    while (rows.next(block)) rff->transform(block.x(), f.view().slice(0, block.rows()));
  });
}

/// Limit: a model of rff with as many features as tefm has before the compression.
void BM_TefmPredict(benchmark::State& state) {
  const Matrix<float> x = tefm_rows(state.range(0));
  Matrix<double> y(kTefmRows, 1), scores;
  for (Index i = 0; i < kTefmRows; ++i) y(i, 0) = x(i, 0);
  MemorySource source(x.view(), y.view(), 1024);
  const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
  FitOptions options;
  options.lambda = 1e-3;
  const Model tefm = fit(source, summary, "tefm", tefm_params(state, "s"), options).model;
  const Params all = {{"features", std::to_string(state.range(2))}, {"bandwidth", "20"}};
  const Model rff = fit(source, summary, "rff", all, options).model;
  MemorySource rows(x.view().slice(0, 16384), {}, 4096);
  RowBlock block;
  const auto predict = [&](const Model& model) {
    const Predictor predictor(model);
    rows.rewind();
    while (rows.next(block)) predictor.scores(block, scores);
  };
  run_side_by_side(
      state, [&] { predict(tefm); }, [&] { predict(rff); });
}

void tefm_sizes(benchmark::internal::Benchmark* bench) {
  bench->Args({280, 256, 1024})
      ->Args({784, 1024, 4096})
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(BM_TefmFindQ, s, "s")->Apply(tefm_sizes);
BENCHMARK_CAPTURE(BM_TefmFindQ, g, "g")->Apply(tefm_sizes);
BENCHMARK(BM_TefmPredict)->Apply(tefm_sizes);

}  // namespace
}  // namespace kerf::detail
