// SPDX-License-Identifier: Apache-2.0
#include "kerf/insight/measure/spectral.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kerf/api/error.h"
#include "kerf/core/random/random.h"
#include "kerf/linalg/blas.h"
#include "kerf/linalg/feature_gram.h"
#include "tests/oracle/compare_spectra.h"
#include "tests/oracle/rows.h"

namespace kerf::detail {
namespace {

/// Whether factor (K + sI) - sign (Ka + sI) is positive definite: by Cholesky, no eigenvalues.
bool dominates(const Matrix<double>& k, const Matrix<double>& ka, double s, double factor,
               double sign) {
  Matrix<double> a(k.rows(), k.rows());
  for (Index i = 0; i < k.rows(); ++i)
    for (Index j = 0; j < k.rows(); ++j) {
      const double shift = i == j ? s : 0;
      a(i, j) = factor * (k(i, j) + shift) - sign * (ka(i, j) + shift);
    }
  return blas::cholesky(a.view()) == 0;
}

TEST(Spectral, OfDiagonalMatricesIsWhatTheDiagonalsSay) {
  Matrix<double> k(3, 3), ka(3, 3);
  k.fill(0);
  ka.fill(0);
  const double exact[] = {4, 1, 0}, found[] = {5, 0.5, 0.1};
  for (Index i = 0; i < 3; ++i) {
    k(i, i) = exact[i];
    ka(i, i) = found[i];
  }
  const auto q = compare_spectra(k.view(), ka.view(), 0.5);
  EXPECT_NEAR(q.largest, 5.5 / 4.5, 1e-14);
  EXPECT_NEAR(q.smallest, 1.0 / 1.5, 1e-14);
  EXPECT_NEAR(q.epsilon, 1.0 / 3, 1e-14);
  EXPECT_NEAR(q.condition_number, 5.5 / 4.5 * 1.5, 1e-13);
  EXPECT_NEAR(q.statistical_dimension, 4 / 4.5 + 1 / 1.5, 1e-14);
  EXPECT_NEAR(q.spectral_error, 0.25, 1e-14);
  EXPECT_NEAR(q.relative_frobenius, std::sqrt((1 + 0.25 + 0.01) / 17), 1e-14);
}

// Two independent ways to the same number: just above epsilon both inequalities hold, just below
// one fails.
TEST(Spectral, EpsilonIsTheLeastThatBoundsBothSides) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Matrix<double> k = symmetric_feature_gram(oracle::normal_matrix(20, 40, seed).view());
    const Matrix<double> ka =
        symmetric_feature_gram(oracle::normal_matrix(20, 15, seed + 100).view());
    const double s = 7;
    const auto q = compare_spectra(k.view(), ka.view(), s);
    const double e = q.epsilon;
    EXPECT_TRUE(dominates(k, ka, s, 1 + e + 1e-9, 1));
    EXPECT_TRUE(dominates(k, ka, s, -(1 - e - 1e-9), -1));
    EXPECT_FALSE(dominates(k, ka, s, 1 + e - 1e-9, 1) && dominates(k, ka, s, -(1 - e + 1e-9), -1));
    EXPECT_TRUE(dominates(k, ka, s, q.largest + 1e-9, 1));
    EXPECT_FALSE(dominates(k, ka, s, q.largest - 1e-9, 1));
    EXPECT_NEAR(q.condition_number, q.largest / q.smallest, 1e-12);
  }
}

TEST(Spectral, OfEqualMatricesIsPerfectAndOfRankDeficientOnesFinite) {
  const Matrix<double> k = symmetric_feature_gram(oracle::normal_matrix(30, 4, 1).view());
  const auto same = compare_spectra(k.view(), k.view(), 1e-3);
  EXPECT_NEAR(same.epsilon, 0, 1e-9);
  EXPECT_NEAR(same.condition_number, 1, 1e-9);
  EXPECT_EQ(same.relative_frobenius, 0);
  EXPECT_LE(same.statistical_dimension, 4);
  EXPECT_THROW(compare_spectra(k.view(), k.view(), 0), Error);
  EXPECT_THROW(compare_spectra(k.view(), MatrixView<const double>(k.data(), 10, 10), 1), Error);
}

TEST(Spectral, GramOfFeaturesIsTheirInnerProducts) {
  const Matrix<float> z = oracle::normal_matrix(7, 2500, 3);
  const Matrix<double> gram = symmetric_feature_gram(z.view());
  for (Index i = 0; i < 7; ++i)
    for (Index j = 0; j < 7; ++j) {
      double sum = 0;
      for (Index k = 0; k < 2500; ++k) sum += double{z(i, k)} * double{z(j, k)};
      EXPECT_NEAR(gram(i, j), sum, 1e-10);
      EXPECT_EQ(gram(i, j), gram(j, i));
    }
}

}  // namespace
}  // namespace kerf::detail
