// Training on rows that come from somewhere else: a source of one's own.
//
// SPDX-License-Identifier: Apache-2.0
#include <kerf/kerf.h>

#include <cmath>
#include <cstdio>

/// A million rows would do as well: they are made block by block and never held.
class Simulated final : public kerf::RowSource {
 public:
  kerf::Index cols() const override { return 2; }
  void rewind() override { next_ = 0; }
  bool next(kerf::RowBlock& block) override {
    constexpr kerf::Index kRows = 20000, kBlock = 1000;
    if (next_ == kRows) return false;
    block.first_row = next_;
    block.dense.resize(kBlock, 2);
    block.targets.resize(kBlock, 1);
    for (kerf::Index i = 0; i < kBlock; ++i, ++next_) {
      for (kerf::Index j = 0; j < 2; ++j)
        block.dense(i, j) =
            static_cast<float>(kerf::rng::normal(key_, static_cast<std::uint64_t>(2 * next_ + j)));
      block.targets(i, 0) = std::sin(2.0 * block.dense(i, 0)) * block.dense(i, 1);
    }
    return true;
  }

 private:
  kerf::Index next_ = 0;
  kerf::rng::Key key_{3};
};

int main() {
  using namespace kerf;
  Simulated rows;
  const DataSummary summary = summarise(rows, Task::regression, {}, rng::Key{1});
  const FitResult fit =
      kerf::fit(rows, summary, "rff", {{"features", "512"}, {"bandwidth", "1"}}, {});
  std::printf("%lld rows, lambda %.2g, explains %.2f %% of the variance\n",
              static_cast<long long>(summary.rows), fit.report.lambda,
              100 * evaluate(fit.model, rows).r2);
}
