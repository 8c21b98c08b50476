// Speed of the convolutional tangent kernel and of its maps, on all threads.  Counters: `ms_pair`
// milliseconds a kernel value, `ms_image` milliseconds an image; BM_Gemm shows what the machine's
// peak comes to in practice (`flops`).
//
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "kerf/core/random/random.h"
#include "kerf/core/system/parallel.h"
#include "kerf/features/feature_map.h"
#include "kerf/kernels/gram/gram.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

Matrix<float> images(Index count, Index side) {
  Matrix<float> x(count, side * side * 3);
  rng::fill_normal(rng::Key{1}, 0, {x.data(), static_cast<std::size_t>(count * x.cols())});
  return x;
}

std::string image(Index side) { return fmt::format("{0}x{0}x3", side); }

void per_item(benchmark::State& state, const char* name, double items) {
  state.counters[name] =
      benchmark::Counter(static_cast<double>(state.iterations()) * items / 1000,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

/// Values of pairs of 32x32x3 images: depth range(0), pooling or not.
template <class T>
void exact(benchmark::State& state, const char* pooling, Index rows) {
  const auto kernel = find_kernel("cntk").make(
      {{"image", image(32)}, {"depth", std::to_string(state.range(0))}, {"pooling", pooling}});
  const auto x = images(rows, 32), y = images(rows, 32);
  Matrix<T> out(rows, rows);
  for (auto _ : state) {
    gram<T>(*kernel, x.view(), y.view(), out.view());
    benchmark::DoNotOptimize(out.data());
  }
  per_item(state, "ms_pair", static_cast<double>(rows * rows));
}

void exact_single(benchmark::State& state, const char* pooling, Index rows) {
  exact<float>(state, pooling, rows);
}
void exact_double(benchmark::State& state, const char* pooling, Index rows) {
  exact<double>(state, pooling, rows);
}

/// Features of images of range(0) x range(0) x 3.
void transform(benchmark::State& state, const char* map, Params params) {
  constexpr Index kImages = 32;
  const Index side = state.range(0);
  params["image"] = image(side);
  params.insert({"features", "4096"});
  const auto x = images(kImages, side);
  const auto made = find_feature_map(map).make(x.cols(), params, rng::Key{1});
  Matrix<float> out(kImages, made->out_dim());
  for (auto _ : state) {
    made->transform(x.view(), out.view());
    benchmark::DoNotOptimize(out.data());
  }
  per_item(state, "ms_image", kImages);
}

template <class T>
void BM_Gemm(benchmark::State& state) {
  constexpr Index kSide = 1024;
  Matrix<T> a(kSide, kSide), c(kSide, kSide);
  a.fill(1);
  for (auto _ : state) {
    parallel_for(kSide, 128, [&](Index begin, Index end) {
      blas::gemm(false, false, T{1}, a.view().slice(begin, end), a.view(), T{0},
                 c.view().slice(begin, end));
    });
    benchmark::DoNotOptimize(c.data());
  }
  state.counters["flops"] =
      benchmark::Counter(2e0 * kSide * kSide * kSide * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
}

void depths(benchmark::internal::Benchmark* bench) {
  bench->Arg(3)->Arg(21)->UseRealTime()->Unit(benchmark::kMillisecond);
}
void sides(benchmark::internal::Benchmark* bench) {
  bench->Arg(16)->Arg(32)->Arg(64)->UseRealTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK(BM_Gemm<float>)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Gemm<double>)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(exact_single, pooling, "gap", 4)->Apply(depths);
BENCHMARK_CAPTURE(exact_double, pooling, "gap", 4)->Apply(depths);
BENCHMARK_CAPTURE(exact_single, vanilla, "none", 512)->Apply(depths);
BENCHMARK_CAPTURE(exact_double, vanilla, "none", 512)->Apply(depths);
BENCHMARK_CAPTURE(transform, rf, "cntk-rf", Params{})->Apply(sides);
BENCHMARK_CAPTURE(transform, sketch, "cntk-sketch", Params{})->Apply(sides);
BENCHMARK_CAPTURE(transform, grad_rf, "cntk-grad-rf", Params{})->Apply(sides);
BENCHMARK_CAPTURE(transform, rf_vanilla, "cntk-rf", Params{{"pooling", "none"}})->Apply(sides);
BENCHMARK_CAPTURE(transform, rf_depth_5, "cntk-rf", Params{{"depth", "5"}})
    ->Arg(32)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kerf::detail
