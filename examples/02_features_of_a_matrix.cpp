// Features of rows that are in memory already, against the exact kernel they reproduce.
//
// SPDX-License-Identifier: Apache-2.0
#include <kerf/kerf.h>

#include <cmath>
#include <cstdio>

int main() {
  using namespace kerf;
  Matrix<float> x(100, 8);
  rng::fill_normal(rng::Key{7}, 0, std::span(x.data(), 800));

  const Params options = {{"kernel", "laplacian"}, {"bandwidth", "5"}};
  for (const char* features : {"256", "1024", "4096", "16384"}) {
    Params params = options;
    params["features"] = features;
    const FeatureMapEntry& entry = find_feature_map("rff");
    const auto map = entry.make(x.cols(), params, rng::Key{1});
    Matrix<float> z(x.rows(), map->out_dim());
    map->transform(x.view(), z.view());

    Matrix<double> exact(x.rows(), x.rows());
    gram(*entry.kernel(params), x.view(), x.view(), exact.view());
    double error = 0;
    for (Index i = 0; i < x.rows(); ++i)
      for (Index j = 0; j < x.rows(); ++j) {
        double dot = 0;
        for (Index k = 0; k < z.cols(); ++k) dot += double{z(i, k)} * z(j, k);
        error += std::pow(dot - exact(i, j), 2);
      }
    std::printf("%6s features: root mean square error %.4f\n", features, std::sqrt(error / 1e4));
  }
}
