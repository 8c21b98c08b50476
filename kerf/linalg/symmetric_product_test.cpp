// SPDX-License-Identifier: Apache-2.0
#include "kerf/linalg/symmetric_product.h"

#include <gtest/gtest.h>

#include <tuple>

#include "kerf/api/error.h"
#include "kerf/core/random/random.h"
#include "kerf/core/rows/matrix.h"

namespace kerf::detail {
namespace {

// Lengths that are no multiple of what is treated together, several strips of columns.
TEST(SymmetricProduct, IsTheObviousProductBothWays) {
  for (const auto& [rows, cols, vectors] :
       {std::tuple<Index, Index, Index>{1, 1, 1}, {4, 8, 2}, {7, 515, 3}, {130, 1030, 11}}) {
    Matrix<double> t(rows, cols), x(vectors, cols), y(vectors, rows), left(vectors, rows),
        right(vectors, cols);
    std::uint64_t seed = 20;
    for (Matrix<double>* m : {&t, &x, &y, &left, &right})
      rng::fill_normal(rng::Key{++seed}, 0, std::span(m->data(), m->rows() * m->cols()));
    const auto expected = [&](const Matrix<double>& v, const Matrix<double>& before, Index k,
                              Index at, bool transposed) {
      double sum = before(k, at);
      for (Index j = 0; j < v.cols(); ++j) sum += v(k, j) * (transposed ? t(j, at) : t(at, j));
      return sum;
    };
    Matrix<double> one_way(vectors, rows), to_left(vectors, rows), to_right(vectors, cols);
    std::copy_n(left.data(), vectors * rows, one_way.data());
    std::copy_n(left.data(), vectors * rows, to_left.data());
    std::copy_n(right.data(), vectors * cols, to_right.data());
    add_tile_products(t.view(), x.view(), one_way.view(), {}, {});
    add_tile_products(t.view(), x.view(), to_left.view(), y.view(), to_right.view());
    for (Index k = 0; k < vectors; ++k) {
      for (Index i = 0; i < rows; ++i) {
        EXPECT_NEAR(to_left(k, i), expected(x, left, k, i, false), 1e-11);
        EXPECT_EQ(one_way(k, i), to_left(k, i));
      }
      for (Index j = 0; j < cols; ++j)
        EXPECT_NEAR(to_right(k, j), expected(y, right, k, j, true), 1e-11);
    }
  }
}

TEST(SymmetricProduct, RefusesVectorsOfOtherLengths) {
  Matrix<double> t(4, 6), x(2, 5), left(2, 4);
  EXPECT_THROW(add_tile_products(t.view(), x.view(), left.view(), {}, {}), Error);
}

}  // namespace
}  // namespace kerf::detail
