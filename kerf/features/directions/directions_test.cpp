// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/directions/directions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kerf/core/rows/matrix.h"
#include "kerf/features/directions/test_directions.h"
#include "kerf/transforms/walsh_hadamard.h"

namespace kerf::detail {
namespace {

constexpr Directions kUnit[] = {Directions::sphere, Directions::orthogonal, Directions::structured,
                                Directions::gibbs};

TEST(Directions, HaveUnitLengthExceptGaussianOnes) {
  for (const Directions kind : kUnit) {
    const Matrix<double> w = matrix_of(DirectionSet(kind, 8, 0, 21, rng::Key{1}), 8);
    for (Index j = 0; j < 21; ++j) {
      double square = 0;
      for (const double v : w.row(j)) square += v * v;
      EXPECT_NEAR(square, 1, 1e-5) << name_of(kind);
    }
  }
}

// E w w^T = I/c and E|<w, x>| = mean |x|, over 20,000 directions in blocks of many keys.  Entries
// of a unit row have variance below 3/c^2 in their squares: with T rows 5.3 standard errors are 5.3
// sqrt(3/T)/c, and rows of one block are dependent, so T counts blocks of 8 there.
TEST(Directions, HaveTheMomentsTheyState) {
  constexpr Index kDim = 5, kCount = 8;
  constexpr int kSets = 2500;
  for (int which = 0; which < 5; ++which) {
    const auto kind = static_cast<Directions>(which);
    const Index sweeps = 6;  // gibbs has converged by then
    double second[kDim][kDim] = {}, absolute = 0;
    for (int t = 0; t < kSets; ++t) {
      const Matrix<double> w =
          matrix_of(DirectionSet(kind, kDim, 0, kCount,
                                 rng::Key{5}.child(static_cast<std::uint64_t>(t)), sweeps),
                    kDim);
      for (Index j = 0; j < kCount; ++j) {
        absolute += std::abs(w(j, 0)) / (kSets * kCount);
        for (Index a = 0; a < kDim; ++a)
          for (Index b = 0; b < kDim; ++b) second[a][b] += w(j, a) * w(j, b) / (kSets * kCount);
      }
    }
    const double c = DirectionSet::inverse_variance(kind, kDim);
    const double error = 5.3 * std::sqrt(3.0 / kSets) / c;
    for (Index a = 0; a < kDim; ++a)
      for (Index b = 0; b < kDim; ++b)
        EXPECT_NEAR(second[a][b], a == b ? 1 / c : 0, error) << name_of(kind);
    EXPECT_NEAR(absolute, DirectionSet::mean_absolute(kind, kDim), 5.3 * std::sqrt(1.0 / kSets / c))
        << name_of(kind);
  }
}

// One sweep leaves the first coordinates too long and the last ones too short: what is stated.
TEST(Directions, GibbsIsBiasedByAsMuchAsStated) {
  constexpr Index kDim = 4, kCount = 40000;
  for (const Index sweeps : {1, 2}) {
    double first = 0, last = 0;
    std::vector<float> w(kDim);
    for (std::uint64_t j = 0; j < kCount; ++j) {
      gibbs_direction(rng::Key{3}, j, sweeps, w);
      first += double{w[0]} * w[0] * kDim / kCount;
      last += double{w[3]} * w[3] * kDim / kCount;
    }
    const double error = 5.3 * std::sqrt(3.0 / kCount);
    EXPECT_NEAR(first, 1, DirectionSet::relative_bias(Directions::gibbs, sweeps) + error);
    EXPECT_NEAR(last, 1, DirectionSet::relative_bias(Directions::gibbs, sweeps) + error);
    if (sweeps == 1) {
      EXPECT_GT(first, 1 + error);  // 1.07
      EXPECT_LT(last, 1);           // 0.94
    }
  }
}

TEST(StructuredProjection, TakesTheBiasAsALastCoordinateAndSparseRows) {
  const StructuredProjection with_bias(5, 0.5, 13, rng::Key{2});
  const StructuredProjection appended(6, 0, 13, rng::Key{2});
  const std::vector<float> x = {1, 0, -2, 0, 3}, longer = {1, 0, -2, 0, 3, 0.5f};
  CsrMatrix sparse;
  sparse.cols = 5;
  sparse.push(0, 1);
  sparse.push(2, -2);
  sparse.push(4, 3);
  sparse.end_row();
  std::vector<float> a(13), b(13), c(13);
  const auto into = [](std::vector<float>& out) {
    return [&out](Index, Index first, std::span<float> y) {
      std::ranges::copy(y, out.begin() + first);
    };
  };
  with_bias.apply(MatrixView<const float>(x.data(), 1, 5), into(a));
  appended.apply(MatrixView<const float>(longer.data(), 1, 6), into(b));
  with_bias.apply(sparse.view(), into(c));
  EXPECT_EQ(a, b);
  EXPECT_EQ(a, c);
}

}  // namespace
}  // namespace kerf::detail
