// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/image/cntk_random_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kerf/api/error.h"
#include "kerf/features/directions/directions.h"
#include "kerf/images/mirror.h"
#include "kerf/sketch/sampled_hadamard.h"
#include "tests/oracle/rows.h"

namespace kerf::detail {
namespace {

Matrix<float> features(const FeatureMap& map, const Matrix<float>& x) {
  Matrix<float> z(x.rows(), map.out_dim());
  map.transform(x.view(), z.view());
  return z;
}

std::vector<double> wide(std::span<const float> row) { return {row.begin(), row.end()}; }

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += double{a[k]} * b[k];
  return sum;
}

// ---- the oracle: the formulas of the header, pixel by pixel in double --------------------------

using Pixels = std::vector<std::vector<double>>;  // H W pixels, channels each

struct Oracle {
  CntkMapOptions options;
  ImageShape shape;
  rng::Key key;

  std::vector<double> window(const Pixels& map, Index p) const {
    const Index q = options.network.filter;
    std::vector<double> all;
    for (Index a = -(q / 2); a <= q / 2; ++a)
      for (Index b = -(q / 2); b <= q / 2; ++b) {
        const Index i = p / shape.width + a, j = p % shape.width + b;
        const bool inside = i >= 0 && j >= 0 && i < shape.height && j < shape.width;
        for (std::size_t c = 0; c < map[0].size(); ++c)
          all.push_back(inside ? map[i * shape.width + j][c] : 0);
      }
    return all;
  }
  static double inner(std::span<const float> w, const std::vector<double>& x) {
    double sum = 0;
    for (std::size_t k = 0; k < x.size(); ++k) sum += double{w[k]} * x[k];
    return sum;
  }

  std::vector<double> features(std::span<const float> image) const {
    const Index width = options.width, depth = options.network.depth, q = options.network.filter;
    const Index count = shape.height * shape.width;
    const double length = std::sqrt(dot(image, image));
    Pixels phi(count), eta(phi.size());
    for (std::size_t k = 0; k < image.size(); ++k)
      phi[k / static_cast<std::size_t>(shape.channels)].push_back(image[k] / length);
    if (options.network.train_first_layer) eta = phi;
    for (Index h = 1; h < depth; ++h) {
      const rng::Key own = key.child(static_cast<std::uint64_t>(h));
      const bool has_psi = !eta[0].empty();
      const Index s = has_psi ? options.products() : 0, constant = s / 2;
      const Index dim = q * q * static_cast<Index>(phi[0].size());
      const Matrix<float> w =
          orthogonal_directions(dim, std::max(width, s - constant), own.child("filters"));
      Pixels next_phi(phi.size()), next_eta(phi.size());
      for (std::size_t p = 0; p < phi.size(); ++p) {
        const auto x = window(phi, static_cast<Index>(p));
        for (Index i = 0; i < s; ++i) {
          const auto psi = window(eta, static_cast<Index>(p));
          std::vector<float> a(psi.size());
          rng::fill_sign(own.child("projections"), static_cast<std::uint64_t>(i) * a.size(), a);
          const Index parts = i < constant ? constant : s - constant;
          const double gate = i < constant || inner(w.row(i - constant), x) > 0 ? 1 : -1;
          next_eta[p].push_back(gate * inner(a, psi) * std::sqrt(0.5 / static_cast<double>(parts)) /
                                static_cast<double>(q));
        }
        for (Index i = 0; i < width; ++i) {
          const double t = inner(w.row(i), x);
          next_phi[p].push_back(
              std::sqrt(2 * static_cast<double>(dim) / static_cast<double>(width)) *
              std::max(0.0, t) / static_cast<double>(q));
          next_eta[p].push_back(next_phi[p].back());
        }
      }
      phi = next_phi;
      eta = next_eta;
      if (options.renormalise) set_lengths(h, image, length, phi, eta);
    }
    return last(phi, eta, length);
  }

  /// The diagonal of kernels/cntk.h: |phi_h|^2, and P_{h-1} / q^2 of the products.
  void set_lengths(Index layers, std::span<const float> image, double length, Pixels& phi,
                   Pixels& eta) const {
    const auto area = static_cast<double>(options.network.filter * options.network.filter);
    Pixels m(phi.size()), tangent(phi.size());
    for (std::size_t p = 0; p < phi.size(); ++p) {
      double square = 0;
      for (Index c = 0; c < shape.channels; ++c)
        square += std::pow(
            image[p * static_cast<std::size_t>(shape.channels) + static_cast<std::size_t>(c)] /
                length,
            2);
      m[p] = {square};
      tangent[p] = {options.network.train_first_layer ? square : 0};
    }
    const auto sums = [&](const Pixels& of) {
      Pixels all(of.size());
      for (std::size_t p = 0; p < of.size(); ++p) {
        const auto w = window(of, static_cast<Index>(p));
        all[p] = {std::accumulate(w.begin(), w.end(), 0.0) / area};
      }
      return all;
    };
    Pixels products;
    for (Index h = 1; h <= layers; ++h) {
      m = sums(m);
      products = tangent = sums(tangent);
      for (std::size_t p = 0; p < m.size(); ++p) tangent[p][0] += m[p][0];
    }
    for (std::size_t p = 0; p < m.size(); ++p) {
      const auto count = static_cast<std::ptrdiff_t>(eta[p].size() - phi[p].size());
      const auto fix = [](auto begin, auto end, double square) {
        const double now = std::inner_product(begin, end, begin, 0.0);
        for (; begin != end; ++begin) *begin *= std::sqrt(square / now);
      };
      fix(eta[p].begin(), eta[p].begin() + count, products[p][0]);
      fix(eta[p].begin() + count, eta[p].end(), m[p][0]);
      fix(phi[p].begin(), phi[p].end(), m[p][0]);
    }
  }

  std::vector<double> last(const Pixels& phi, const Pixels& eta, double length) const {
    const Index q = options.network.filter, m = options.features, constant = m / 4;
    const Index signs = std::min(options.last_filters(), m - constant), rest = m - constant;
    const Matrix<float> w =
        orthogonal_directions(q * q * static_cast<Index>(phi[0].size()), signs, key.child("last"));
    std::vector<double> z;
    for (Index i = 0; i <= signs; ++i) {
      std::vector<float> sum(static_cast<std::size_t>(q * q) * eta[0].size());
      for (std::size_t p = 0; p < phi.size(); ++p) {
        const auto psi = window(eta, static_cast<Index>(p));
        const double sign =
            i == 0 || inner(w.row(i - 1), window(phi, static_cast<Index>(p))) > 0 ? 1 : -1;
        for (std::size_t k = 0; k < psi.size(); ++k) sum[k] += static_cast<float>(sign * psi[k]);
      }
      const Index size = i == 0 ? constant : rest / signs + (i - 1 < rest % signs ? 1 : 0);
      const SampledHadamard sketch(
          static_cast<Index>(sum.size()), size, 1 / std::sqrt(static_cast<double>(size)),
          SampledHadamard::Order::sorted, key.child("output").child(static_cast<std::uint64_t>(i)));
      std::vector<float> part(size);
      sketch.apply(sum, part);
      const double scale = length * std::sqrt(0.5) /
                           static_cast<double>(q * shape.height * shape.width) /
                           (i == 0 ? 1 : std::sqrt(static_cast<double>(signs)));
      for (const float v : part) z.push_back(v * scale);
    }
    return z;
  }
};

TEST(CntkRandomFeatures, AreTheFormulasOfTheHeader) {
  const ImageShape shape{4, 5, 2};
  const Matrix<float> x = oracle::normal_matrix(2, values_of(shape), 1);
  for (const bool first : {false, true})
    for (const Index depth : {2, 3}) {
      CntkMapOptions options{.network = {}, .features = 50, .width = 7, .ms = 6, .m0 = 5};
      options.network.image = "4x5x2";
      options.network.depth = depth;
      options.network.train_first_layer = first;
      options.renormalise = depth == 3 || first;
      const Matrix<float> z = features(CntkRandomFeatures(40, options, rng::Key{9}), x);
      const Oracle oracle{options, shape, rng::Key{9}};
      for (Index i = 0; i < 2; ++i) {
        const auto expected = oracle.features(x.row(i));
        double size = 0;
        for (const double v : expected) size = std::max(size, std::abs(v));
        for (Index k = 0; k < 50; ++k)
          ASSERT_NEAR(z(i, k), expected[k], 1e-5 * size) << depth << first;
      }
    }
}

/// Mean and standard error of the estimate of k(x_0, x_1), over `maps` maps.
struct Estimate {
  double mean, error;
};
Estimate estimate(const CntkMapOptions& options, const Matrix<float>& x, int maps) {
  double sum = 0, squares = 0;
  for (int t = 0; t < maps; ++t) {
    const CntkRandomFeatures map(x.cols(), options,
                                 rng::Key{50}.child(static_cast<std::uint64_t>(t)));
    const Matrix<float> z = features(map, x);
    const double value = dot(z.row(0), z.row(1));
    sum += value;
    squares += value * value;
  }
  const double mean = sum / maps;
  return {mean, std::sqrt(std::max(0.0, squares / maps - mean * mean) / maps)};
}

// Every layer is unbiased given the one below: what is left is the curvature of kappa1 times the
// variance 1/width of its argument.  5 standard errors: a false alarm below 1e-6.
TEST(CntkRandomFeatures, HaveABiasThatFallsWithTheWidth) {
  Matrix<float> x = oracle::normal_matrix(2, 5 * 4 * 2, 2);
  for (Index k = 0; k < x.cols(); ++k) x(1, k) += x(0, k);
  for (const Index depth : {2, 3})
    for (const Padding padding : {Padding::same, Padding::valid})
      for (const Pooling pooling : {Pooling::gap, Pooling::none})
        for (const Index width : {8, 64}) {
          CntkMapOptions options{.network = {}, .features = 64, .width = width};
          options.network = {"5x4x2", depth,   padding == Padding::same ? 3 : 2,
                             padding, pooling, false};
          const auto kernel = CntkRandomFeatures::kernel(options);
          const auto a = wide(x.row(0)), b = wide(x.row(1));
          const double exact = (*kernel)(a, b);
          const double size = std::sqrt((*kernel)(a, a) * (*kernel)(b, b));
          const Estimate found = estimate(options, x, width == 8 ? 100 : 25);
          EXPECT_NEAR(found.mean, exact, size / static_cast<double>(width) + 5 * found.error)
              << "depth " << depth << " width " << width << " " << static_cast<int>(padding)
              << static_cast<int>(pooling);
        }
}

// One map, 144 pairs: they share the map's error, so that their mean may be larger than the
// variance; the margin of the formula (card) is for pairs that err most.
TEST(CntkRandomFeatures, HaveTheErrorTheyState) {
  const Matrix<float> x = oracle::normal_matrix(12, 6 * 6 * 3, 3);
  CntkMapOptions options{.network = {}, .features = 2048, .width = 64};
  options.network.image = "6x6x3";
  const auto kernel = CntkRandomFeatures::kernel(options);
  const Matrix<float> z = features(CntkRandomFeatures(x.cols(), options, rng::Key{4}), x);
  double error = 0, bound = 0;
  for (Index i = 0; i < 12; ++i)
    for (Index j = 0; j < 12; ++j) {
      const auto a = wide(x.row(i)), b = wide(x.row(j));
      const double exact = (*kernel)(a, b);
      error += std::pow(dot(z.row(i), z.row(j)) - exact, 2);
      bound += CntkRandomFeatures::relative_variance(options) * (*kernel)(a, a) * (*kernel)(b, b);
    }
  EXPECT_LT(CntkRandomFeatures::relative_variance(options), 0.02);
  EXPECT_LT(error, bound);
  EXPECT_GT(error, 0.1 * bound);
}

// Mirror images have the same features, and these have the kernel of --mirror: the width is odd, and
// the image's two halves differ.  5 standard errors, and the bias of the test above.
TEST(CntkRandomFeatures, OfMirrorImagesAreTheSame) {
  const ImageShape shape{4, 5, 2};
  Matrix<float> x = oracle::normal_matrix(3, values_of(shape), 6);
  std::ranges::copy(x.row(1), x.row(2).begin());
  mirror_image(x.row(2), shape);
  CntkMapOptions options{.network = {}, .features = 64, .width = 32};
  options.network = {.image = "4x5x2", .depth = 2, .mirror = true};
  const Matrix<float> z = features(CntkRandomFeatures(40, options, rng::Key{9}), x);
  for (Index k = 0; k < z.cols(); ++k) EXPECT_NEAR(z(1, k), z(2, k), 1e-6);
  options.network.mirror = false;
  const auto plain = CntkRandomFeatures::kernel(options);
  const double exact =
      ((*plain)(wide(x.row(0)), wide(x.row(1))) + (*plain)(wide(x.row(0)), wide(x.row(2)))) / 2;
  options.network.mirror = true;
  const auto kernel = CntkRandomFeatures::kernel(options);
  EXPECT_NEAR((*kernel)(wide(x.row(0)), wide(x.row(1))), exact, 1e-12 * exact);
  EXPECT_NEAR((*kernel)(wide(x.row(2)), wide(x.row(0))), exact, 1e-12 * exact);
  const Estimate found = estimate(options, x, 200);
  EXPECT_NEAR(found.mean, exact, exact / 32 + 5 * found.error);
}

TEST(CntkRandomFeatures, RefuseRowsThatAreNoSuchImages) {
  CntkMapOptions options;
  options.network.image = "4x4x3";
  EXPECT_THROW(CntkRandomFeatures(40, options, rng::Key{1}), Error);
  options.network.padding = Padding::valid;
  EXPECT_THROW(CntkRandomFeatures(48, options, rng::Key{1}), Error);
  options.network = {.image = "4x4x3", .depth = 1};
  EXPECT_THROW(CntkRandomFeatures(48, options, rng::Key{1}), Error);
}

}  // namespace
}  // namespace kerf::detail
