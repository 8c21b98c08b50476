// Features of rows that are in memory already, against the exact kernel they reproduce.
//
// SPDX-License-Identifier: Apache-2.0
#include <kerf/kerf.h>

#include <cmath>
#include <cstdio>
#include <random>

int main() {
  kerf::Matrix<float> x(100, 8);
  std::mt19937 generator(7);
  std::normal_distribution<float> normal;
  for (kerf::Index i = 0; i < 800; ++i) x.data()[i] = normal(generator);

  for (const kerf::Index features : {256, 1024, 4096, 16384}) {
    const kerf::maps::Rff rff{.kernel = "laplacian", .bandwidth = 5, .features = features};
    const kerf::FeatureMap map(rff, x.cols());
    const kerf::Matrix<float> z = map.transform(x.view());
    const kerf::Matrix<double> exact = map.kernel().gram(x.view());
    double error = 0;
    for (kerf::Index i = 0; i < x.rows(); ++i)
      for (kerf::Index j = 0; j < x.rows(); ++j) {
        double dot = 0;
        for (kerf::Index k = 0; k < z.cols(); ++k) dot += double{z(i, k)} * z(j, k);
        error += std::pow(dot - exact(i, j), 2);
      }
    std::printf("%6lld features: root mean square error %.4f\n", static_cast<long long>(features),
                std::sqrt(error / 1e4));
  }
}
