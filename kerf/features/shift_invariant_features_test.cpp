// What is particular to each map of a shift-invariant kernel; what all maps promise is in
// tests/conformance.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "kerf/core/error.h"
#include "kerf/features/compact_features.h"
#include "kerf/features/fastfood_features.h"
#include "kerf/features/hadamard_rotation.h"
#include "kerf/features/orthogonal_fourier.h"
#include "kerf/features/qmc_features.h"
#include "kerf/transforms/walsh_hadamard.h"

namespace kerf {
namespace {

Matrix<float> rows_of(Index rows, Index dim, std::uint64_t seed) {
  Matrix<float> x(rows, dim);
  rng::fill_normal(rng::Key{seed}, 0, {x.data(), static_cast<std::size_t>(rows * dim)});
  return x;
}

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

TEST(HadamardRotation, IsTheProductOfItsSixFactors) {
  constexpr Index kDim = 40, kCount = 100, kLength = 64;
  const rng::Key key{5};
  const HadamardRotation rotation(kDim, kCount, key);
  const Matrix<float> x = rows_of(1, kDim, 1);
  std::vector<float> fast(kCount);
  rotation.apply(x.view(), [&](Index, Index first, std::span<float> y) {
    std::copy(y.begin(), y.end(), fast.begin() + first);
  });
  for (Index block = 0; block < 2; ++block) {
    std::vector<double> y(kLength, 0.0);
    std::copy(x.row(0).begin(), x.row(0).end(), y.begin());
    for (Index factor = 0; factor < 3; ++factor) {
      for (std::size_t k = 0; k < y.size(); ++k)
        y[k] *= rng::sign(key.child(static_cast<std::uint64_t>(3 * block + factor)), k) / 8;
      walsh_hadamard_reference(std::span(y));
    }
    for (Index k = 0; k < std::min(kLength, kCount - block * kLength); ++k)
      EXPECT_NEAR(fast[static_cast<std::size_t>(block * kLength + k)],
                  y[static_cast<std::size_t>(k)], 1e-5);
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

TEST(Qmc, SaysHowManyColumnsItsSequenceHas) {
  FourierMapOptions options;
  options.features = 4;
  options.bandwidth = 1;
  EXPECT_NO_THROW(QmcFeatures(3667, options, rng::Key{1}));
  try {
    QmcFeatures(3668, options, rng::Key{1});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("3667"), std::string::npos) << error.what();
  }
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

TEST(Compact, IsAProjectionOfTheFeaturesOfRff) {
  CompactOptions options;
  options.features = 6;
  options.oversample = 5;
  options.bandwidth = 1.5;
  FourierMapOptions wide = options;
  wide.features = 30;
  const rng::Key key{8};
  const Matrix<float> x = rows_of(70, 3, 2);
  Matrix<float> z(70, 6), f(70, 30), expected(70, 6);
  CompactFeatures(3, options, key).transform(x.view(), z.view());
  FourierFeatures(3, wide, key).transform(x.view(), f.view());
  Srht(30, 6, key.child("projection")).apply(f.view(), expected.view());
  for (Index i = 0; i < 70; ++i)
    for (Index j = 0; j < 6; ++j) EXPECT_EQ(z(i, j), expected(i, j));
}

}  // namespace
}  // namespace kerf
