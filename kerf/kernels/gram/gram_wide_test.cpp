// Rows in double stay double in Gram matrices of doubles.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "kerf/core/rows/matrix.h"
#include "kerf/kernels/gram/gram.h"

namespace kerf::detail {
namespace {

/// Rows that single precision cannot hold, and what it makes of them.
struct Rows {
  Matrix<double> wide;
  Matrix<float> dense;
  Rows(Index rows, Index cols, unsigned seed) : wide(rows, cols), dense(rows, cols) {
    std::mt19937 draw(seed);
    std::normal_distribution<double> normal;
    for (Index k = 0; k < rows * cols; ++k) {
      wide.data()[k] = normal(draw);
      dense.data()[k] = static_cast<float>(wide.data()[k]);
    }
  }
  RowsView view() const { return {dense.view(), wide.view()}; }
};

class WideRows : public testing::TestWithParam<std::pair<const char*, Params>> {};

TEST_P(WideRows, GiveTheValuesOfTheKernelItself) {
  const auto& [name, params] = GetParam();
  const auto kernel = find_kernel(name).make(params);
  const Rows x(37, 12, 1), y(21, 12, 2);
  Matrix<double> values(37, 21), symmetric(37, 37);
  gram<double>(*kernel, x.view(), y.view(), values.view());
  gram<double>(*kernel, x.view(), x.view(), symmetric.view());
  double rounding = 0;  // that of rows in single precision
  for (Index i = 0; i < 37; ++i) {
    for (Index j = 0; j < 21; ++j) {
      // The oracle: the kernel's own pair, in double.
      const double exact = (*kernel)(x.wide.row(i), y.wide.row(j));
      EXPECT_NEAR(values(i, j), exact, 1e-12 * std::max(1.0, std::abs(exact)));
      const std::vector<double> a(x.dense.row(i).begin(), x.dense.row(i).end());
      const std::vector<double> b(y.dense.row(j).begin(), y.dense.row(j).end());
      rounding = std::max(rounding, std::abs((*kernel)(a, b) - exact));
    }
    for (Index j = 0; j < 37; ++j) {
      const double exact = (*kernel)(x.wide.row(i), x.wide.row(j));
      EXPECT_NEAR(symmetric(i, j), exact, 1e-12 * std::max(1.0, std::abs(exact)));
    }
  }
  EXPECT_GT(rounding, 1e-10) << "single precision would do";
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, WideRows,
    testing::Values(std::pair("gaussian", Params{{"bandwidth", "3"}}),
                    std::pair("laplacian", Params{{"bandwidth", "9"}}),
                    std::pair("laplacian-l2", Params{{"bandwidth", "3"}}),
                    std::pair("cauchy", Params{{"bandwidth", "5"}}),
                    std::pair("matern32", Params{{"bandwidth", "3"}}),
                    std::pair("matern52", Params{{"bandwidth", "3"}}),
                    std::pair("linear", Params{}),
                    std::pair("arccos", Params{{"order", "1"}, {"bias", "0.5"}}),
                    std::pair("ntk", Params{{"depth", "3"}, {"bias", "0"}}),
                    std::pair("nngp", Params{{"depth", "2"}, {"bias", "1.5"}}),
                    std::pair("cntk", Params{{"image", "2x2x3"}, {"depth", "2"}})));

TEST(WideRowsView, OfEqualFloatsAreNotTheSameRows) {
  Rows x(5, 3, 1), y(5, 3, 1);
  y.wide(2, 1) += 1e-12;
  const RowsView left(x.dense.view(), x.wide.view()), right(x.dense.view(), y.wide.view());
  const auto kernel = find_kernel("gaussian").make({{"bandwidth", "1e-6"}});
  Matrix<double> values(5, 5);
  gram<double>(*kernel, left, right, values.view());
  EXPECT_LT(values(2, 2), 1);
  EXPECT_EQ(values(1, 1), 1);
}

}  // namespace
}  // namespace kerf::detail
