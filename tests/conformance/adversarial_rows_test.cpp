// The bias and the variance that every map states (feature_map.h) on rows that are hard for it: of
// few columns, far apart, copied, opposite; in sizes that are no power of two.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "tests/conformance/map_cases.h"

namespace kerf::detail {
namespace {

constexpr double kBandwidth = 1.3;  // of cases()
constexpr int kMaps = 200;
/// Maps of many features, which take longer.
constexpr int kLargeMaps = 60;

struct Pair {
  std::string what;
  std::vector<float> x, y;
};

/// Values at the first columns, zeros behind.
std::vector<float> few(Index dim, std::vector<float> values, Index first = 0) {
  std::vector<float> row(dim, 0.0f);
  std::ranges::copy(values, row.begin() + first);
  return row;
}

std::vector<float> generic(Index dim, double length) {
  std::vector<float> row(dim);
  rng::sphere(rng::Key{5}, 0, row);
  for (float& v : row) v *= static_cast<float>(length);
  return row;
}

/// Pairs of rows; lengths in bandwidths.
std::vector<Pair> hard_pairs(Index dim) {
  const std::vector<float> zero = few(dim, {});
  const auto each = [](int columns, double length) {
    return std::vector<float>(columns,
                              static_cast<float>(kBandwidth * length / std::sqrt(columns)));
  };
  std::vector<Pair> pairs = {
      {"one-hot, neighbours", few(dim, {1}), few(dim, {1}, 1)},
      {"one-hot, ends", few(dim, {1}), few(dim, {1}, dim - 1)},
      {"one-hot, later columns", few(dim, {1}, 2), few(dim, {1}, 3)},
      {"one-hot, copied", few(dim, {1}, 4), few(dim, {1}, 4)},
      {"opposite", few(dim, {1, 2}), few(dim, {-1, -2})},
      {"copied, far", generic(dim, 64 * kBandwidth), generic(dim, 64 * kBandwidth)},
  };
  for (const double length : {2.0, 3.0, 16.0, 64.0})
    for (const int columns : {1, 2, 4})
      pairs.push_back({std::to_string(columns) + " columns, " + std::to_string(length) + " s", zero,
                       few(dim, each(columns, length))});
  // One column against one, both long: for kernels of the angle, to which 0 says nothing.
  pairs.push_back({"one-hot, far", few(dim, each(1, 64)), few(dim, each(1, 64), 1)});
  pairs.push_back({"generic, 2 s", zero, generic(dim, 2 * kBandwidth)});
  pairs.push_back({"generic, 64 s", few(dim, {0.5f}), generic(dim, 64 * kBandwidth)});
  return pairs;
}

/// All pairs of one-hot rows, 2.5 s apart: every two coordinates of the frequencies.
std::vector<Pair> one_hot_pairs(Index dim) {
  std::vector<Pair> pairs;
  const auto value = static_cast<float>(2.5 * kBandwidth / std::sqrt(2.0));
  for (Index i = 0; i < dim; ++i)
    for (Index j = 0; j < i; ++j)
      pairs.push_back({"one-hot " + std::to_string(i) + " and " + std::to_string(j),
                       few(dim, {value}, i), few(dim, {value}, j)});
  return pairs;
}

/// With `features` features, or the least more that the map takes for rows of `dim` columns.
Params sized(const FeatureMapEntry& entry, Params params, Index dim, int features) {
  if (params.contains("image")) params["image"] = std::to_string(dim) + "x1x1";
  if (params.at("features") != "64") features = std::stoi(params.at("features"));
  for (const int last = features + 64;; ++features) {
    params["features"] = std::to_string(features);
    try {
      entry.make(dim, params, rng::Key{1});
      return telling(entry, params, kMaps);
    } catch (const Error&) {
      if (features == last) throw;
    }
  }
}

/// Mean and variance of estimates, around the kernel's value for few digits to be lost.
struct Moments {
  double mean = 0, square = 0;
  void add(double v, int of) { mean += v / of, square += v * v / of; }
  double variance() const { return std::max(0.0, square - mean * mean); }
};

class EveryFeatureMapOnHardRows : public ::testing::TestWithParam<Case> {
 protected:
  /// As EveryFeatureMap.HasTheBiasAndTheVarianceItStates.
  static void check(const std::vector<Pair>& pairs, int features_wanted) {
    const auto dim = static_cast<Index>(pairs.front().x.size());
    const FeatureMapEntry& entry = GetParam().entry;
    const Params params = sized(entry, GetParam().params, dim, features_wanted);
    const auto kernel = entry.kernel(params);
    std::map<std::vector<float>, Index> places;  // of rows in x, each once
    std::vector<double> exact, square;
    for (const Pair& pair : pairs) {
      places[pair.x] = places[pair.y] = 0;
      const std::vector<double> a(pair.x.begin(), pair.x.end()), b(pair.y.begin(), pair.y.end());
      exact.push_back((*kernel)(a, b));
      square.push_back((*kernel)(a, a) * (*kernel)(b, b));
    }
    Matrix<float> x(static_cast<Index>(places.size()), dim);
    for (Index next = 0; auto& [row, place] : places) {
      place = next++;
      std::ranges::copy(row, x.row(place).begin());
    }
    std::vector<Moments> errors(pairs.size());
    const int maps = std::stoll(params.at("features")) > 256 ? kLargeMaps : kMaps;
    for (int t = 0; t < maps; ++t) {
      const auto map = entry.make(dim, params, rng::Key{2000}.child(static_cast<std::uint64_t>(t)));
      const std::vector<float> z = features(*map, x.view());
      const MatrixView<const float> rows(z.data(), x.rows(), map->out_dim());
      for (std::size_t p = 0; p < pairs.size(); ++p) {
        const auto a = rows.row(places[pairs[p].x]), b = rows.row(places[pairs[p].y]);
        const double dot = std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
        errors[p].add(dot - exact[p], maps);
      }
    }
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const double bound = entry.relative_variance(params) * square[p], size = std::sqrt(square[p]);
      const double variance = errors[p].variance();
      // The standard error of the stated variance, or the sample's where that is less.
      const double error = std::sqrt(std::min(bound, 1.44 * variance) / maps);
      EXPECT_LE(std::abs(errors[p].mean),
                entry.relative_bias(params) * size + 5.3 * error + 2e-5 * size)
          << pairs[p].what << ", " << dim << " columns";
      // The standard error of a sample variance is sqrt(2/maps) of it for normal estimates, 0.1
      // for 200, and the bound itself is reached by few maps: 5.3 of them.
      EXPECT_LE(variance, (1 + 5.3 * std::sqrt(2.0 / maps)) * bound + 1e-10 * square[p])
          << pairs[p].what << ", " << dim << " columns, " << variance / bound << " of the bound";
    }
  }
};

TEST_P(EveryFeatureMapOnHardRows, HasTheBiasAndTheVarianceItStates) {
  if (GetParam().entry.fit != nullptr) GTEST_SKIP() << "learns from the rows";
  check(hard_pairs(8), 64);
  check(hard_pairs(13), 100);
  check(one_hot_pairs(23), 64);
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryFeatureMapOnHardRows, ::testing::ValuesIn(cases()),
                         case_name);

}  // namespace
}  // namespace kerf::detail
