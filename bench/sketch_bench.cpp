// The sketches' speed: rows a second, one and two threads.  Peers: bench/peers/sketch_numpy.py.
//
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "kerf/core/random/random.h"
#include "kerf/core/rows/matrix.h"
#include "kerf/core/system/parallel.h"
#include "kerf/sketch/count_sketch.h"
#include "kerf/sketch/poly_sketch.h"
#include "kerf/sketch/row_sketch.h"
#include "kerf/sketch/srht.h"
#include "kerf/sketch/tensor_sketch.h"
#include "kerf/sketch/tensor_srht.h"
#include "kerf/transforms/walsh_hadamard.h"

namespace kerf::detail {
namespace {

constexpr Index kRows = 256;

Matrix<float> gaussian(Index rows, Index cols, std::uint64_t seed) {
  Matrix<float> x(rows, cols);
  rng::fill_normal(rng::Key{seed}, 0, {x.data(), static_cast<std::size_t>(rows * cols)});
  return x;
}

/// Every `step`-th coordinate, shifted from row to row.
CsrMatrix sparse_rows(Index rows, Index cols, Index step) {
  CsrMatrix x;
  x.cols = cols;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = i % step; j < cols; j += step) x.push(static_cast<std::int32_t>(j), 1.0f);
    x.end_row();
  }
  return x;
}

void count_rows(benchmark::State& state, Index rows) {
  const double total = static_cast<double>(rows) * static_cast<double>(state.iterations());
  state.counters["rows"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
  state.counters["s/row"] =
      benchmark::Counter(total, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

template <class Apply>
void run(benchmark::State& state, Index rows, const Apply& apply) {
  set_threads(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    apply();
    benchmark::ClobberMemory();
  }
  count_rows(state, rows);
}

/// What an SRHT is compared with: the same rows through the bare transform, to another matrix.
void BM_BareHadamard4096(benchmark::State& state) {
  const auto x = gaussian(kRows, 4096, 1);
  Matrix<float> out(1, 4096), ones(1, 4096);
  ones.fill(1.0f);
  run(state, kRows, [&] {
    for (Index i = 0; i < kRows; ++i) signed_walsh_hadamard(x.row(i), ones.row(0), out.row(0));
  });
}
BENCHMARK(BM_BareHadamard4096)->ArgName("threads")->Arg(1)->UseRealTime();

void BM_Srht4096To1024(benchmark::State& state) {
  const auto x = gaussian(kRows, 4096, 1);
  Matrix<float> out(kRows, 1024);
  const Srht sketch(4096, 1024, rng::Key{2});
  run(state, kRows, [&] { sketch.apply(x.view(), out.view()); });
}
BENCHMARK(BM_Srht4096To1024)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime();

void BM_TensorSketch4096(benchmark::State& state) {
  const auto x = gaussian(kRows, 4096, 1), y = gaussian(kRows, 4096, 2);
  Matrix<float> out(kRows, 4096);
  const TensorSketch sketch({4096, 4096}, 4096, rng::Key{3});
  const RowsView factors[] = {x.view(), y.view()};
  run(state, kRows, [&] { sketch.apply(factors, out.view()); });
}
BENCHMARK(BM_TensorSketch4096)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime();

void BM_TensorSrht4096(benchmark::State& state) {
  const auto x = gaussian(kRows, 4096, 1), y = gaussian(kRows, 4096, 2);
  Matrix<float> out(kRows, 4096);
  const TensorSrht sketch(4096, 4096, 4096, rng::Key{3});
  const RowsView factors[] = {x.view(), y.view()};
  run(state, kRows, [&] { sketch.apply(factors, out.view()); });
}
BENCHMARK(BM_TensorSrht4096)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime();

/// Blocks of 64 rows, as a stream of rows has them: 9.4 MB of output, which the last cache holds.
void BM_PolySketchPowers8(benchmark::State& state) {
  constexpr Index rows = 64;
  const auto x = gaussian(rows, 784, 1);
  Matrix<float> out(rows, 9 * 4096);
  const PolySketch sketch(784, {.degree = 8, .out_dim = 4096}, rng::Key{3});
  run(state, rows, [&] { sketch.apply_powers(x.view(), out.view()); });
}
BENCHMARK(BM_PolySketchPowers8)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime();

/// args: threads, 100 / density (1: dense storage).
void BM_CountSketch(benchmark::State& state) {
  const Index dim = 16384, out_dim = 1024, step = state.range(1);
  const auto dense = gaussian(kRows, dim, 1);
  const auto sparse = sparse_rows(kRows, dim, step);
  Matrix<float> out(kRows, out_dim);
  const CountSketch sketch(dim, out_dim, rng::Key{3});
  const RowsView rows = step == 1 ? RowsView(dense.view()) : RowsView(sparse.view());
  run(state, kRows, [&] { sketch.apply(rows, out.view()); });
}
BENCHMARK(BM_CountSketch)
    ->ArgNames({"threads", "one_in"})
    ->Args({1, 1})
    ->Args({1, 10})
    ->Args({1, 50})
    ->Args({1, 100})
    ->Args({1, 200})
    ->UseRealTime();

void BM_RowOsnap(benchmark::State& state) {
  const auto z = gaussian(1024, 1024, 1);
  RowOsnap sketch(4096, 1024, 8, rng::Key{2});
  run(state, 1024, [&] { sketch.add(0, z.view()); });
}
BENCHMARK(BM_RowOsnap)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime();

void BM_RowSrht(benchmark::State& state) {
  const auto z = gaussian(2048, 1024, 1);
  RowSrht sketch(1024, 1024, rng::Key{2});
  Index first = 0;
  run(state, 2048, [&] { sketch.add(first, z.view()), first += 2048; });
}
BENCHMARK(BM_RowSrht)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime();

}  // namespace
}  // namespace kerf::detail
