// Unbiasedness and variance of every sketch's inner products, as its header states them.
//
// SPDX-License-Identifier: Apache-2.0
#include "kerf/sketch/sketch.h"

#include <gtest/gtest.h>

#include "kerf/api/error.h"
#include "kerf/core/rows/matrix.h"
#include "kerf/sketch/count_sketch.h"
#include "kerf/sketch/gaussian_sketch.h"
#include "kerf/sketch/srht.h"
#include "kerf/sketch/tensor_sketch.h"
#include "kerf/sketch/tensor_srht.h"
#include "kerf/transforms/walsh_hadamard.h"
#include "tests/oracle/statistics.h"

namespace kerf::detail {
namespace {

using oracle::dot;
using oracle::expect_moments;
using oracle::pair_variance;
using oracle::Stated;

constexpr int kTrials = 20000;

/// Two rows with inner product far from 0 and from |x| |y|, one coordinate heavy.
Matrix<float> pair_of_rows(Index dim, std::uint64_t seed) {
  Matrix<float> x(2, dim);
  rng::fill_normal(rng::Key{seed}, 0, {x.data(), static_cast<std::size_t>(2 * dim)});
  for (Index j = 0; j < dim; ++j) x(1, j) = 0.6f * x(0, j) + 0.8f * x(1, j);
  x(0, dim / 2) += 2;
  x(1, dim / 2) -= 1;
  const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(dim)));
  for (Index j = 0; j < dim; ++j) {
    x(0, j) *= scale;
    x(1, j) *= scale;
  }
  return x;
}

double estimate(const Sketch& sketch, const Matrix<float>& x) {
  Matrix<float> z(2, sketch.out_dim());
  sketch.apply(x.view(), z.view());
  return dot(z.row(0), z.row(1));
}

/// T of (row 0 of each factor) against T of (row 1 of each factor).
double estimate(const TensorMap& map, const std::vector<Matrix<float>>& x) {
  std::vector<RowsView> views;
  for (const auto& factor : x) views.emplace_back(factor.view());
  Matrix<float> z(2, map.out_dim());
  map.apply(views, z.view());
  return dot(z.row(0), z.row(1));
}

/// rho of kerf/sketch/sampled_hadamard.h.
double rho(Index dim, Index m) {
  const Index n = hadamard_size(dim), t = m % n;
  return t == 0 ? 0
                : static_cast<double>(t * (n - t)) /
                      (static_cast<double>(m) * static_cast<double>(n - 1));
}

TEST(CountSketch, IsUnbiasedWithTheVarianceItsHeaderStates) {
  const auto x = pair_of_rows(11, 1);
  expect_moments(kTrials, dot(x.row(0), x.row(1)), pair_variance(x.row(0), x.row(1)) / 16,
                 Stated::exactly,
                 [&](rng::Key key) { return estimate(CountSketch(11, 16, key), x); });
}

TEST(Osnap, IsUnbiasedWithTheVarianceItsHeaderStates) {
  const auto x = pair_of_rows(11, 2);
  const double inverse_sizes = 1 / 5.0 + 1 / 6.0 + 1 / 6.0;  // 17 places in three ranges
  expect_moments(kTrials, dot(x.row(0), x.row(1)),
                 pair_variance(x.row(0), x.row(1)) * inverse_sizes / 9, Stated::exactly,
                 [&](rng::Key key) { return estimate(Osnap(11, 17, 3, key), x); });
}

TEST(GaussianSketch, IsUnbiasedWithTheVarianceItsHeaderStates) {
  const auto x = pair_of_rows(11, 3);
  const double inner = dot(x.row(0), x.row(1));
  const double norms = dot(x.row(0), x.row(0)) * dot(x.row(1), x.row(1));
  expect_moments(kTrials, inner, (norms + inner * inner) / 16, Stated::exactly,
                 [&](rng::Key key) { return estimate(GaussianSketch(11, 16, key), x); });
}

TEST(Srht, IsUnbiasedWithTheVarianceItsHeaderStates) {
  const auto x = pair_of_rows(11, 4);  // padded to 16
  for (const Index m : {1, 5, 15, 16, 23, 48})
    expect_moments(kTrials, dot(x.row(0), x.row(1)),
                   rho(11, m) * pair_variance(x.row(0), x.row(1)) / static_cast<double>(m),
                   Stated::exactly, [&](rng::Key key) { return estimate(Srht(11, m, key), x); });
}

TEST(TensorSrht, IsUnbiasedWithTheVarianceItsHeaderStates) {
  std::vector<Matrix<float>> x;
  x.push_back(pair_of_rows(7, 5));   // padded to 8
  x.push_back(pair_of_rows(13, 6));  // padded to 16
  const double c = dot(x[0].row(0), x[0].row(1)), e = dot(x[1].row(0), x[1].row(1));
  const double v = pair_variance(x[0].row(0), x[0].row(1));
  const double w = pair_variance(x[1].row(0), x[1].row(1));
  for (const Index m : {6, 8, 16, 27}) {
    const double r1 = rho(7, m), r2 = rho(13, m), size = static_cast<double>(m);
    const double variance =
        (r1 * e * e * v + r2 * c * c * w + (1 + (1 - r1) * (1 - r2) / (size - 1)) * v * w) / size;
    expect_moments(kTrials, c * e, variance, Stated::exactly,
                   [&](rng::Key key) { return estimate(TensorSrht(7, 13, m, key), x); });
  }
}

double tensor_sketch_variance(const std::vector<Matrix<float>>& x, Index m) {
  double a = 1, ab = 1, ac = 1, abc = 1;
  for (const auto& factor : x) {
    const double inner = dot(factor.row(0), factor.row(1));
    const double norms = dot(factor.row(0), factor.row(0)) * dot(factor.row(1), factor.row(1));
    const double fourth = (norms + inner * inner - pair_variance(factor.row(0), factor.row(1))) / 2;
    const double ak = inner * inner, bk = norms - fourth, ck = inner * inner - fourth;
    a *= ak;
    ab *= ak + bk;
    ac *= ak + ck;
    abc *= ak + bk + ck;
  }
  const double size = static_cast<double>(m), g = m % 2 == 0 ? 2 : 1;
  return (ab + ac - 2 * a) / size + g * (abc - ab - ac + a) / (size * size);
}

TEST(TensorSketch, IsUnbiasedWithTheVarianceItsHeaderStates) {
  for (const Index factors : {1, 2, 3})
    for (const Index m : {8, 15}) {
      std::vector<Matrix<float>> x;
      std::vector<Index> dims;
      double exact = 1;
      for (Index k = 0; k < factors; ++k) {
        dims.push_back(5 + k);
        x.push_back(pair_of_rows(5 + k, static_cast<std::uint64_t>(7 + k)));
        exact *= dot(x.back().row(0), x.back().row(1));
      }
      expect_moments(kTrials, exact, tensor_sketch_variance(x, m), Stated::exactly,
                     [&](rng::Key key) { return estimate(TensorSketch(dims, m, key), x); });
    }
}

TEST(TensorSketch, IsTheCountSketchOfTheTensorProduct) {
  const Index m = 12;
  const rng::Key key{9};
  const TensorSketch sketch({4, 3}, m, key);
  const CountSketch left(4, m, key.child(0), 1.0 / 12), right(3, m, key.child(1));
  for (Index a = 0; a < 4; ++a)
    for (Index b = 0; b < 3; ++b) {
      Matrix<float> x(1, 4), y(1, 3), cx(1, m), cy(1, m), expected(1, m), out(1, m);
      x.fill(0);
      y.fill(0);
      x(0, a) = 2;
      y(0, b) = 3;
      left.apply(x.view(), cx.view());
      right.apply(y.view(), cy.view());
      const std::span<const float> factors[] = {cx.row(0), cy.row(0)};
      convolve_reference(factors, expected.row(0));
      sketch.apply(std::vector<RowsView>{x.view(), y.view()}, out.view());
      for (Index i = 0; i < m; ++i) EXPECT_NEAR(out(0, i), 12 * expected(0, i), 1e-5);
    }
}

TEST(BalancedSample, TakesEveryPositionEquallyOften) {
  for (const bool shuffled : {false, true})
    for (const Index m : {3, 16, 21, 64}) {
      std::vector<Index> counts(16);
      for (const auto p : balanced_sample(16, m, shuffled, rng::Key{1})) ++counts[p];
      for (const Index count : counts) {
        EXPECT_GE(count, m / 16);
        EXPECT_LE(count, (m + 15) / 16);
      }
    }
}

TEST(Sketch, RefusesShapesThatDoNotFit) {
  const CountSketch sketch(4, 8, rng::Key{1});
  Matrix<float> x(2, 4), wrong(2, 5), out(2, 8), small(1, 8);
  EXPECT_THROW(sketch.apply(wrong.view(), out.view()), Error);
  EXPECT_THROW(sketch.apply(x.view(), small.view()), Error);
  EXPECT_THROW(CountSketch(0, 8, rng::Key{1}), Error);
  EXPECT_THROW(Osnap(4, 8, 9, rng::Key{1}), Error);
  const TensorSrht tensor(4, 5, 8, rng::Key{1});
  EXPECT_THROW(tensor.apply(std::vector<RowsView>{x.view()}, out.view()), Error);
  EXPECT_THROW(tensor.apply(std::vector<RowsView>{wrong.view(), x.view()}, out.view()), Error);
}

}  // namespace
}  // namespace kerf::detail
