// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/gram/gram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kerf/api/error.h"
#include "kerf/core/random/random.h"
#include "kerf/core/system/parallel.h"

namespace kerf::detail {
namespace {

struct Named {
  const char* name;
  Params params;
};

/// Every kernel, with bandwidths that suit rows of length about 1.
const std::vector<Named>& all_kernels() {
  static const std::vector<Named> all = {
      {"gaussian", {{"bandwidth", "1.2"}}},
      {"laplacian", {{"bandwidth", "5"}}},
      {"laplacian-l2", {{"bandwidth", "1.2"}}},
      {"cauchy", {{"bandwidth", "1.2"}}},
      {"matern32", {{"bandwidth", "1.2"}}},
      {"matern52", {{"bandwidth", "1.2"}}},
      {"linear", {}},
      {"arccos", {{"order", "0"}, {"bias", "0"}}},
      {"arccos", {{"order", "1"}, {"bias", "0.7"}}},
      {"nngp", {{"depth", "2"}, {"bias", "0"}}},
      {"ntk", {{"depth", "1"}, {"bias", "0"}}},
      {"ntk", {{"depth", "3"}, {"bias", "0"}}},
      {"ntk", {{"depth", "3"}, {"bias", "1.3"}}},
  };
  return all;
}

std::unique_ptr<Kernel> make(const Named& named) {
  return find_kernel(named.name).make(named.params);
}

Matrix<double> widened(const Matrix<float>& x) {
  Matrix<double> out(x.rows(), x.cols());
  std::copy_n(x.data(), x.rows() * x.cols(), out.data());
  return out;
}

Matrix<double> oracle(const Kernel& kernel, const Matrix<float>& x, const Matrix<float>& y) {
  Matrix<double> out(x.rows(), y.rows());
  kernel.gram(widened(x).view(), widened(y).view(), out.view());
  return out;
}

/// Normal rows of length about 1 around a common offset, some of them nearly equal, equal,
/// multiples, opposite, nearly opposite to an earlier one, or zero.
Matrix<float> awkward_rows(std::uint64_t seed, Index n, Index d, float offset) {
  Matrix<float> x(n, d);
  rng::fill_normal(rng::Key{seed}, 0, {x.data(), static_cast<std::size_t>(n * d)});
  const float unit = 1 / std::sqrt(static_cast<float>(d));
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < d; ++j) {
      float& value = x(i, j);
      const float noise = value;
      value = value * unit + offset;
      if (i < 8) continue;
      if (i % 16 == 3) value = x(i / 2, j);
      if (i % 16 == 5) value = x(i / 3, j) * (1 + 1e-3f) + 1e-5f * noise;
      if (i % 16 == 7) value = -x(i / 2, j);
      if (i % 16 == 9) value = -2 * x(i / 3, j) + 1e-4f * noise;
      if (i % 16 == 11) value = 3 * x(i / 2, j);
      if (i % 16 == 13) value = x(i / 2, j) + 0.02f * unit * noise;
      if (i == 15) value = 0;
    }
  return x;
}

/// The same rows as a sparse matrix.
CsrMatrix sparse_copy(const Matrix<float>& x) {
  CsrMatrix out;
  out.cols = x.cols();
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j)
      if (x(i, j) != 0) out.push(static_cast<std::int32_t>(j), x(i, j));
    out.end_row();
  }
  return out;
}

/// sqrt(k(x_i, x_i)).
std::vector<double> sizes(const Kernel& kernel, const Matrix<float>& x) {
  const auto rows = widened(x);
  std::vector<double> out;
  for (Index i = 0; i < x.rows(); ++i) out.push_back(std::sqrt(kernel(rows.row(i), rows.row(i))));
  return out;
}

/// The largest error relative to sqrt(k(x, x) k(y, y)), the size that a kernel's values can have.
template <class T>
double worst_error(const Kernel& kernel, const Matrix<float>& x, const Matrix<float>& y,
                   const RowsView& x_rows, const RowsView& y_rows) {
  const auto exact = oracle(kernel, x, y);
  Matrix<T> fast(x.rows(), y.rows());
  gram<T>(kernel, x_rows, y_rows, fast.view());
  const auto x_sizes = sizes(kernel, x), y_sizes = sizes(kernel, y);
  double worst = 0;
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < y.rows(); ++j) {
      const double size = x_sizes[i] * y_sizes[j];
      const double error = std::abs(static_cast<double>(fast(i, j)) - exact(i, j));
      worst = std::max(worst, size > 0 ? error / size : (error == 0 ? 0 : INFINITY));
      EXPECT_TRUE(std::isfinite(fast(i, j)));
    }
  return worst;
}

class GramAccuracy : public ::testing::TestWithParam<std::tuple<Index, float>> {};

TEST_P(GramAccuracy, AgreesWithTheOracleForEveryKernel) {
  const auto [d, offset] = GetParam();
  const auto x = awkward_rows(1, 90, d, offset), y = awkward_rows(2, 61, d, offset);
  for (const Named& named : all_kernels()) {
    const auto kernel = make(named);
    const std::string label = std::string(named.name) + " " + std::to_string(d);
    EXPECT_LT(worst_error<float>(*kernel, x, y, x.view(), y.view()), 2e-6) << label;
    EXPECT_LT(worst_error<double>(*kernel, x, y, x.view(), y.view()), 1e-12) << label;
    EXPECT_LT(worst_error<float>(*kernel, x, x, x.view(), x.view()), 2e-6) << label;
    EXPECT_LT(worst_error<double>(*kernel, x, x, x.view(), x.view()), 1e-12) << label;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, GramAccuracy,
                         ::testing::Combine(::testing::Values(1, 2, 7, 40, 300),
                                            ::testing::Values(0.0f, 0.3f, 20.0f)));

TEST(Gram, AgreesWithTheReferenceFile) {
  const char* shared = std::getenv("KERF_SHARED");
  const std::string folder = shared != nullptr ? shared : KERF_SOURCE_DIR "/../shared";
  std::ifstream in(folder + "/reference/exact_kernels.json");
  if (!in) GTEST_SKIP() << "../shared/reference is absent";
  const auto values = nlohmann::json::parse(in)["vectors"]["values"];
  const auto rows = [](Index seed, Index n) {
    Matrix<float> x(n, 5);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < 5; ++j)
        x(i, j) = static_cast<float>(
            static_cast<double>((i * 17 + j * 23 + seed * 41 + (i * j) % 13) % 101) / 101 - 0.5);
    return x;
  };
  // The file's rows are double, ours are those rounded to single.
  const auto x = rows(1, 6), y = rows(2, 4);
  for (const int depth : {1, 2, 3, 5, 16}) {
    const auto kernel = make({"ntk", {{"depth", std::to_string(depth)}, {"bias", "0"}}});
    Matrix<float> k(6, 4);
    gram<float>(*kernel, x.view(), y.view(), k.view());
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t j = 0; j < 4; ++j) {
        const double expected = values["ntk_depth_" + std::to_string(depth)][i][j];
        EXPECT_NEAR(k(static_cast<Index>(i), static_cast<Index>(j)), expected,
                    2e-6 * std::max(0.1, std::abs(expected)));
      }
  }
}

/// Pixels: non-negative, a few tenths of them not zero, rows alike: what MNIST is.
Matrix<float> image_rows(std::uint64_t seed, Index n, Index d) {
  Matrix<float> x(n, d);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < d; ++j) {
      const double shape =
          std::sin(0.13 * static_cast<double>(j) + 0.7 * static_cast<double>(i % 10));
      const double noise = rng::normal(rng::Key{seed}, static_cast<std::uint64_t>(i * d + j));
      x(i, j) = static_cast<float>(std::max(0.0, 255 * (shape - 0.3 + 0.2 * noise)));
    }
  return x;
}

TEST(Gram, OfImagesHasTheRelativeAccuracyPromised) {
  auto x = image_rows(3, 600, 784);
  for (Index j = 0; j < 784; ++j) {  // nearly equal rows
    x(1, j) = x(0, j) * 1.001f;
    x(3, j) = x(2, j) + (j % 5 == 0 ? 0.25f : 0.0f);
  }
  for (const char* depth : {"1", "3"}) {
    const auto kernel = make({"ntk", {{"depth", depth}, {"bias", "0"}}});
    Matrix<double> exact(40, 600);  // enough for the oracle
    kernel->gram(widened(x).view().slice(0, 40), widened(x).view(), exact.view());
    Matrix<float> single(600, 600);
    Matrix<double> doubled(600, 600);
    gram<float>(*kernel, x.view(), x.view(), single.view());
    gram<double>(*kernel, x.view(), x.view(), doubled.view());
    for (Index i = 0; i < 40; ++i)
      for (Index j = 0; j < 600; ++j) {
        ASSERT_NEAR(single(i, j), exact(i, j), 2e-6 * exact(i, j)) << i << ' ' << j;
        ASSERT_NEAR(doubled(i, j), exact(i, j), 1e-12 * exact(i, j)) << i << ' ' << j;
      }
  }
}

TEST(Gram, SparseRowsGiveTheSameValues) {
  for (const double density : {0.005, 0.3}) {
    Matrix<float> x(70, 900), y(45, 900);
    for (auto* rows : {&x, &y})
      for (Index i = 0; i < rows->rows(); ++i)
        for (Index j = 0; j < rows->cols(); ++j) {
          const auto at = static_cast<std::uint64_t>(i * 900 + j);
          const rng::Key key{rows == &x ? 7u : 8u};
          const bool entry = rng::uniform(key.child("where"), at) < density && i != 5;
          (*rows)(i, j) = entry ? static_cast<float>(rng::normal(key, at)) : 0.0f;
        }
    for (Index j = 0; j < 900; ++j) {
      y(0, j) = x(1, j);                            // equal
      y(2, j) = -1.5f * x(1, j);                    // opposite
      y(3, j) = x(2, j) * (j == 450 ? 1.001f : 1);  // nearly equal
    }
    const auto xs = sparse_copy(x), ys = sparse_copy(y);
    for (const Named& named : all_kernels()) {
      const auto kernel = make(named);
      EXPECT_LT(worst_error<float>(*kernel, x, y, xs.view(), ys.view()), 2e-6) << named.name;
      EXPECT_LT(worst_error<double>(*kernel, x, y, xs.view(), ys.view()), 1e-12) << named.name;
      EXPECT_LT(worst_error<double>(*kernel, x, x, xs.view(), xs.view()), 1e-12) << named.name;
      EXPECT_LT(worst_error<float>(*kernel, x, y, x.view(), ys.view()), 2e-6) << named.name;
    }
  }
}

TEST(Gram, OfWideRowsIsSummedInPieces) {
  const auto x = awkward_rows(4, 20, 5000, 0.01f);
  for (const Named& named : all_kernels()) {
    const auto kernel = make(named);
    EXPECT_LT(worst_error<float>(*kernel, x, x, x.view(), x.view()), 2e-6) << named.name;
    EXPECT_LT(worst_error<double>(*kernel, x, x, x.view(), x.view()), 1e-12) << named.name;
  }
}

TEST(Gram, HasTheSameBitsForAnyThreadsAndBlocks) {
  const auto x = awkward_rows(5, 1300, 33, 0.1f), y = awkward_rows(6, 700, 33, 0.1f);
  const int before = threads();
  for (const Named& named : all_kernels()) {
    const auto kernel = make(named);
    for (const bool symmetric : {false, true}) {
      const RowsView right = symmetric ? x.view() : y.view();
      Matrix<float> whole(x.rows(), right.rows()), again(x.rows(), right.rows());
      set_threads(1);
      gram<float>(*kernel, x.view(), right, whole.view());
      set_threads(2);
      gram<float>(*kernel, x.view(), right, again.view());
      const auto count = static_cast<std::size_t>(whole.rows() * whole.cols());
      EXPECT_EQ(0, std::memcmp(whole.data(), again.data(), count * sizeof(float))) << named.name;
      again.fill(-1);
      const Gram<float> blocks(*kernel, x.view(), right);
      const Index cuts[] = {0, 1, 512, 600, 700, 1290, 1300};
      for (std::size_t c = 0; c + 1 < std::size(cuts); ++c)
        blocks.compute(cuts[c], cuts[c + 1], again.view().slice(cuts[c], cuts[c + 1]));
      EXPECT_EQ(0, std::memcmp(whole.data(), again.data(), count * sizeof(float))) << named.name;
      if (!symmetric) continue;
      for (Index i = 0; i < x.rows(); ++i)
        for (Index j = 0; j < i; ++j) ASSERT_EQ(whole(i, j), whole(j, i)) << named.name;
    }
  }
  set_threads(before);
}

TEST(Gram, OfEqualRowsIsExact) {
  const auto x = awkward_rows(9, 40, 17, 0.0f);
  for (const char* name :
       {"gaussian", "laplacian", "laplacian-l2", "cauchy", "matern32", "matern52"}) {
    Matrix<float> k(40, 40);
    gram<float>(*make({name, {{"bandwidth", "0.01"}}}), x.view(), x.view(), k.view());
    for (Index i = 0; i < 40; ++i) EXPECT_EQ(k(i, i), 1) << name;
  }
  Matrix<double> k(40, 40);
  gram<double>(*make({"arccos", {{"order", "0"}, {"bias", "0"}}}), x.view(), x.view(), k.view());
  for (Index i = 0; i < 40; ++i) EXPECT_EQ(k(i, i), i == 15 ? 0 : 1);
}

TEST(Gram, StaysFiniteAtTheEndsOfTheRange) {
  auto x = awkward_rows(10, 20, 6, 0.0f);
  for (Index j = 0; j < 6; ++j) {
    x(1, j) *= 1e37f;
    x(2, j) *= 1e-44f;
    x(3, j) *= 1e19f;
  }
  const Named kernels[] = {
      {"gaussian", {{"bandwidth", "1e-60"}}},     {"gaussian", {{"bandwidth", "1e60"}}},
      {"laplacian", {{"bandwidth", "1e-60"}}},    {"cauchy", {{"bandwidth", "1e-60"}}},
      {"laplacian-l2", {{"bandwidth", "1e-60"}}}, {"gaussian", {{"bandwidth", "1e18"}}},
      {"matern32", {{"bandwidth", "1e-60"}}},     {"matern32", {{"bandwidth", "1e60"}}},
      {"matern52", {{"bandwidth", "1e-60"}}},     {"matern52", {{"bandwidth", "1e60"}}},
      {"arccos", {{"order", "0"}, {"bias", "0"}}}};
  for (const Named& named : kernels) {
    const auto kernel = make(named);
    EXPECT_LT(worst_error<float>(*kernel, x, x, x.view(), x.view()), 2e-6) << named.name;
    EXPECT_LT(worst_error<double>(*kernel, x, x, x.view(), x.view()), 1e-12) << named.name;
  }
}

/// A kernel that only has a value(): what a new kernel is before anybody makes it fast.
class SlowKernel final : public Kernel {
  double value(std::span<const double> x, std::span<const double> y) const override {
    double sum = 0;
    for (std::size_t j = 0; j < x.size(); ++j) sum += x[j] * y[j];
    return sum;
  }
};

TEST(Gram, TakesAnyKernelAndEmptyMatrices) {
  const SlowKernel kernel;
  const auto x = awkward_rows(11, 30, 4, 0.0f), y = awkward_rows(12, 9, 4, 0.0f);
  EXPECT_LT(worst_error<double>(kernel, x, y, x.view(), y.view()), 1e-15);
  for (const Named& named : all_kernels()) {
    Matrix<float> out(30, 0);
    gram<float>(*make(named), x.view(), MatrixView<const float>(x.data(), 0, 4), out.view());
    Matrix<float> narrow(3, 3);  // rows without columns
    gram<float>(*make(named), MatrixView<const float>(x.data(), 3, 0, 4),
                MatrixView<const float>(x.data(), 3, 0, 4), narrow.view());
    for (Index i = 0; i < 3; ++i) EXPECT_TRUE(std::isfinite(narrow(i, i)));
  }
}

TEST(Gram, RefusesWrongShapes) {
  const auto x = awkward_rows(13, 10, 4, 0.0f);
  const auto kernel = make(all_kernels()[0]);
  Matrix<float> out(10, 10);
  EXPECT_THROW(
      gram<float>(*kernel, x.view(), MatrixView<const float>(x.data(), 10, 3, 4), out.view()),
      Error);
  EXPECT_THROW(gram_rows<float>(*kernel, x.view(), x.view(), 0, 11, out.view()), Error);
  EXPECT_THROW(gram_rows<float>(*kernel, x.view(), x.view(), 0, 9, out.view()), Error);
}

}  // namespace
}  // namespace kerf::detail
