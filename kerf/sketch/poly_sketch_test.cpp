// SPDX-License-Identifier: Apache-2.0
#include "kerf/sketch/poly_sketch.h"

#include <gtest/gtest.h>

#include "kerf/api/error.h"
#include "tests/oracle/poly_sketch_matrix.h"
#include "tests/oracle/statistics.h"

namespace kerf::detail {
namespace {

using oracle::dot;

Matrix<float> gaussian(Index rows, Index cols, std::uint64_t seed) {
  Matrix<float> x(rows, cols);
  rng::fill_normal(rng::Key{seed}, 0, {x.data(), static_cast<std::size_t>(rows * cols)});
  return x;
}

std::vector<double> as_double(std::span<const float> x) { return {x.begin(), x.end()}; }

std::vector<double> e1(Index dim) {
  std::vector<double> e(dim);
  e[0] = 1;
  return e;
}

/// Entries of Q times the tensor are sums of products; each of the log2 P + 1 levels rounds about
/// log2(m) + 2 times, relative to the norms that flow through it.
void expect_row(std::span<const float> row, const oracle::Rows& q,
                const std::vector<double>& tensor) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    double exact = 0, size = 0;
    for (std::size_t k = 0; k < tensor.size(); ++k) {
      exact += q[i][k] * tensor[k];
      size += std::abs(q[i][k] * tensor[k]);
    }
    EXPECT_NEAR(row[i], exact, 100 * std::ldexp(size + 1e-3, -24));
  }
}

void expect_explicit_matrix(Index dim, const PolySketchOptions& options) {
  const rng::Key key{31};
  const PolySketch sketch(dim, options, key);
  const auto leaves = static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>(options.degree)));
  const auto q = oracle::poly_sketch_matrix(dim, options, key, leaves);
  const auto x = gaussian(2, dim, 3);
  const Index m = options.out_dim, powers = options.degree + 1;
  Matrix<float> all(2, powers * m), one(2, m);
  sketch.apply_powers(x.view(), all.view());
  for (Index power = 0; power < powers; ++power) {
    SCOPED_TRACE(testing::Message() << "degree " << options.degree << ", power " << power);
    sketch.apply_power(x.view(), power, one.view());
    for (Index i = 0; i < 2; ++i) {
      std::vector<std::vector<double>> factors(leaves, e1(dim));
      for (Index k = 0; k < power; ++k) factors[k] = as_double(x.row(i));
      const auto row = all.row(i).subspan(power * m, m);
      expect_row(row, q, oracle::tensor_product(factors));
      EXPECT_TRUE(std::ranges::equal(row, one.row(i)));
    }
  }
  // Different factors.
  std::vector<Matrix<float>> rows;
  std::vector<RowsView> views;
  std::vector<std::vector<double>> factors(leaves, e1(dim));
  for (Index k = 0; k < options.degree; ++k) {
    rows.push_back(gaussian(1, dim, static_cast<std::uint64_t>(40 + k)));
    factors[k] = as_double(rows.back().row(0));
  }
  for (const auto& row : rows) views.emplace_back(row.view());
  Matrix<float> out(1, m);
  sketch.apply(views, out.view());
  expect_row(out.row(0), q, oracle::tensor_product(factors));
}

TEST(PolySketch, IsAnExplicitMatrixTimesTheTensorForEveryDegreeAndNumberOfPads) {
  for (Index degree = 1; degree <= 9; ++degree)
    for (const auto leaf : {PolyLeaf::srht, PolyLeaf::osnap})
      for (const Index m : {4, 7}) {
        const Index dim = degree <= 4 ? 5 : degree <= 8 ? 3 : 2;
        expect_explicit_matrix(dim, {degree, m, leaf, 2});
      }
}

TEST(PolySketch, SlowIsUnbiasedWithinTheVarianceItsHeaderStates) {
  Matrix<float> x(2, 6);
  const float values[] = {.5f, .5f, .5f, .3f, .3f, .2f, .6f, .2f, .5f, .1f, .5f, .3f};
  std::copy_n(values, 12, x.data());
  const double inner = dot(x.row(0), x.row(1));
  for (const Index degree : {1, 2, 3, 4, 7})
    for (const auto leaf : {PolyLeaf::srht, PolyLeaf::osnap})
      for (const Index m : {32, 45}) {
        SCOPED_TRACE(testing::Message()
                     << "degree " << degree << ", m " << m << ", leaf " << static_cast<int>(leaf));
        const PolySketchOptions options{degree, m, leaf, 2};
        oracle::expect_moments(4000, std::pow(inner, degree),
                               poly_sketch_variance(6, options, x.row(0), x.row(1)),
                               oracle::Stated::at_most, [&](rng::Key key) {
                                 std::vector<RowsView> factors(degree, x.view());
                                 Matrix<float> z(2, m);
                                 PolySketch(6, options, key).apply(factors, z.view());
                                 return dot(z.row(0), z.row(1));
                               });
      }
}

TEST(PolySketch, RefusesWhatItCannotDo) {
  EXPECT_THROW(PolySketch(3, {.degree = 0}, rng::Key{1}), Error);
  const PolySketch sketch(3, {.degree = 3, .out_dim = 8}, rng::Key{1});
  const auto x = gaussian(2, 3, 1), wrong = gaussian(2, 4, 1);
  Matrix<float> out(2, 8), all(2, 32);
  EXPECT_THROW(sketch.apply_power(x.view(), 4, out.view()), Error);
  EXPECT_THROW(sketch.apply_powers(x.view(), out.view()), Error);
  EXPECT_THROW(sketch.apply_powers(wrong.view(), all.view()), Error);
}

}  // namespace
}  // namespace kerf::detail
