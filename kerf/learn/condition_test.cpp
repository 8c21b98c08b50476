// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/condition.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kerf/core/random.h"

namespace kerf {
namespace {

/// Rows +-a_j e_j: the centred Gram matrix is diagonal, 2 a_j^2.
NormalEquations diagonal_sums(const std::vector<double>& sizes) {
  const auto m = static_cast<Index>(sizes.size());
  NormalEquations sums({std::vector<float>(sizes.size(), 0.0f), {0.0}}, Precision::double_);
  Matrix<float> z(2 * m, m);
  Matrix<double> y(2 * m, 1);
  z.fill(0);
  y.fill(0);
  for (Index j = 0; j < m; ++j) {
    z(2 * j, j) = static_cast<float>(sizes[static_cast<std::size_t>(j)]);
    z(2 * j + 1, j) = -z(2 * j, j);
  }
  sums.add(z.view(), y.view(), {});
  return sums;
}

TEST(Condition, EqualsTheRatioOfEigenvalues) {
  std::vector<NormalEquations> sums;
  sums.push_back(diagonal_sums({1, 2, 4, 8, 16}));
  EXPECT_NEAR(condition_number(sums, 0), 256, 1e-6);
  // 2 a^2 + n lambda with n = 10.
  EXPECT_NEAR(condition_number(sums, 1), (512 + 10) / (2.0 + 10), 1e-9);
}

TEST(Condition, IsSaidWhereThePrecisionDoesNotReach) {
  std::vector<NormalEquations> sums;
  sums.push_back(diagonal_sums({1, 1e4}));
  EXPECT_NE(condition_warning(sums, 0, Precision::single_).find("--precision double"),
            std::string::npos);
  EXPECT_EQ(condition_warning(sums, 0, Precision::double_), "");
  EXPECT_EQ(condition_warning(sums, 1e4, Precision::single_), "");
}

}  // namespace
}  // namespace kerf
