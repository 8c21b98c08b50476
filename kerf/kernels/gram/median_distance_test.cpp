// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/gram/median_distance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kerf/core/random/random.h"
#include "kerf/core/rows/matrix.h"
#include "kerf/kernels/kernel.h"

namespace kerf::detail {
namespace {

Matrix<float> column(std::initializer_list<float> values) {
  Matrix<float> x(static_cast<Index>(values.size()), 1);
  std::ranges::copy(values, x.data());
  return x;
}

TEST(MedianDistance, OfAFewPointsByHand) {
  // Distances 1, 2, 3, 4, 6, 7.
  EXPECT_EQ(median_distance(column({0, 1, 3, 7}).view(), DistanceNorm::l2), 4);
  EXPECT_EQ(median_distance(column({0, 1, 3}).view(), DistanceNorm::l1), 2);
  Matrix<float> x(2, 2);
  x(0, 0) = x(0, 1) = 0;
  x(1, 0) = 3;
  x(1, 1) = -4;
  EXPECT_EQ(median_distance(x.view(), DistanceNorm::l2), 5);
  EXPECT_EQ(median_distance(x.view(), DistanceNorm::l1), 7);
}

TEST(MedianDistance, IsPositive) {
  EXPECT_EQ(median_distance(column({}).view(), DistanceNorm::l2), 1);
  EXPECT_EQ(median_distance(column({2}).view(), DistanceNorm::l2), 1);
  EXPECT_EQ(median_distance(column({2, 2, 2}).view(), DistanceNorm::l2), 1);
  EXPECT_EQ(median_distance(column({2, 2, 2, 2, 2, 5}).view(), DistanceNorm::l1), 3);
}

TEST(MedianDistance, IsTheSameForSparseRowsAndForManyRows) {
  Matrix<float> x(3000, 5);
  CsrMatrix sparse;
  sparse.cols = 5;
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < 5; ++j) {
      const auto at = static_cast<std::uint64_t>(i * 5 + j);
      x(i, j) = i % 3 == j % 3 ? 0.0f : static_cast<float>(rng::normal(rng::Key{1}, at));
      if (x(i, j) != 0) sparse.push(static_cast<std::int32_t>(j), x(i, j));
    }
    sparse.end_row();
  }
  for (const auto norm : {DistanceNorm::l1, DistanceNorm::l2}) {
    const double dense = median_distance(x.view(), norm);
    EXPECT_NEAR(median_distance(sparse.view(), norm), dense, 1e-14 * dense);
    EXPECT_GT(dense, 0.5);
  }
}

TEST(MedianDistance, FollowsTheKernel) {
  struct Look final : DataLook {
    using DataLook::DataLook;
    double typical_distance(DistanceNorm norm) const override {
      return norm == DistanceNorm::l1 ? 1 : 2;
    }
    double typical_length() const override { return 3; }
  };
  const DataSummary summary;
  const Look look(summary);
  const auto bandwidth = [&](const char* kernel) {
    Params params;
    OpenOptions options(params, look);
    find_kernel(kernel).resolve(options);
    return params.at("bandwidth");
  };
  EXPECT_EQ(bandwidth("laplacian"), "1");
  for (const char* name : {"gaussian", "laplacian-l2", "cauchy", "matern32", "matern52"})
    EXPECT_EQ(bandwidth(name), "2");
}

}  // namespace
}  // namespace kerf::detail
