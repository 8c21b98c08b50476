// The same features from C++, for tests that compare bits and for the measurement of Python's
// overhead.
//
//   kerf_cpp_side IN OUT ROWS COLS REPEATS MAP [NAME=VALUE ...]      IN, OUT: raw float32
//
// Prints the best time of REPEATS transforms, each into memory of its own, in seconds.
//
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <fstream>

#include "kerf/inside.h"

int main(int argc, char** argv) {
  using namespace kerf;
  using namespace kerf::detail;
  if (argc < 7) return 2;
  Matrix<float> x(std::atoll(argv[3]), std::atoll(argv[4]));
  std::ifstream(argv[1], std::ios::binary)
      .read(reinterpret_cast<char*>(x.data()), 4 * x.rows() * x.cols());
  Params params;
  for (int i = 7; i < argc; ++i) {
    const std::string option = argv[i];
    params[option.substr(0, option.find('='))] = option.substr(option.find('=') + 1);
  }
  const auto map = Recipe{argv[6], params, 1, x.cols()}.make();
  double best = 1e300;
  for (int repeat = 0; repeat < std::atoi(argv[5]); ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    Matrix<float> z(x.rows(), map->out_dim());
    map->transform(x.view(), z.view());
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    best = std::min(best, seconds.count());
    if (repeat > 0) continue;
    std::ofstream(argv[2], std::ios::binary)
        .write(reinterpret_cast<const char*>(z.data()), 4 * z.rows() * z.cols());
  }
  std::printf("%.9f\n", best);
}
