// The promises of kerf/sketch/sketch.h, for every sketch.
//
// SPDX-License-Identifier: Apache-2.0
#include "kerf/sketch/sketch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>

#include "kerf/core/random/random.h"
#include "kerf/core/rows/matrix.h"
#include "kerf/core/system/parallel.h"
#include "kerf/sketch/count_sketch.h"
#include "kerf/sketch/gaussian_sketch.h"
#include "kerf/sketch/poly_sketch.h"
#include "kerf/sketch/srht.h"
#include "kerf/sketch/tensor_sketch.h"
#include "kerf/sketch/tensor_srht.h"

namespace kerf::detail {
namespace {

constexpr Index kDim = 37, kOut = 24, kRows = 45;

/// A sketch as a function of as many factors as it takes; `apply` runs the same rows through all.
struct Entry {
  const char* name;
  Index factors, cols;
  std::function<void(rng::Key, const std::vector<RowsView>&, MatrixView<float>)> apply;
};

template <class Make>
Entry linear(const char* name, Make make) {
  return {name, 1, kOut, [make](rng::Key key, const std::vector<RowsView>& x, auto out) {
            make(key).apply(x[0], out);
          }};
}

template <class Make>
Entry tensor(const char* name, Index factors, Make make) {
  return {name, factors, kOut, [make](rng::Key key, const std::vector<RowsView>& x, auto out) {
            make(key).apply(x, out);
          }};
}

Entry powers(const char* name, PolyLeaf leaf) {
  return {name, 1, 4 * kOut, [leaf](rng::Key key, const std::vector<RowsView>& x, auto out) {
            PolySketch(kDim, {3, kOut, leaf, 2}, key).apply_powers(x[0], out);
          }};
}

std::vector<Entry> sketches() {
  const auto poly = [](Index degree, PolyLeaf leaf) {
    return [=](rng::Key key) { return PolySketch(kDim, {degree, kOut, leaf, 2}, key); };
  };
  return {
      linear("CountSketch", [](rng::Key key) { return CountSketch(kDim, kOut, key); }),
      linear("Osnap", [](rng::Key key) { return Osnap(kDim, kOut, 3, key); }),
      linear("Srht", [](rng::Key key) { return Srht(kDim, kOut, key); }),
      linear("GaussianSketch", [](rng::Key key) { return GaussianSketch(kDim, kOut, key); }),
      tensor("TensorSketch1", 1, [](rng::Key key) { return TensorSketch({kDim}, kOut, key); }),
      tensor("TensorSketch3", 3,
             [](rng::Key key) {
               return TensorSketch({kDim, kDim, kDim}, kOut, key);
             }),
      tensor("TensorSrht", 2, [](rng::Key key) { return TensorSrht(kDim, kDim, kOut, key); }),
      tensor("PolySketch1", 1, poly(1, PolyLeaf::srht)),
      tensor("PolySketchSrht", 5, poly(5, PolyLeaf::srht)),
      tensor("PolySketchOsnap", 3, poly(3, PolyLeaf::osnap)),
      powers("PolySketchPowersSrht", PolyLeaf::srht),
      powers("PolySketchPowersOsnap", PolyLeaf::osnap),
  };
}

/// Some zeros everywhere, and a whole row of them at the end.
Matrix<float> sample_rows(std::uint64_t seed) {
  Matrix<float> x(kRows, kDim);
  rng::fill_normal(rng::Key{seed}, 0, {x.data(), static_cast<std::size_t>(kRows * kDim)});
  for (Index i = 0; i < kRows; ++i)
    for (Index j = 0; j < kDim; ++j)
      if (i == kRows - 1 || (i + j) % 3 == 0) x(i, j) = 0;
  return x;
}

CsrMatrix sparse_copy(const Matrix<float>& x) {
  CsrMatrix s;
  s.cols = x.cols();
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j)
      if (x(i, j) != 0) s.push(static_cast<std::int32_t>(j), x(i, j));
    s.end_row();
  }
  return s;
}

class EverySketch : public testing::TestWithParam<Entry> {
 protected:
  EverySketch() {
    for (Index k = 0; k < GetParam().factors; ++k)
      factors_.push_back(sample_rows(static_cast<std::uint64_t>(k + 1)));
  }
  ~EverySketch() override { set_threads(threads_before_); }

  std::vector<float> apply(rng::Key key, Index begin = 0, Index end = kRows) const {
    std::vector<RowsView> views;
    for (const auto& factor : factors_) views.push_back(RowsView(factor.view()).slice(begin, end));
    return apply(key, views, end - begin);
  }
  std::vector<float> apply(rng::Key key, const std::vector<RowsView>& views, Index rows) const {
    const Index cols = GetParam().cols;
    std::vector<float> out(rows * cols, 7.0f);
    GetParam().apply(key, views, {out.data(), rows, cols});
    return out;
  }

  const int threads_before_ = threads();
  std::vector<Matrix<float>> factors_;
};

TEST_P(EverySketch, GivesTheSameBitsForTheSameKeyAndOthersForAnother) {
  EXPECT_EQ(apply({3}), apply({3}));
  EXPECT_NE(apply({3}), apply({4}));
}

TEST_P(EverySketch, DoesNotCareWhereBlocksAreCutOrHowManyThreadsThereAre) {
  set_threads(1);
  const auto whole = apply({3});
  set_threads(3);
  EXPECT_EQ(apply({3}), whole);
  std::vector<float> parts;
  for (Index begin = 0; begin < kRows;) {
    const Index end = std::min(kRows, begin + 1 + begin % 7);
    const auto part = apply({3}, begin, end);
    parts.insert(parts.end(), part.begin(), part.end());
    begin = end;
  }
  EXPECT_EQ(parts, whole);
}

TEST_P(EverySketch, TreatsSparseRowsAsDenseOnes) {
  std::vector<CsrMatrix> sparse;
  std::vector<RowsView> views;
  for (const auto& factor : factors_) sparse.push_back(sparse_copy(factor));
  for (const auto& factor : sparse) views.emplace_back(factor.view());
  EXPECT_EQ(apply({3}, views, kRows), apply({3}));
}

TEST_P(EverySketch, SendsAZeroRowToZeros) {
  const auto out = apply({3}, kRows - 1, kRows);
  const Index powers = GetParam().cols / kOut;
  // Power 0 of a zero row is a constant, not zero.
  for (std::size_t i = powers > 1 ? static_cast<std::size_t>(kOut) : 0; i < out.size(); ++i)
    EXPECT_EQ(out[i], 0.0f);
  for (const float value : out) EXPECT_TRUE(std::isfinite(value));
}

// T(.., x + 2 y, ..) = T(.., x, ..) + 2 T(.., y, ..) in each factor.  Powers are not linear.
TEST_P(EverySketch, IsLinearInEachFactor) {
  if (GetParam().cols != kOut) GTEST_SKIP() << "powers of x are not linear in x";
  const auto x = apply({3});
  for (std::size_t k = 0; k < factors_.size(); ++k) {
    const auto saved = sample_rows(k + 1), other = sample_rows(k + 100);
    factors_[k] = sample_rows(k + 100);
    const auto y = apply({3});
    for (Index i = 0; i < kRows * kDim; ++i)
      factors_[k].data()[i] = saved.data()[i] + 2 * other.data()[i];
    const auto sum = apply({3});
    double size = 0;
    for (std::size_t i = 0; i < sum.size(); ++i)
      size = std::max(size, double{std::abs(x[i])} + 2 * double{std::abs(y[i])});
    // Some 60 roundings of 2^-24 on the deepest way, relative to the largest entries.
    for (std::size_t i = 0; i < sum.size(); ++i)
      EXPECT_NEAR(sum[i], x[i] + 2 * y[i], 60 * std::ldexp(size, -24));
    factors_[k] = sample_rows(k + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EverySketch, testing::ValuesIn(sketches()),
                         [](const auto& entry) { return std::string(entry.param.name); });

}  // namespace
}  // namespace kerf::detail
