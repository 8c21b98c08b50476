// Gram matrices against the GEMM that they contain, in one run.
//
//   gram_bench --benchmark_filter=10000     rows x rows of 784 columns, like MNIST
//
// The CPU column is that of all threads: on a machine with other work compare that one.
//
// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/gram/gram.h"

#include <benchmark/benchmark.h>

#include <cmath>

#include "kerf/core/random/random.h"
#include "kerf/core/system/parallel.h"
#include "kerf/kernels/gram/median_distance.h"
#include "kerf/kernels/gram/pointwise.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

constexpr Index kCols = 784;

/// Ten shapes of non-negative pixels with noise, 0 .. 255.
Matrix<float> images(Index rows, std::uint64_t seed) {
  Matrix<float> x(rows, kCols);
  rng::fill_normal(rng::Key{seed}, 0, {x.data(), static_cast<std::size_t>(rows * kCols)});
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < kCols; ++j) {
      const double shape =
          std::sin(0.13 * static_cast<double>(j) * static_cast<double>(i % 10 + 1));
      const double pixel = 255 * (shape - 0.5 + 0.4 * static_cast<double>(x(i, j)));
      x(i, j) = static_cast<float>(std::clamp(pixel, 0.0, 255.0));
    }
  return x;
}

template <class T>
Matrix<T> copied(const Matrix<float>& x) {
  Matrix<T> out(x.rows(), x.cols());
  std::copy_n(x.data(), x.rows() * x.cols(), out.data());
  return out;
}

std::unique_ptr<Kernel> kernel_of(int which) {
  if (which == 0) return find_kernel("ntk").make({{"depth", "3"}, {"bias", "0"}});
  constexpr const char* kNames[] = {"gaussian", "laplacian", "cauchy"};
  return find_kernel(kNames[which - 1]).make({{"bandwidth", which == 2 ? "60000" : "3000"}});
}

/// OpenBLAS on all of the matrix at once, with its own threads.
template <class T>
void BM_GemmWhole(benchmark::State& state) {
  const auto x = copied<T>(images(state.range(0), 1));
  Matrix<T> out(x.rows(), x.rows());
  out.fill(0);
  for (auto _ : state) {
    blas::product(false, true, T{1}, x.view(), x.view(), T{0}, out.view());
    benchmark::DoNotOptimize(out.data());
  }
}

/// The products of Gram's tiles and nothing else: the upper half of them if symmetric.
template <class T, bool kSymmetric>
void BM_GemmTiles(benchmark::State& state) {
  const auto x = copied<T>(images(state.range(0), 1));
  const Index n = x.rows(), tiles = (n + kGramTile - 1) / kGramTile;
  Matrix<T> out(n, n);
  out.fill(0);
  for (auto _ : state)
    parallel_for(tiles * tiles, 1, [&](Index t, Index) {
      const Index i = t / tiles * kGramTile, j = t % tiles * kGramTile;
      if (kSymmetric && j < i) return;
      const auto left = x.view().slice(i, std::min(i + kGramTile, n));
      const auto right = x.view().slice(j, std::min(j + kGramTile, n));
      blas::gemm(false, true, T{1}, MatrixView<const T>(left), MatrixView<const T>(right), T{0},
                 MatrixView<T>(out.data() + i * n + j, left.rows, right.rows, n));
    });
}

template <class T, bool kSymmetric, int kKernel>
void BM_Gram(benchmark::State& state) {
  const auto x = images(state.range(0), 1), y = images(state.range(0), 2);
  const auto kernel = kernel_of(kKernel);
  Matrix<T> out(x.rows(), x.rows());
  out.fill(0);
  for (auto _ : state) {
    gram<T>(*kernel, x.view(), kSymmetric ? x.view() : y.view(), out.view());
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * x.rows() * x.rows());
}

template <class T>
void BM_NtkPointwise(benchmark::State& state) {
  std::vector<T> u(512), v(512), out(512);
  for (std::size_t i = 0; i < 512; ++i) u[i] = static_cast<T>(i) / 512, v[i] = 2 - u[i];
  for (auto _ : state) {
    pointwise::ntk(state.range(0), u, v, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * 512);
}

void BM_MedianDistance(benchmark::State& state) {
  const auto x = images(1000, 1);
  for (auto _ : state) benchmark::DoNotOptimize(median_distance(x.view(), DistanceNorm::l2));
}

void size(benchmark::internal::Benchmark* bench) {
  bench->Arg(10000)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);
}
void small(benchmark::internal::Benchmark* bench) {
  bench->Arg(2000)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);
}
BENCHMARK_TEMPLATE(BM_GemmWhole, float)->Apply(size);
BENCHMARK_TEMPLATE(BM_GemmTiles, float, false)->Apply(size);
BENCHMARK_TEMPLATE(BM_Gram, float, false, 0)->Apply(size);
BENCHMARK_TEMPLATE(BM_GemmTiles, float, true)->Apply(size);
BENCHMARK_TEMPLATE(BM_Gram, float, true, 0)->Apply(size);
BENCHMARK_TEMPLATE(BM_Gram, float, true, 1)->Apply(size);
BENCHMARK_TEMPLATE(BM_GemmTiles, double, true)->Apply(size);
BENCHMARK_TEMPLATE(BM_Gram, double, true, 0)->Apply(size);
BENCHMARK_TEMPLATE(BM_Gram, float, true, 2)->Apply(small);
BENCHMARK_TEMPLATE(BM_Gram, float, true, 3)->Apply(small);
BENCHMARK_TEMPLATE(BM_NtkPointwise, float)->Arg(1)->Arg(3)->Arg(8);
BENCHMARK_TEMPLATE(BM_NtkPointwise, double)->Arg(1)->Arg(3);
BENCHMARK(BM_MedianDistance)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kerf::detail
