// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/image/cntk_sketch_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kerf/api/error.h"
#include "kerf/sketch/sampled_hadamard.h"

namespace kerf::detail {
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

// ---- the oracle: the formulas of the header, pixel by pixel, from the same sketches ------------

using Numbers = std::vector<double>;

struct Pixels {
  Index height, width;
  std::vector<Numbers> at;
};

Numbers sketched(const auto& sketch, const Numbers& x) {
  const std::vector<float> row(x.begin(), x.end());
  std::vector<float> out(sketch.out_dim());
  if constexpr (requires { sketch.apply(std::span<const float>(row), std::span<float>(out)); })
    sketch.apply(std::span<const float>(row), std::span<float>(out));
  else
    sketch.apply(MatrixView<const float>(row.data(), 1, std::ssize(row)),
                 MatrixView<float>(out.data(), 1, std::ssize(out)));
  return {out.begin(), out.end()};
}

Numbers of_length(Numbers x, double square) {
  const double now = std::inner_product(x.begin(), x.end(), x.begin(), 0.0);
  for (double& v : x) v *= std::sqrt(square / now);
  return x;
}

struct Oracle {
  CntkSketchOptions options;
  rng::Key key;

  /// The windows of a map, zeros beyond it (same), or those inside it (valid).
  Pixels windows(const Pixels& map) const {
    const Index q = options.network.filter;
    const bool centred = options.network.padding == Padding::same;
    const Index before = centred ? q / 2 : 0, shrink = centred ? 0 : q - 1;
    Pixels all{map.height - shrink, map.width - shrink, {}};
    for (Index p = 0; p < all.height * all.width; ++p) {
      Numbers& window = all.at.emplace_back();
      for (Index a = 0; a < q; ++a)
        for (Index b = 0; b < q; ++b) {
          const Index i = p / all.width + a - before, j = p % all.width + b - before;
          const bool inside = i >= 0 && j >= 0 && i < map.height && j < map.width;
          for (std::size_t c = 0; c < map.at[0].size(); ++c)
            window.push_back(inside ? map.at[i * map.width + j][c] : 0);
        }
    }
    return all;
  }
  /// Means over windows of one number a pixel.
  Pixels means(const Pixels& squares) const {
    Pixels all = windows(squares);
    const auto area = static_cast<double>(options.network.filter * options.network.filter);
    for (Numbers& w : all.at) w = {std::accumulate(w.begin(), w.end(), 0.0) / area};
    return all;
  }

  Numbers features(std::span<const float> image, ImageShape shape) const {
    const double norm = std::sqrt(dot(image, image));
    const auto p1 = truncated_series(1, options.degree, options.m1);
    const auto q = static_cast<double>(options.network.filter);
    Pixels phi{shape.height, shape.width, {}}, phi_square = phi;
    for (std::size_t k = 0; k < image.size(); ++k) {
      if (k % static_cast<std::size_t>(shape.channels) == 0) phi.at.emplace_back();
      phi.at.back().push_back(image[k] / norm);
    }
    for (const Numbers& x : phi.at)
      phi_square.at.push_back({std::inner_product(x.begin(), x.end(), x.begin(), 0.0)});
    Pixels eta = phi, eta_square = phi_square;
    if (!options.network.train_first_layer) {
      for (Numbers& x : eta.at) x.clear();
      for (Numbers& x : eta_square.at) x = {0};
    }
    for (Index h = 1; h < options.network.depth; ++h) {
      const rng::Key own = key.child(static_cast<std::uint64_t>(h));
      const Pixels mu = windows(phi), psi = windows(eta);
      phi_square = means(phi_square);
      eta_square = means(eta_square);  // of the products
      Pixels next{mu.height, mu.width, {}};
      phi = next;
      const auto dim = std::ssize(mu.at[0]), tangent = std::ssize(psi.at[0]);
      const TaylorMap covariance(dim, p1, options.m1, options.powers, own.child("covariance"));
      for (std::size_t p = 0; p < mu.at.size(); ++p) {
        const Numbers unit = of_length(mu.at[p], 1);
        Numbers f = sketched(covariance, unit), all;
        if (options.renormalise) f = of_length(f, 1);
        if (tangent > 0) {
          const Numbers e = derivative(unit, own.child("derivative"));
          const std::vector<float> left(e.begin(), e.end()),
              right(psi.at[p].begin(), psi.at[p].end());
          const RowsView pair[] = {MatrixView<const float>(left.data(), 1, options.m0),
                                   MatrixView<const float>(right.data(), 1, tangent)};
          std::vector<float> product(options.ms);
          TensorSrht(options.m0, tangent, options.ms, own.child("product"))
              .apply(pair, {product.data(), 1, options.ms});
          for (const float v : product) all.push_back(v / q);
          if (options.renormalise) all = of_length(all, eta_square.at[p][0]);
        }
        for (double& v : f) v *= std::sqrt(phi_square.at[p][0]);
        all.insert(all.end(), f.begin(), f.end());
        phi.at.push_back(f);
        next.at.push_back(all);
        eta_square.at[p][0] += phi_square.at[p][0];
      }
      eta = next;
    }
    return last(phi, eta, norm);
  }

  Numbers derivative(const Numbers& unit, rng::Key own) const {
    const auto p0 = truncated_series(0, options.step_degree, options.m0);
    Numbers e = sketched(TaylorMap(std::ssize(unit), p0, options.m0, options.powers, own), unit);
    return options.renormalise ? of_length(e, 1) : e;
  }

  Numbers last(const Pixels& phi, const Pixels& eta, double norm) const {
    const Pixels mu = windows(phi), psi = windows(eta);
    Index count = 1;  // of factors: m0, as a power of two, but no more than features
    while (count < options.m0) count *= 2;
    count = std::min(count, options.features);
    const SampledHadamard rotate(options.m0, count, 1 / std::sqrt(static_cast<double>(count)),
                                 SampledHadamard::Order::sorted, key.child("rotate"));
    std::vector<Numbers> sums(count, Numbers(psi.at[0].size(), 0.0));
    for (std::size_t p = 0; p < mu.at.size(); ++p) {
      const Numbers e = sketched(rotate, derivative(of_length(mu.at[p], 1), key.child("last")));
      for (std::size_t i = 0; i < sums.size(); ++i)
        for (std::size_t k = 0; k < sums[i].size(); ++k) sums[i][k] += e[i] * psi.at[p][k];
    }
    const double scale = norm / static_cast<double>(options.network.filter * std::ssize(mu.at));
    Numbers z;
    for (Index i = 0; i < count; ++i) {
      const Index size = options.features / count + (i < options.features % count ? 1 : 0);
      const SampledHadamard sketch(
          std::ssize(psi.at[0]), size, 1 / std::sqrt(static_cast<double>(size)),
          SampledHadamard::Order::sorted, key.child("output").child(static_cast<std::uint64_t>(i)));
      for (const double v : sketched(sketch, sums[i])) z.push_back(v * scale);
    }
    return z;
  }
};

TEST(CntkSketchFeatures, AreTheFormulasOfTheHeader) {
  const ImageShape shape{5, 4, 2};
  const Matrix<float> x = random_images(2, values_of(shape), 8);
  for (const bool first : {false, true})
    for (const bool renormalise : {false, true})
      for (const Padding padding : {Padding::same, Padding::valid})
        for (const Index depth : {2, 3}) {
          CntkSketchOptions options;
          options.network = {"5x4x2", depth,        padding == Padding::same ? 3 : 2,
                             padding, Pooling::gap, first};
          options.features = 50;
          options.m1 = 12, options.m0 = 10, options.ms = 14;
          options.degree = 4, options.step_degree = 3;
          options.powers = depth == 2 ? PowersKind::chain : PowersKind::polysketch;
          options.renormalise = renormalise;
          const Matrix<float> z = features(CntkSketchFeatures(40, options, rng::Key{9}), x);
          for (Index i = 0; i < 2; ++i) {
            const auto expected = Oracle{options, rng::Key{9}}.features(x.row(i), shape);
            ASSERT_EQ(std::ssize(expected), 50);
            double size = 0;
            for (const double v : expected) size = std::max(size, std::abs(v));
            ASSERT_GT(size, 0);
            for (Index k = 0; k < 50; ++k)
              ASSERT_NEAR(z(i, k), expected[k], 1e-5 * size)
                  << depth << first << renormalise << static_cast<int>(padding);
          }
        }
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
}  // namespace kerf::detail
