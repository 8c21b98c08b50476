// Training on rows that come from somewhere else: a stream of one's own.
//
// SPDX-License-Identifier: Apache-2.0
#include <kerf/kerf.h>

#include <cmath>
#include <cstdio>
#include <random>

/// A million rows would do as well: they are made block by block and never held.
class Simulated final : public kerf::RowStream {
 public:
  void rewind() override { generator_.seed(3), blocks_ = 0; }
  bool next(kerf::Table& block) override {
    if (blocks_++ == 20) return false;
    std::normal_distribution<float> normal;
    for (kerf::Index i = 0; i < x_.rows(); ++i) {
      for (float& value : x_.row(i)) value = normal(generator_);
      y_(i, 0) = std::sin(2.0 * x_(i, 0)) * x_(i, 1);
    }
    block.x = x_.view();
    block.y = y_.view();
    return true;
  }

 private:
  std::mt19937 generator_;
  int blocks_ = 0;
  kerf::Matrix<float> x_{1000, 2};
  kerf::Matrix<double> y_{1000, 1};
};

int main() {
  Simulated stream;
  kerf::Dataset rows = kerf::open_dataset(stream);
  const kerf::Fit fit = kerf::fit(rows, {.map = kerf::maps::Rff{.bandwidth = 1, .features = 512}});
  std::printf("%lld rows, lambda %.2g, explains %.2f %% of the variance\n",
              static_cast<long long>(rows.rows()), fit.report.lambda,
              100 * fit.model.score(rows).r2);
}
