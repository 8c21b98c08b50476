// What every feature map promises (feature_map.h), checked for every line of the registry.
//
// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/feature_map.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kerf/api/error.h"
#include "kerf/core/system/parallel.h"
#include "kerf/features/automatic.h"
#include "tests/conformance/map_cases.h"

namespace kerf::detail {
namespace {

CsrMatrix to_sparse(const Matrix<float>& x) {
  CsrMatrix sparse;
  sparse.cols = x.cols();
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j)
      if (x(i, j) != 0) sparse.push(static_cast<std::int32_t>(j), x(i, j));
    sparse.end_row();
  }
  return sparse;
}

class EveryFeatureMap : public ::testing::TestWithParam<Case> {
 protected:
  std::unique_ptr<FeatureMap> map(std::uint64_t seed = 3) const {
    return make_map(GetParam().entry, GetParam().params, rng::Key{seed});
  }
  const Matrix<float> x_ = sample_rows();
};

/// Whether nothing is left to the data any more: numbers, choices and the shape of images.
void expect_settled(std::span<const OptionInfo> options, const Params& params,
                    const std::string& owner) {
  for (const OptionInfo& option : options)
    if (option.type != OptionType::text || option.name == "image") {
      EXPECT_NE(params.at(option.name), "auto") << owner << " " << option.name;
    }
}

TEST(Registries, WorkOutEverythingThatIsLeftToTheData) {
  const Matrix<float> x = sample_rows();
  MemorySource rows(x.view(), {});
  const DataSummary summary = summarise(rows, Task::regression, {}, rng::Key{1});
  for (const FeatureMapEntry& map : feature_maps())
    expect_settled(map.options(), map.complete(resolve_automatic(map, {}, summary, Scaling())),
                   map.name);
  for (const KernelEntry& kernel : kernels()) {
    Params params = resolve_automatic(kernel, {}, summary, Scaling());
    for (const OptionInfo& option : kernel.options())
      params.try_emplace(option.name, option.default_value);
    expect_settled(kernel.options(), params, kernel.name);
  }
}

TEST_P(EveryFeatureMap, GivesTheSameBitsForTheSameKeyAndOthersForAnother) {
  EXPECT_EQ(features(*map(), x_.view()), features(*map(), x_.view()));
  const bool draws = std::string_view(GetParam().entry.name) != "linear";
  EXPECT_EQ(features(*map(3), x_.view()) != features(*map(4), x_.view()), draws);
}

TEST_P(EveryFeatureMap, HasExactlyTheFeaturesAskedFor) {
  EXPECT_EQ(map()->out_dim(), std::stoll(GetParam().params.at("features")));
}

TEST_P(EveryFeatureMap, DoesNotCareWhereBlocksAreCut) {
  const auto whole = features(*map(), x_.view());
  for (const Index cut : {Index{1}, Index{2}, Index{96}, kRows - 1}) {
    auto parts = features(*map(), x_.view().slice(0, cut));
    const auto rest = features(*map(), x_.view().slice(cut, kRows));
    parts.insert(parts.end(), rest.begin(), rest.end());
    EXPECT_EQ(parts, whole) << "cut at " << cut;
  }
}

TEST_P(EveryFeatureMap, DoesNotCareHowManyThreadsWork) {
  const int before = threads();
  set_threads(1);
  const auto one_map = map();
  const auto one = features(*one_map, x_.view());
  set_threads(3);
  EXPECT_EQ(features(*map(), x_.view()), one);
  set_threads(before);
}

TEST_P(EveryFeatureMap, TakesSparseRowsForTheSameFeatures) {
  const CsrMatrix sparse = to_sparse(x_);
  const auto from_dense = features(*map(), x_.view());
  const auto from_sparse = features(*map(), sparse.view());
  for (std::size_t i = 0; i < from_dense.size(); ++i)
    ASSERT_NEAR(from_sparse[i], from_dense[i], 1e-5 * (1 + std::abs(from_dense[i])));
}

TEST_P(EveryFeatureMap, IsFiniteForZeroTinyAndHugeRows) {
  Matrix<float> x(7, kDim);
  x.fill(0);
  // Numbers of very different sizes in one row: parts of it (pixels, windows) are tiny on their own.
  x(4, 0) = 1;
  x(4, kDim - 1) = 1e-39f;
  x(5, 1) = 1e-42f;
  x(5, kDim - 2) = -1e30f;
  x(6, kDim / 2) = 1e-20f;
  x(6, kDim - 1) = 1e19f;
  for (Index j = 0; j < kDim; ++j) {
    x(1, j) = j % 2 == 0 ? 1e30f : -1e30f;
    x(2, j) = 1e-42f;
    x(3, j) = 1e20f;
  }
  for (const float z : features(*map(), x.view())) ASSERT_TRUE(std::isfinite(z));
}

TEST_P(EveryFeatureMap, RefusesRowsOfAnotherLength) {
  std::vector<float> z(64);
  EXPECT_THROW(map()->transform(MatrixView<const float>(x_.data(), 1, kDim - 1),
                                {z.data(), 1, map()->out_dim()}),
               Error);
}

TEST_P(EveryFeatureMap, WritesOptionsThatReadBackTheSame) {
  const Params complete = GetParam().entry.complete(GetParam().params);
  EXPECT_EQ(GetParam().entry.complete(complete), complete);
}

// A state is the same however rows are cut, dense or sparse, and other shapes are refused.
TEST_P(EveryFeatureMap, LearnsTheSameFromAnyBlocks) {
  const auto [entry, params] = GetParam();
  if (entry.fit == nullptr) GTEST_SKIP() << "learns nothing";
  const CsrMatrix sparse = to_sparse(x_);
  const rng::Key key{3};
  MemorySource whole(x_.view(), {}), parts(x_.view(), {}, 7), other(sparse.view(), {}, 50);
  const MapState state = entry.fit(whole, params, key, {});
  for (MemorySource* source : {&parts, &other}) {
    const MapState same = entry.fit(*source, params, key, {});
    for (const auto& [name, array] : state) {
      const Matrix<float>& twin = same.at(name);
      ASSERT_EQ(twin.rows(), array.rows());
      for (Index i = 0; i < array.rows(); ++i)
        for (Index j = 0; j < array.cols(); ++j)
          ASSERT_NEAR(twin(i, j), array(i, j), source == &parts ? 0 : 1e-3) << name;
    }
  }
  EXPECT_THROW(entry.make(kDim, params, key), Error);
  for (const auto& [name, array] : state) {
    MapState forged;
    for (const auto& [kept, numbers] : state) {
      // More columns than features (fewer may be all that the rows span).
      forged[kept] = Matrix<float>(numbers.rows(), numbers.cols() + (kept == name ? 1000 : 0));
      forged[kept].fill(1);
    }
    EXPECT_THROW(entry.restore(kDim, params, key, forged), Error) << name;
  }
}

constexpr int kMaps = 800;

// Averaged over T independent maps the estimate is within 5.3 standard errors of the kernel, where
// Var <= relative_variance k(x,x) k(y,y): a false alarm below 1e-6 for all pairs together, because
// seeds are fixed and a Gaussian tail at 5.3 is 1.2e-7.  Where the sample varies less than stated
// its own standard error is taken (times 1.2).  Orthogonal directions are dependent within a map,
// never between maps; their variance is bounded by that of independent ones times the group size,
// which the sample itself then shows to be far too pessimistic.  A map that states a bias may have
// it.
TEST_P(EveryFeatureMap, HasTheBiasAndTheVarianceItStates) {
  constexpr Index kPairs = 6;
  const FeatureMapEntry& entry = GetParam().entry;
  if (entry.fit != nullptr) GTEST_SKIP() << "learns from the rows: its own test shows what";
  const Params params = telling(entry, GetParam().params, kMaps);
  ASSERT_LT(tolerance(entry, params, kMaps), 0.5)
      << "a map of zeros could pass: the test says nothing";
  const auto kernel = entry.kernel(params);
  double sum[kPairs] = {}, squares[kPairs] = {};
  for (int t = 0; t < kMaps; ++t) {
    const auto sample =
        entry.make(kDim, params, rng::Key{1000}.child(static_cast<std::uint64_t>(t)));
    const auto z = features(*sample, x_.view().slice(0, kPairs + 1));
    const Index m = sample->out_dim();
    for (Index p = 0; p < kPairs; ++p) {
      double dot = 0;  // row 0 with itself and with the next ones
      for (Index k = 0; k < m; ++k) dot += double{z[k]} * z[p * m + k];
      sum[p] += dot;
      squares[p] += dot * dot;
    }
  }
  const auto row = [&](Index i) { return std::vector<double>(x_.row(i).begin(), x_.row(i).end()); };
  for (Index p = 0; p < kPairs; ++p) {
    const double exact = (*kernel)(row(0), row(p));
    const double square = (*kernel)(row(0), row(0)) * (*kernel)(row(p), row(p));
    const double bound = entry.relative_variance(params) * square;
    const double bias = entry.relative_bias(params) * std::sqrt(square);
    const double mean = sum[p] / kMaps, variance = std::max(0.0, squares[p] / kMaps - mean * mean);
    const double error = std::sqrt(std::min(bound, 1.44 * variance) / kMaps);
    // Rounding of single precision: 1e-5.
    EXPECT_NEAR(mean, exact, bias + 5.3 * error + 1e-5 * std::sqrt(square)) << "pair " << p;
    // The sample variance of 800 draws is within 40 % of the true one unless tails are heavy.
    EXPECT_LE(variance, 1.4 * bound + 1e-12) << "pair " << p;
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryFeatureMap, ::testing::ValuesIn(cases()), case_name);

TEST(FeatureMapRegistry, NamesTheNearestMapForAWrongName) {
  try {
    find_feature_map("arcos");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("did you mean 'arccos'"), std::string::npos);
  }
}

}  // namespace
}  // namespace kerf::detail
