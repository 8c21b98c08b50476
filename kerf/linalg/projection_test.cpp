// SPDX-License-Identifier: Apache-2.0
#include "kerf/linalg/projection.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kerf/core/random/random.h"

namespace kerf::detail {
namespace {

std::vector<float> direction(Index j, std::size_t size) {
  std::vector<float> w(size);
  rng::fill_normal(rng::Key{5}, static_cast<std::uint64_t>(j) * size, std::span(w));
  return w;
}

// Sizes around the tile's 6 rows, the panel's 8..64 columns, the chunk's 96 rows.
TEST(Projection, EqualsTheObviousSums) {
  for (const Index rows : {1, 5, 6, 7, 97})
    for (const Index in_dim : {1, 3, 40})
      for (const Index out_dim : {1, 15, 16, 17, 130}) {
        Matrix<float> x(rows, in_dim), y(rows, out_dim);
        rng::fill_normal(rng::Key{6}, 0, std::span(x.data(), rows * in_dim));
        const Projection projection(in_dim, out_dim, [](Index j, std::span<float> w) {
          std::ranges::copy(direction(j, w.size()), w.begin());
          return 0.25f * static_cast<float>(j);
        });
        projection.apply(x.view(), y.view());
        for (Index i = 0; i < rows; ++i)
          for (Index j = 0; j < out_dim; ++j) {
            const auto w = direction(j, in_dim);
            double exact = 0.25 * static_cast<double>(j), size = exact;
            for (Index k = 0; k < in_dim; ++k) {
              exact += double{x(i, k)} * w[k];
              size += std::abs(double{x(i, k)} * w[k]);
            }
            // The header's bound.
            ASSERT_NEAR(y(i, j), exact, static_cast<double>(in_dim + 1) * 0x1p-24 * size + 1e-30);
          }
      }
}

TEST(Projection, GivesSparseRowsTheBitsOfDenseOnes) {
  constexpr Index rows = 20, in_dim = 50, out_dim = 33;
  Matrix<float> x(rows, in_dim);
  CsrMatrix sparse;
  sparse.cols = in_dim;
  for (Index i = 0; i < rows; ++i) {
    for (Index k = 0; k < in_dim; ++k) {
      const bool present =
          rng::below(rng::Key{1}, static_cast<std::uint64_t>(i * in_dim + k), 4) == 0;
      x(i, k) = present ? static_cast<float>(
                              rng::normal(rng::Key{2}, static_cast<std::uint64_t>(i * in_dim + k)))
                        : 0;
      if (present) sparse.push(static_cast<std::int32_t>(k), x(i, k));
    }
    sparse.end_row();
  }
  const Projection projection(in_dim, out_dim, [](Index j, std::span<float> w) {
    std::ranges::copy(direction(j, w.size()), w.begin());
    return 1.0f;
  });
  Matrix<float> a(rows, out_dim), b(rows, out_dim);
  projection.apply(x.view(), a.view());
  projection.apply(sparse.view(), b.view());
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < out_dim; ++j) ASSERT_EQ(a(i, j), b(i, j));
}

}  // namespace
}  // namespace kerf::detail
