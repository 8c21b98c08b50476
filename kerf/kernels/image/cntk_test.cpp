// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/image/cntk.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>

#include "kerf/api/error.h"
#include "kerf/core/random/random.h"
#include "kerf/core/system/parallel.h"
#include "kerf/kernels/gram/gram.h"

namespace kerf::detail {
namespace {

using Json = nlohmann::json;
using Row = std::vector<double>;

/// A file of ../shared/reference, or null where that folder is absent.
Json reference(const std::string& file) {
  const char* shared = std::getenv("KERF_SHARED");
  const std::string folder = shared != nullptr ? shared : KERF_SOURCE_DIR "/../shared";
  std::ifstream in(folder + "/reference/" + file);
  return in ? Json::parse(in) : Json();
}

/// The input formula of the reference values.
Row test_image(Index seed, ImageShape shape) {
  Row image;
  for (Index i = 0; i < shape.height; ++i)
    for (Index j = 0; j < shape.width; ++j)
      for (Index l = 0; l < shape.channels; ++l)
        image.push_back(
            static_cast<double>((i * 7 + j * 13 + l * 29 + seed * 31 + (i * j) % 11) % 97) / 97 -
            0.5);
  return image;
}

Row random_image(std::uint64_t seed, ImageShape shape) {
  Row image(values_of(shape));
  rng::fill_normal(rng::Key{seed}, 0, std::span(image));
  return image;
}

// ---- the oracle: the recursion of cntk.h over all pairs of pixels, in long double --------------

using Real = long double;

class Oracle {
 public:
  Oracle(const CntkOptions& options, ImageShape shape) : o_(options), s_(shape) {}

  Real value(const Row& y, const Row& z) const {
    const Index height = s_.height, width = s_.width, q = o_.filter;
    const Real area = static_cast<Real>(q * q);
    Tensor g = make([&](Index p, Index r) { return dot(y, p, z, r); });
    Tensor yy = make([&](Index p, Index r) { return dot(y, p, y, r); });
    Tensor zz = make([&](Index p, Index r) { return dot(z, p, z, r); });
    Tensor tangent = make([](Index, Index) { return Real{0}; });
    if (o_.train_first_layer) tangent = window(g);
    for (Index h = 1; h <= o_.depth; ++h) {
      g = window(g), yy = window(yy), zz = window(zz);
      const Tensor a = make([&](Index p, Index r) {
        const Real norms = std::sqrt(at(yy, p, p) * at(zz, r, r));
        return norms > 0 ? std::clamp(at(g, p, r) / norms, Real{-1}, Real{1}) : Real{0};
      });
      const Tensor norms =
          make([&](Index p, Index r) { return std::sqrt(at(yy, p, p) * at(zz, r, r)) / area; });
      g = make([&](Index p, Index r) { return at(norms, p, r) * kappa1(at(a, p, r)); });
      yy = make([&](Index p, Index r) { return p == r ? at(yy, p, p) / area : Real{0}; });
      zz = make([&](Index p, Index r) { return p == r ? at(zz, p, p) / area : Real{0}; });
      tangent = make([&](Index p, Index r) {
        const Real product = at(tangent, p, r) * kappa0(at(a, p, r)) / area;
        return h < o_.depth ? product + at(g, p, r) : product;
      });
      if (h < o_.depth) tangent = window(tangent);
    }
    const Index shrink = o_.padding == Padding::same ? 0 : o_.depth * (q - 1);
    const Index rows = height - shrink, cols = width - shrink;
    Real sum = 0;
    for (Index p = 0; p < rows * cols; ++p)
      for (Index r = 0; r < rows * cols; ++r) {
        if (o_.pooling == Pooling::none && p != r) continue;
        sum += at(tangent, p / cols * width + p % cols, r / cols * width + r % cols);
      }
    const auto pixels = static_cast<Real>(rows * cols);
    return sum / (o_.pooling == Pooling::none ? pixels : pixels * pixels);
  }

 private:
  using Tensor = std::vector<Real>;

  Index pixels() const { return s_.height * s_.width; }
  Real at(const Tensor& t, Index p, Index r) const { return t[p * pixels() + r]; }
  template <class F>
  Tensor make(F f) const {
    Tensor t;
    for (Index p = 0; p < pixels(); ++p)
      for (Index r = 0; r < pixels(); ++r) t.push_back(f(p, r));
    return t;
  }
  Real dot(const Row& y, Index p, const Row& z, Index r) const {
    Real sum = 0;
    for (Index c = 0; c < s_.channels; ++c)
      sum += static_cast<Real>(y[p * s_.channels + c]) * static_cast<Real>(z[r * s_.channels + c]);
    return sum;
  }
  Tensor window(const Tensor& t) const {
    const Index first = o_.padding == Padding::same ? -(o_.filter / 2) : 0;
    return make([&](Index p, Index r) {
      Real sum = 0;
      for (Index a = first; a < first + o_.filter; ++a)
        for (Index b = first; b < first + o_.filter; ++b) {
          const Index pi = p / s_.width + a, pj = p % s_.width + b;
          const Index ri = r / s_.width + a, rj = r % s_.width + b;
          if (std::min({pi, pj, ri, rj}) < 0 || std::max(pi, ri) >= s_.height ||
              std::max(pj, rj) >= s_.width)
            continue;
          sum += at(t, pi * s_.width + pj, ri * s_.width + rj);
        }
      return sum;
    });
  }
  static Real kappa0(Real a) { return 1 - std::acos(a) / std::numbers::pi_v<Real>; }
  static Real kappa1(Real a) {
    return (std::sqrt((1 - a) * (1 + a)) + a * (std::numbers::pi_v<Real> - std::acos(a))) /
           std::numbers::pi_v<Real>;
  }

  CntkOptions o_;
  ImageShape s_;
};

void expect_close(double value, double expected, double relative, const std::string& what) {
  EXPECT_NEAR(value, expected, relative * std::abs(expected) + 1e-300) << what;
}

// ---- values -------------------------------------------------------------------------------------

TEST(Cntk, GivesTheGoldenValues) {
  const ImageShape shape{7, 6, 3};
  const Row y = test_image(1, shape), z = test_image(3, shape);
  CntkOptions options{.image = "7x6x3", .depth = 3};
  EXPECT_NEAR(CntkKernel(options)(y, z), 0.05102481345627762, 5e-14);
  options.pooling = Pooling::none;
  EXPECT_NEAR(CntkKernel(options)(y, z), 0.04582023649329708, 5e-14);
  options = {.image = "7x6x3",
             .depth = 2,
             .filter = 2,
             .padding = Padding::valid,
             .train_first_layer = true};
  EXPECT_NEAR(CntkKernel(options)(y, z), 0.0651553095479443, 7e-14);
}

/// "same_c3_L2_q5_vanilla", "valid_c1_L2_q2_gap_trainfirst", ...: the options, and whether of (y,
/// y).
std::pair<CntkOptions, bool> parse_label(const std::string& label) {
  CntkOptions options;
  const auto has = [&](const char* part) { return label.find(part) != std::string::npos; };
  const auto number = [&](const char* part) {
    return std::stoll(label.substr(label.find(part) + std::string(part).size()));
  };
  options.image = "7x6x" + std::to_string(number("_c"));
  options.depth = number("_L");
  options.filter = number("_q");
  options.padding = has("valid") ? Padding::valid : Padding::same;
  options.pooling = has("vanilla") ? Pooling::none : Pooling::gap;
  options.train_first_layer = has("trainfirst");
  return {options, has("_self")};
}

TEST(Cntk, AgreesWithTheReferenceFile) {
  const Json file = reference("exact_kernels.json");
  if (file.is_null()) GTEST_SKIP() << "../shared/reference is absent";
  int compared = 0;
  for (const auto& [label, expected] : file["cntk"]["values"].items()) {
    const auto [options, self] = parse_label(label);
    const ImageShape shape = parse_image_shape(options.image);
    const Row y = test_image(1, shape), z = test_image(3, shape);
    if (options.depth == 1 && !options.train_first_layer) {
      EXPECT_EQ(expected, 0.0);
      EXPECT_THROW(CntkKernel{options}, Error);
      continue;
    }
    expect_close(CntkKernel(options)(y, self ? y : z), expected, 1e-12, label);
    ++compared;
  }
  EXPECT_GE(compared, 40);
}

TEST(Cntk, AgreesWithValuesOfOtherPeoplesCode) {
  const Json file = reference("thirdparty_cntk.json");
  if (file.is_null()) GTEST_SKIP() << "../shared/reference is absent";
  std::vector<Row> images(3);
  for (Index k = 0; k < 3; ++k)
    for (Index i = 0; i < 4; ++i)
      for (Index j = 0; j < 4; ++j)
        for (Index c = 0; c < 2; ++c)
          images[k].push_back(std::sin(1 + static_cast<double>(k) + 0.7 * static_cast<double>(i) +
                                       1.3 * static_cast<double>(j) +
                                       2.1 * static_cast<double>(c)) +
                              0.1 * static_cast<double>(k));
  // Their depth counts the last linear layer.
  for (const auto& [label, depth] : {std::pair("depth3_gap1_fix1", 2), {"depth4_gap1_fix1", 3}}) {
    const CntkKernel kernel({.image = "4x4x2", .depth = depth});
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        expect_close(kernel(images[i], images[j]), file["values"][label][i][j], 1e-8, label);
  }
}

// Every combination of options against the recursion written down as it stands.
TEST(Cntk, AgreesWithTheOracle) {
  const ImageShape shape{5, 5, 2};
  const Row y = random_image(1, shape), z = random_image(2, shape);
  for (const Index depth : {1, 2, 3})
    for (const Index filter : {1, 2, 3, 5})
      for (const Padding padding : {Padding::same, Padding::valid})
        for (const Pooling pooling : {Pooling::gap, Pooling::none})
          for (const bool first : {false, true}) {
            const CntkOptions options{"5x5x2", depth, filter, padding, pooling, first};
            if (depth == 1 && !first) continue;
            if (padding == Padding::same ? filter % 2 == 0 : depth * (filter - 1) >= 5) continue;
            const CntkKernel kernel(options);
            const Oracle oracle(options, shape);
            // The sums have parts of either sign: an error relative to the diagonal.
            const auto size = static_cast<double>(oracle.value(y, y) + oracle.value(z, z));
            EXPECT_NEAR(kernel(y, z), static_cast<double>(oracle.value(y, z)), 1e-14 * size)
                << depth << " " << filter << " " << static_cast<int>(padding)
                << static_cast<int>(pooling) << first;
          }
}

// Wider than any vector: displacements of all widths follow each other in the same memory.
TEST(Cntk, AgreesWithTheOracleOnWideImages) {
  const ImageShape shape{3, 35, 1};
  const Row y = random_image(5, shape), z = random_image(6, shape);
  for (const Index filter : {3, 5}) {
    const CntkOptions options{"3x35x1", 3, filter, Padding::same, Pooling::gap, false};
    const CntkKernel kernel(options);
    const Oracle oracle(options, shape);
    const auto exact = static_cast<double>(oracle.value(y, z));
    const auto size = static_cast<double>(oracle.value(y, y) + oracle.value(z, z));
    EXPECT_NEAR(kernel(y, z), exact, 1e-14 * size);
    Matrix<float> rows(2, values_of(shape)), single(2, 2);
    std::ranges::copy(y, rows.row(0).begin());
    std::ranges::copy(z, rows.row(1).begin());
    gram<float>(kernel, rows.view(), rows.view(), single.view());
    EXPECT_NEAR(single(0, 1), exact, 1e-6 * size);
  }
}

// 1 - cos of a window is then 1e-14: without care kappa0 would be off by 1e-8.
TEST(Cntk, IsAccurateForNearlyEqualAndOppositeImages) {
  const ImageShape shape{5, 6, 2};
  const Row y = random_image(3, shape), noise = random_image(4, shape);
  for (const double sign : {1.0, -1.0}) {
    Row z(y.size());
    for (std::size_t k = 0; k < y.size(); ++k) z[k] = sign * (y[k] * (1 + 1e-3) + 1e-7 * noise[k]);
    for (const Pooling pooling : {Pooling::gap, Pooling::none}) {
      const CntkOptions options{"5x6x2", 3, 3, Padding::same, pooling, true};
      const auto exact = static_cast<double>(Oracle(options, shape).value(y, z));
      expect_close(CntkKernel(options)(y, z), exact, 1e-11, "near");
    }
  }
}

TEST(Cntk, HasEqualWindowsAtCosineOne) {
  // A flat image: all windows inside are equal, at every displacement.
  const Row flat(36, 0.7);
  const CntkOptions options{.image = "6x6x1", .depth = 4};
  const Oracle oracle(options, {6, 6, 1});
  expect_close(CntkKernel(options)(flat, flat), static_cast<double>(oracle.value(flat, flat)), 1e-9,
               "flat");  // the oracle's own acos near 1
  const CntkOptions one{.image = "1x1x4", .depth = 3, .filter = 1};
  const Row x = {1, 2, -1, 3};  // one pixel, filter 1: P = 1 + 1 times |x|^2
  EXPECT_NEAR(CntkKernel(one)(x, x), 2 * 15.0, 1e-12);
}

TEST(Cntk, IsHomogeneousAndZeroForAZeroImage) {
  const ImageShape shape{5, 5, 3};
  const CntkKernel kernel({.image = "5x5x3"});
  Row y = random_image(5, shape), z = random_image(6, shape);
  const double value = kernel(y, z);
  for (double& v : y) v *= 1e100;
  for (double& v : z) v *= 1e-120;
  expect_close(kernel(y, z), value * 1e-20, 1e-12, "scaled");
  EXPECT_EQ(kernel(y, Row(75, 0.0)), 0);
  Row part(75, 0.0);  // windows without any light
  part[0] = 1;
  const CntkOptions options{.image = "5x5x3"};
  expect_close(kernel(part, z), static_cast<double>(Oracle(options, shape).value(part, z)), 1e-12,
               "dark");
}

// ---- blocks -------------------------------------------------------------------------------------

TEST(Cntk, FillsGramMatricesInBothPrecisions) {
  const ImageShape shape{4, 3, 2};
  Matrix<float> x(130, values_of(shape));
  rng::fill_normal(rng::Key{7}, 0, {x.data(), static_cast<std::size_t>(x.rows() * x.cols())});
  std::ranges::copy(x.row(0), x.row(5).begin());
  for (const Pooling pooling : {Pooling::gap, Pooling::none}) {
    const CntkKernel kernel({.image = "4x3x2", .depth = 2, .pooling = pooling});
    Matrix<float> single(130, 130);
    Matrix<double> twice(130, 130), rectangle(130, 7);
    gram<float>(kernel, x.view(), x.view(), single.view());
    gram<double>(kernel, x.view(), x.view(), twice.view());
    gram<double>(kernel, x.view(), x.view().slice(0, 7), rectangle.view());
    for (Index i = 0; i < 130; ++i)
      for (Index j = 0; j < 130; ++j) {
        const double size = std::sqrt(twice(i, i) * twice(j, j));
        ASSERT_NEAR(single(i, j), twice(i, j), 3e-6 * size);
        ASSERT_EQ(twice(i, j), twice(j, i));
        if (j < 7) {
          ASSERT_NEAR(rectangle(i, j), twice(i, j), 1e-14 * size);
        }
      }
    EXPECT_NEAR(single(0, 5), single(0, 0), 1e-6 * single(0, 0));
    const Row first(x.row(0).begin(), x.row(0).end()), third(x.row(3).begin(), x.row(3).end());
    EXPECT_NEAR(kernel(first, third), twice(0, 3), 1e-14 * twice(0, 0));
  }
}

TEST(Cntk, GivesTheSameBitsForAnyThreads) {
  const ImageShape shape{9, 8, 3};
  const Row y = random_image(8, shape), z = random_image(9, shape);
  const CntkKernel kernel({.image = "9x8x3"});
  const int before = threads();
  set_threads(1);
  const double one = kernel(y, z);
  set_threads(3);
  EXPECT_EQ(kernel(y, z), one);
  set_threads(before);
}

TEST(Cntk, RefusesWhatHasNoKernel) {
  EXPECT_THROW(CntkKernel({.depth = 1}), Error);
  EXPECT_THROW(CntkKernel({.filter = 4}), Error);
  EXPECT_THROW(CntkKernel({.image = "5x"}), Error);
  const Row x(27, 1.0);
  EXPECT_THROW(CntkKernel({.image = "3x3x2"})(x, x), Error);
  EXPECT_THROW(CntkKernel({.image = "3x3x3", .padding = Padding::valid})(x, x), Error);
  EXPECT_NO_THROW(
      CntkKernel({.image = "3x3x3", .depth = 2, .filter = 2, .padding = Padding::valid})(x, x));
}

}  // namespace
}  // namespace kerf::detail
