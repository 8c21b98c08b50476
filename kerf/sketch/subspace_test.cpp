// Subspace embeddings: the sketch of every vector of a k-dimensional space keeps its norm, in the
// dimension and with the failure probability that theory promises.
//
// A bound that fails with probability delta may fail in some of T independent trials: `allowed`
// failures or more happen with probability below 1e-6 even if delta is tight.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "kerf/core/rows/matrix.h"
#include "kerf/linalg/blas.h"
#include "kerf/sketch/count_sketch.h"
#include "kerf/sketch/gaussian_sketch.h"
#include "kerf/sketch/srht.h"

namespace kerf::detail {
namespace {

/// k orthonormal rows of dimension n: half of them random, half unit vectors (the hard case).
Matrix<float> orthonormal_rows(Index k, Index n) {
  Matrix<double> q(k, n);
  rng::fill_normal(rng::Key{1}, 0, {q.data(), static_cast<std::size_t>(k * n)});
  for (Index i = 0; i < k; ++i) {
    if (i < k / 2)
      for (Index j = 0; j < n; ++j) q(i, j) = j == 3 * i ? 1 : 0;
    for (Index p = 0; p < i; ++p) {
      double inner = 0;
      for (Index j = 0; j < n; ++j) inner += q(i, j) * q(p, j);
      for (Index j = 0; j < n; ++j) q(i, j) -= inner * q(p, j);
    }
    double square = 0;
    for (Index j = 0; j < n; ++j) square += q(i, j) * q(i, j);
    for (Index j = 0; j < n; ++j) q(i, j) /= std::sqrt(square);
  }
  Matrix<float> out(k, n);
  for (Index i = 0; i < k * n; ++i) out.data()[i] = static_cast<float>(q.data()[i]);
  return out;
}

/// Least and largest singular value of S on the space.
std::pair<double, double> singular_range(const Sketch& sketch, const Matrix<float>& space) {
  const Index k = space.rows();
  Matrix<float> z(k, sketch.out_dim());
  sketch.apply(space.view(), z.view());
  Matrix<double> gram(k, k);
  for (Index i = 0; i < k; ++i)
    for (Index j = 0; j < k; ++j) {
      double sum = 0;
      for (Index c = 0; c < z.cols(); ++c) sum += double{z(i, c)} * double{z(j, c)};
      gram(i, j) = sum;
    }
  std::vector<double> squares(k);
  blas::symmetric_eigen(gram.view(), squares);
  return {std::sqrt(std::max(0.0, squares.front())), std::sqrt(squares.back())};
}

template <class Make>
int failures(int trials, const Matrix<float>& space, double low, double high, Make make) {
  int count = 0;
  for (int t = 0; t < trials; ++t) {
    const auto [least, largest] =
        singular_range(make(rng::Key{7}.child(static_cast<std::uint64_t>(t))), space);
    if (least < low || largest > high) ++count;
  }
  return count;
}

TEST(SubspaceEmbedding, GaussianByDavidsonAndSzarek) {
  const Index k = 8, n = 64, m = 400;
  const double t = 3.5;  // fails with probability delta = 2 exp(-t^2/2) = 0.0044
  const double width =
      std::sqrt(static_cast<double>(k) / m) + t / std::sqrt(static_cast<double>(m));
  // P(Binomial(20, 0.0044) >= 5) = 2.5e-8.
  EXPECT_LT(failures(20, orthonormal_rows(k, n), 1 - width, 1 + width,
                     [&](rng::Key key) { return GaussianSketch(n, m, key); }),
            5);
}

TEST(SubspaceEmbedding, CountSketchInSquareOfTheDimension) {
  const Index k = 4, n = 256;
  const double epsilon = 0.5, delta = 0.02;  // |S q|^2 in (1 +- eps)^2 |q|^2
  const auto m = static_cast<Index>(static_cast<double>(k * k + k) / (epsilon * epsilon * delta));
  // P(Binomial(20, 0.02) >= 6) = 2.0e-6 x 0.98^14 x ..., below 2e-6; >= 7: 2e-8.
  EXPECT_LT(failures(20, orthonormal_rows(k, n), 1 - epsilon, 1 + epsilon,
                     [&](rng::Key key) { return CountSketch(n, m, key); }),
            7);
  EXPECT_LT(failures(20, orthonormal_rows(k, n), 1 - epsilon, 1 + epsilon,
                     [&](rng::Key key) { return Osnap(n, m, 4, key); }),
            7);
}

TEST(SubspaceEmbedding, SrhtByTropp) {
  const Index k = 16, n = 4096;
  const double root = std::sqrt(16.0) + std::sqrt(8 * std::log(16.0 * 4096));
  const auto m = static_cast<Index>(std::ceil(4 * root * root * std::log(16.0)));  // 1,998
  ASSERT_LE(m, n);
  // Fails with probability 3/k = 0.19: P(Binomial(20, 0.19) >= 15) = 3e-7.
  EXPECT_LT(failures(20, orthonormal_rows(k, n), 0.40, 1.48,
                     [&](rng::Key key) { return Srht(n, m, key); }),
            15);
}

}  // namespace
}  // namespace kerf::detail
