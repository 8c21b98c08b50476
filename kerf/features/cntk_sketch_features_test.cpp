// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/cntk_sketch_features.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kerf/core/error.h"

namespace kerf {
namespace {

Matrix<float> random_images(Index count, Index values, std::uint64_t seed) {
  Matrix<float> x(count, values);
  rng::fill_normal(rng::Key{seed}, 0, {x.data(), static_cast<std::size_t>(count * values)});
  // Every image is like the first, more or less.
  for (Index i = 1; i < count; ++i)
    for (Index k = 0; k < values; ++k) x(i, k) = 0.6f * x(0, k) + 0.8f * x(i, k);
  return x;
}

Matrix<float> features(const FeatureMap& map, const Matrix<float>& x) {
  Matrix<float> z(x.rows(), map.out_dim());
  map.transform(x.view(), z.view());
  return z;
}

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += double{a[k]} * b[k];
  return sum;
}

double exact(const Kernel& kernel, const Matrix<float>& x, Index i, Index j) {
  const std::vector<double> a(x.row(i).begin(), x.row(i).end()),
      b(x.row(j).begin(), x.row(j).end());
  return kernel(a, b);
}

// The mean over maps is within the stated bias and 5 standard errors (a false alarm below 1e-6).
TEST(CntkSketchFeatures, HaveTheBiasTheyState) {
  constexpr int kMaps = 25;
  const Matrix<float> x = random_images(2, 5 * 4 * 2, 1);
  for (const Index depth : {2, 3})
    for (const bool renormalise : {true, false})
      for (const Padding padding : {Padding::same, Padding::valid})
        for (const Pooling pooling : {Pooling::gap, Pooling::none}) {
          CntkSketchOptions options;
          options.features = 128;
          options.m0 = options.m1 = 64;
          options.network = {"5x4x2", depth,   padding == Padding::same ? 3 : 2,
                             padding, pooling, depth == 2};
          options.renormalise = renormalise;
          const auto kernel = CntkSketchFeatures::kernel(options);
          double sum = 0, squares = 0;
          for (int t = 0; t < kMaps; ++t) {
            const rng::Key key = rng::Key{7}.child(static_cast<std::uint64_t>(t));
            const Matrix<float> z = features(CntkSketchFeatures(x.cols(), options, key), x);
            const double value = dot(z.row(0), z.row(1));
            sum += value, squares += value * value;
          }
          const double mean = sum / kMaps;
          const double error = std::sqrt((squares / kMaps - mean * mean) / kMaps);
          const double size = std::sqrt(exact(*kernel, x, 0, 0) * exact(*kernel, x, 1, 1));
          // Without renormalising an error of a length is amplified (math: 8 L/m is too little).
          const double bias = CntkSketchFeatures::relative_bias(options) * (renormalise ? 1 : 2);
          EXPECT_NEAR(mean, exact(*kernel, x, 0, 1), bias * size + 5 * error)
              << depth << renormalise << static_cast<int>(padding) << static_cast<int>(pooling);
        }
}

// In large sizes what is left is the error of the cut series.
TEST(CntkSketchFeatures, ApproachTheKernelOfTheSeries) {
  const Matrix<float> x = random_images(6, 6 * 6 * 3, 2);
  for (const PowersKind powers : {PowersKind::chain, PowersKind::polysketch}) {
    CntkSketchOptions options;
    options.network.image = "6x6x3";
    options.powers = powers;
    const auto kernel = CntkSketchFeatures::kernel(options);
    double errors[2] = {};
    for (const int large : {0, 1}) {
      options.features = large == 1 ? 4096 : 256;
      options.m1 = options.m0 = options.ms = large == 1 ? 256 : 32;
      const Matrix<float> z = features(CntkSketchFeatures(x.cols(), options, rng::Key{4}), x);
      for (Index i = 0; i < 6; ++i)
        for (Index j = 0; j < 6; ++j) {
          const double size = exact(*kernel, x, i, i) * exact(*kernel, x, j, j);
          errors[large] +=
              std::pow(dot(z.row(i), z.row(j)) - exact(*kernel, x, i, j), 2) / size / 36;
        }
    }
    const double bias = CntkSketchFeatures::relative_bias(options);
    EXPECT_LT(errors[1], CntkSketchFeatures::relative_variance(options) + bias * bias);
    EXPECT_LT(errors[1], errors[0]);
  }
}

TEST(CntkSketchFeatures, RefuseRowsThatAreNoSuchImages) {
  CntkSketchOptions options;
  options.network.image = "4x4x3";
  EXPECT_THROW(CntkSketchFeatures(40, options, rng::Key{1}), Error);
  options.network.depth = 1;
  EXPECT_THROW(CntkSketchFeatures(48, options, rng::Key{1}), Error);
}

}  // namespace
}  // namespace kerf
