// What is particular to each map of a shift-invariant kernel; what all maps promise is in
// tests/conformance.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "kerf/api/error.h"
#include "kerf/features/directions/butterfly_rotation.h"
#include "kerf/features/fourier/fastfood_features.h"
#include "kerf/features/fourier/orthogonal_fourier.h"
#include "kerf/features/fourier/qmc_features.h"
#include "kerf/features/learned/compact_features.h"
#include "tests/oracle/rows.h"

namespace kerf::detail {
namespace {

double dot(std::span<const float> a, std::span<const float> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Frequencies of a map of pairs, from the sines of rows that are tiny multiples of unit vectors.
template <class Map>
Matrix<double> frequencies_of(const Map& map) {
  constexpr double kStep = 1e-3;
  Matrix<double> w(map.out_dim() / 2, map.in_dim());
  Matrix<float> x(1, map.in_dim()), z(1, map.out_dim());
  for (Index k = 0; k < map.in_dim(); ++k) {
    x.fill(0);
    x(0, k) = static_cast<float>(kStep);
    map.transform(x.view(), z.view());
    for (Index j = 0; j < w.rows(); ++j) w(j, k) = std::atan2(z(0, w.rows() + j), z(0, j)) / kStep;
  }
  return w;
}

/// V, whole blocks of it: column k is V e_k.
Matrix<double> rotation_matrix(const ButterflyRotation& rotation, Index dim) {
  Matrix<double> v(rotation.out_dim(), dim);
  Matrix<float> unit(1, dim);
  for (Index k = 0; k < dim; ++k) {
    unit.fill(0);
    unit(0, k) = 1;
    rotation.apply(unit.view(), [&](Index, Index first, std::span<float> y) {
      for (std::size_t j = 0; j < y.size(); ++j) v(first + static_cast<Index>(j), k) = y[j];
    });
  }
  return v;
}

TEST(ButterflyRotation, HasOrthonormalRowsInBlocksOfItsLength) {
  for (const Index n : {Index{8}, Index{16}, Index{64}}) {
    const Matrix<double> v = rotation_matrix(ButterflyRotation(n, 2 * n, rng::Key{5}), n);
    for (Index i = 0; i < 2 * n; ++i)
      for (Index j = i / n * n; j <= i; ++j) {
        const double product =
            std::inner_product(v.row(i).begin(), v.row(i).end(), v.row(j).begin(), 0.0);
        EXPECT_NEAR(product, i == j ? 1 : 0, 1e-5) << n << " " << i << " " << j;
      }
  }
}

// A row is uniform on the sphere: E <v, x>^2 = 1/n and E <v, x>^4 = 3/(n (n + 2)) for every unit x;
// H D3 H D2 H D1 has 0.8 to 0.97 of the latter at n = 8.  Row j of 4,000 rotations, for an x of two
// columns and for one that the Hadamard matrix makes a single number: 5.3 standard errors, of which
// E <v, x>^8 = 105/(n (n + 2) (n + 4) (n + 6)) gives the variance.
TEST(ButterflyRotation, HasUniformRows) {
  constexpr Index n = 8;
  constexpr int kRotations = 4000;
  Matrix<float> x(2, n);
  x.fill(0.35355339f);
  for (Index k = 0; k < n; ++k) x(0, k) = k < 2 ? 0.70710678f : 0.0f;
  double second[2][n] = {}, fourth[2][n] = {};
  for (int t = 0; t < kRotations; ++t)
    ButterflyRotation(n, n, rng::Key{6}.child(static_cast<std::uint64_t>(t)))
        .apply(x.view(), [&](Index i, Index, std::span<float> y) {
          for (std::size_t j = 0; j < y.size(); ++j) {
            second[i][j] += std::pow(y[j], 2) / kRotations;
            fourth[i][j] += std::pow(y[j], 4) / kRotations;
          }
        });
  constexpr double m2 = 1.0 / n, m4 = 3.0 / (n * (n + 2)), m8 = m4 * 35 / ((n + 4) * (n + 6));
  for (const int i : {0, 1})
    for (Index j = 0; j < n; ++j) {
      EXPECT_NEAR(second[i][j], m2, 5.3 * std::sqrt((m4 - m2 * m2) / kRotations)) << i << " " << j;
      EXPECT_NEAR(fourth[i][j], m4, 5.3 * std::sqrt((m8 - m4 * m4) / kRotations)) << i << " " << j;
    }
}

TEST(OrthogonalFourier, HasOrthogonalFrequenciesInGroupsOfTheDimension) {
  constexpr Index kDim = 6;
  OrthogonalFourierOptions options;
  options.features = 24;
  options.bandwidth = 2;
  const auto w = frequencies_of(OrthogonalFourierFeatures(kDim, options, rng::Key{3}));
  for (Index i = 0; i < 12; ++i)
    for (Index j = 0; j < i; ++j) {
      double product = 0, lengths = 0;
      for (Index k = 0; k < kDim; ++k) {
        product += w(i, k) * w(j, k);
        lengths += w(i, k) * w(i, k) + w(j, k) * w(j, k);
      }
      if (i / kDim == j / kDim) {
        EXPECT_NEAR(product, 0, 1e-3 * lengths) << i << " " << j;
      }
    }
}

// With 32 frequencies in 32 dimensions and |x - y| = s the variance is about a seventh of rff's
// (1 + k(2(x - y)) - 2 k^2)/m; the sample variance of 500 maps is within 40 % of the true one
// (five standard errors of kurtosis 3 are 32 %), so half of it can only be passed by a map whose
// frequencies do repel each other.
TEST(OrthogonalFourier, HasLessVarianceThanIndependentFrequencies) {
  constexpr Index kDim = 32, kFeatures = 64;
  constexpr int kMaps = 500;
  Matrix<float> x(2, kDim);
  x.fill(0);
  x(1, 0) = 1;
  for (const auto directions : {OrthogonalFourierOptions::Directions::orthogonal,
                                OrthogonalFourierOptions::Directions::structured}) {
    OrthogonalFourierOptions options;
    options.features = kFeatures;
    options.bandwidth = 1;
    options.directions = directions;
    double sum = 0, squares = 0;
    for (int t = 0; t < kMaps; ++t) {
      const OrthogonalFourierFeatures map(kDim, options,
                                          rng::Key{9}.child(static_cast<std::uint64_t>(t)));
      Matrix<float> z(2, kFeatures);
      map.transform(x.view(), z.view());
      const double estimate = dot(z.row(0), z.row(1));
      sum += estimate / kMaps;
      squares += estimate * estimate / kMaps;
    }
    const double independent = (1 + std::exp(-2.0) - 2 * std::exp(-1.0)) / kFeatures;
    EXPECT_LT(squares - sum * sum, independent / 2);
  }
}

// |w|^2 is chi-squared of n = 8 degrees: mean 8, variance 16; 5.3 standard errors of T = 8,000
// lengths.  (Lengths are drawn independently of each other.)
TEST(Fastfood, GivesFrequenciesTheLengthsOfGaussianVectors) {
  RadialMapOptions options;
  options.features = 160;
  options.bandwidth = 1;
  double sum = 0;
  constexpr int kMaps = 100;
  for (int t = 0; t < kMaps; ++t) {
    const auto w = frequencies_of(
        FastfoodFeatures(8, options, rng::Key{4}.child(static_cast<std::uint64_t>(t))));
    for (Index j = 0; j < w.rows(); ++j)
      for (const double v : w.row(j)) sum += v * v / (80.0 * kMaps);
  }
  EXPECT_NEAR(sum, 8, 5.3 * std::sqrt(16.0 / (80 * kMaps)) + 1e-3);
}

TEST(Fastfood, RefusesAKernelThatIsNoFunctionOfTheDistance) {
  EXPECT_THROW(find_feature_map("fastfood").complete({{"kernel", "laplacian"}}), Error);
  EXPECT_THROW(find_feature_map("orf").complete({{"kernel", "cauchy"}}), Error);
}

// Of 2^k points of a net in base 2 every interval of length 2^-k holds exactly one, in each
// coordinate; in the first two coordinates so does every box of volume 2^-k.
TEST(ScrambledSobol, IsAStratifiedNetForEverySeed) {
  constexpr Index kDim = 50, kCount = 64;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto points = scrambled_sobol(kDim, kCount, rng::Key{seed});
    for (Index k = 0; k < kDim; ++k) {
      std::set<std::uint32_t> cells;
      for (Index j = 0; j < kCount; ++j) cells.insert(points(j, k) >> 26);
      EXPECT_EQ(cells.size(), 64U) << "coordinate " << k;
    }
    for (int a = 1; a < 6; ++a) {
      std::set<std::uint32_t> boxes;
      for (Index j = 0; j < kCount; ++j)
        boxes.insert((points(j, 0) >> (32 - a)) << 6 | points(j, 1) >> (26 + a));
      EXPECT_EQ(boxes.size(), 64U) << "boxes 2^-" << a;
    }
  }
}

TEST(ScrambledSobol, DiffersFromSeedToSeedInEveryCoordinate) {
  const auto a = scrambled_sobol(20, 8, rng::Key{1}), b = scrambled_sobol(20, 8, rng::Key{2});
  for (Index k = 0; k < 20; ++k) EXPECT_NE(a(0, k), b(0, k));
}

// Coordinates k and k + group are of the same Sobol dimension: without an order of its own the
// second group would have each of its points in one of two cells (scrambled alike or not) of the
// first's.
TEST(ScrambledSobol, TakesTheGroupsInOrdersOfTheirOwn) {
  constexpr Index kCount = 256;
  const Index group = sobol_group(kCount);
  EXPECT_EQ(group, 8);
  const auto points = scrambled_sobol(2 * group + 1, kCount, rng::Key{4});
  for (const Index first : {Index{0}, group}) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> cells;
    for (Index j = 0; j < kCount; ++j)
      cells.insert({points(j, first) >> 28, points(j, first + group) >> 28});
    EXPECT_GT(cells.size(), 100U);  // of 256 cells, 162 by chance; 16 in the same order
  }
}

// More columns than the generator has dimensions (3,667).
TEST(Qmc, TakesAnyNumberOfColumns) {
  FourierMapOptions options;
  options.features = 4;
  options.bandwidth = 100;
  Matrix<float> x = oracle::normal_matrix(1, 5000, 1), z(1, 4);
  QmcFeatures(5000, options, rng::Key{1}).transform(x.view(), z.view());
  EXPECT_NEAR(dot(z.row(0), z.row(0)), 1, 1e-5);
}

// The worst pairs of one Sobol sequence of 200 dimensions vary 20 times the stated 2/m.  All pairs of
// one-hot rows, 60 maps each: the sample variance of 60 draws of the largest variance, 1.9/m, is
// above twice the bound with a probability of 1e-6 (chi-squared), at 19,900 pairs of which few are
// as bad.
TEST(Qmc, HasTheStatedVarianceForAllPairsOfOneHotRows) {
  constexpr Index kDim = 200, kFeatures = 128;
  constexpr int kMaps = 60;
  FourierMapOptions options;
  options.features = kFeatures;
  options.bandwidth = 0.5;
  Matrix<float> x(kDim, kDim), z(kDim, kFeatures);
  x.fill(0);
  for (Index k = 0; k < kDim; ++k) x(k, k) = 1;
  Matrix<double> sum(kDim, kDim), squares(kDim, kDim);
  sum.fill(0);
  squares.fill(0);
  for (int t = 0; t < kMaps; ++t) {
    QmcFeatures(kDim, options, rng::Key{7}.child(static_cast<std::uint64_t>(t)))
        .transform(x.view(), z.view());
    for (Index i = 0; i < kDim; ++i)
      for (Index j = 0; j < i; ++j) {
        const double estimate = dot(z.row(i), z.row(j));
        sum(i, j) += estimate / kMaps;
        squares(i, j) += estimate * estimate / kMaps;
      }
  }
  double worst = 0;
  for (Index i = 0; i < kDim; ++i)
    for (Index j = 0; j < i; ++j) worst = std::max(worst, squares(i, j) - sum(i, j) * sum(i, j));
  EXPECT_LE(worst, 2 * fourier_variance(options));
}

// In one dimension a net of 2^10 points integrates a smooth periodic-like function far better than
// independent points: the error of the kernel is below a tenth of rff's standard deviation.
TEST(Qmc, IsMuchMoreAccurateThanRandomFrequenciesInOneDimension) {
  FourierMapOptions options;
  options.features = 2048;
  options.bandwidth = 1;
  const QmcFeatures map(1, options, rng::Key{2});
  Matrix<float> x(2, 1), z(2, 2048);
  x(0, 0) = 0;
  x(1, 0) = 1;
  map.transform(x.view(), z.view());
  EXPECT_NEAR(dot(z.row(0), z.row(1)), std::exp(-0.5), 0.1 * std::sqrt(0.4 / 2048));
}

// At one bandwidth Matern 3/2 is 0.483, 5/2 0.524, laplacian-l2 0.368 and the Gaussian 0.607: one map
// of so many features that 5.3 of the stated standard deviations, 0.015, tell them apart.  (The
// conformance tests have the hard rows, but fewer features.)
TEST(StudentFrequencies, BelongToTheirKernel) {
  constexpr Index kDim = 3;
  const Params sized = {{"features", "262144"}, {"bandwidth", "2"}};
  Matrix<float> x(4, kDim);
  x.fill(0);
  x(1, 0) = 2;
  x(2, 1) = x(2, 2) = 0.5f;
  x(3, 0) = x(3, 1) = x(3, 2) = -3;
  for (const char* map : {"rff", "orf", "fastfood", "qmc"})
    for (const char* kernel : {"laplacian-l2", "matern32", "matern52"}) {
      const FeatureMapEntry& entry = find_feature_map(map);
      const Params params = entry.complete(with_kernel(sized, kernel));
      const auto exact = entry.kernel(params);
      Matrix<float> z(4, 262144);
      entry.make(kDim, params, rng::Key{11})->transform(x.view(), z.view());
      for (Index i = 1; i < 4; ++i) {
        const std::vector<double> zero(kDim, 0.0), row(x.row(i).begin(), x.row(i).end());
        EXPECT_NEAR(dot(z.row(0), z.row(i)), (*exact)(zero, row),
                    5.3 * std::sqrt(entry.relative_variance(params)))
            << map << " " << kernel << " row " << i;
      }
    }
}

TEST(Compact, IsAProjectionOfTheFeaturesOfRff) {
  CompactOptions options;
  options.features = 6;
  options.oversample = 5;
  options.bandwidth = 1.5;
  FourierMapOptions wide = options;
  wide.features = 30;
  const rng::Key key{8};
  const Matrix<float> x = oracle::normal_matrix(70, 3, 2);
  Matrix<float> z(70, 6), f(70, 30), expected(70, 6);
  CompactFeatures(3, options, key).transform(x.view(), z.view());
  FourierFeatures(3, wide, key).transform(x.view(), f.view());
  Srht(30, 6, key.child("projection")).apply(f.view(), expected.view());
  for (Index i = 0; i < 70; ++i)
    for (Index j = 0; j < 6; ++j) EXPECT_EQ(z(i, j), expected(i, j));
}

}  // namespace
}  // namespace kerf::detail
