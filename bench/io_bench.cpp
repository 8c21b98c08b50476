// Reading speed: numbers of text against strtod and from_chars, rows through each compression, and
// bytes of images.  Every figure of a comparison comes from one run.
//
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "kerf/core/random/random.h"
#include "kerf/io/registry.h"
#include "kerf/io/text/number.h"

namespace {

using namespace kerf::detail;

constexpr int kRows = 50000, kColumns = 20;

/// A table of six-digit numbers, as most files have them.
const std::string& table() {
  static const std::string text = [] {
    std::string out;
    for (int i = 0; i < kRows * kColumns; ++i) {
      const double value = rng::normal(rng::Key{1}, static_cast<std::uint64_t>(i));
      out += fmt::format("{:.6g}{}", value, (i + 1) % kColumns == 0 ? '\n' : ',');
    }
    return out + std::string(io::kNumberPadding, '\0');
  }();
  return text;
}

void count_numbers(benchmark::State& state) {
  state.counters["numbers/s"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * kRows * kColumns, benchmark::Counter::kIsRate);
}

void strtod_numbers(benchmark::State& state) {
  benchmark::DoNotOptimize(table().data());  // made before the clock starts
  for (auto _ : state) {
    double sum = 0;
    char* end = nullptr;
    for (const char* p = table().data(); *p != 0; p = end + 1) sum += std::strtod(p, &end);
    benchmark::DoNotOptimize(sum);
  }
  count_numbers(state);
}
BENCHMARK(strtod_numbers)->Unit(benchmark::kMillisecond);

void from_chars_numbers(benchmark::State& state) {
  const char* last = table().data() + table().size();
  for (auto _ : state) {
    double sum = 0, value = 0;
    for (const char* p = table().data(); *p != 0;) {
      p = std::from_chars(p, last, value).ptr + 1;
      sum += value;
    }
    benchmark::DoNotOptimize(sum);
  }
  count_numbers(state);
}
BENCHMARK(from_chars_numbers)->Unit(benchmark::kMillisecond);

void parse_decimal_numbers(benchmark::State& state) {
  benchmark::DoNotOptimize(table().data());
  for (auto _ : state) {
    double sum = 0, value = 0;
    for (const char* p = table().data(); *p != 0;) {
      p = io::parse_decimal(p, value) + 1;
      sum += value;
    }
    benchmark::DoNotOptimize(sum);
  }
  count_numbers(state);
}
BENCHMARK(parse_decimal_numbers)->Unit(benchmark::kMillisecond);

/// A file in a folder of its own that goes away at the end.
std::string write_file(const std::string& name, const std::string& bytes) {
  static const struct Folder {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / fmt::format("kerf-bench-{}", ::getpid());
    Folder() { std::filesystem::create_directory(path); }
    ~Folder() { std::filesystem::remove_all(path); }
  } folder;
  const std::string path = (folder.path / name).string();
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

Index read_rows(const std::string& path) {
  const auto reader = io::open_source({path}, {}, "", true);
  io::RawBlock block;
  Index rows = 0;
  while (reader->next(block, 2048)) rows += block.rows;
  return rows;
}

void csv_file(benchmark::State& state) {
  const std::string path =
      write_file("t.csv", table().substr(0, table().size() - io::kNumberPadding));
  for (auto _ : state) benchmark::DoNotOptimize(read_rows(path));
  count_numbers(state);
}
BENCHMARK(csv_file)->Unit(benchmark::kMillisecond);

void packed_csv(benchmark::State& state, const char* program, const char* ending) {
  const std::string path =
      write_file("p.csv", table().substr(0, table().size() - io::kNumberPadding));
  if (std::system(fmt::format("{} -k -f -q {}", program, path).c_str()) != 0)
    return state.SkipWithError("the program that packs is not there");
  for (auto _ : state) benchmark::DoNotOptimize(read_rows(path + ending));
  state.counters["rows/s"] = benchmark::Counter(static_cast<double>(state.iterations()) * kRows,
                                                benchmark::Counter::kIsRate);
  count_numbers(state);
}
BENCHMARK_CAPTURE(packed_csv, gzip, "gzip", ".gz")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(packed_csv, xz, "xz -1", ".xz")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(packed_csv, zstd, "zstd", ".zst")->Unit(benchmark::kMillisecond);

void images(benchmark::State& state, bool cifar) {
  constexpr int kImages = 20000;
  std::string bytes = cifar ? "" : std::string("\0\0\x08\x03\0\0\x4e\x20\0\0\0\x1c\0\0\0\x1c", 16);
  for (int i = 0; i < kImages; ++i) {
    if (cifar) bytes += static_cast<char>(i % 10);
    bytes.append(cifar ? 3072 : 784, static_cast<char>(i));
  }
  const std::string path = write_file(cifar ? "data_batch_1.bin" : "images", bytes);
  for (auto _ : state) benchmark::DoNotOptimize(read_rows(path));
  state.SetBytesProcessed(state.iterations() * static_cast<Index>(bytes.size()));
}
BENCHMARK_CAPTURE(images, idx, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(images, cifar, true)->Unit(benchmark::kMillisecond);

}  // namespace
