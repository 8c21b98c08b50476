// Every line of the registry with every value of its choices, in small sizes: what the conformance
// tests run over.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <cctype>
#include <cmath>

#include "kerf/api/error.h"
#include "kerf/features/example_features.h"
#include "kerf/features/feature_map.h"

namespace kerf::detail {

inline constexpr Index kRows = 131,
                       kDim = 7;  // more than one piece of work, not a multiple of anything

/// One registry line with one setting of its options.
struct Case {
  FeatureMapEntry entry;
  Params params;
};

inline void PrintTo(const Case& c, std::ostream* out) { *out << c.entry.name; }

/// Gaussian rows of several lengths; the last is all zeros.
inline Matrix<float> sample_rows() {
  Matrix<float> x(kRows, kDim);
  rng::fill_normal(rng::Key{77}, 0, std::span(x.data(), kRows * kDim));
  for (Index i = 0; i < kRows; ++i)
    for (float& v : x.row(i)) v *= 0.3f * static_cast<float>(1 + i % 3);
  for (float& v : x.row(kRows - 1)) v = 0;
  for (Index i = 0; i < kRows; i += 2) x(i, i % kDim) = 0;  // some zeros, for the sparse form
  return x;
}

/// The map; a data-dependent one learns from sample_rows().
inline std::unique_ptr<FeatureMap> make_map(const FeatureMapEntry& entry, const Params& params,
                                            rng::Key key) {
  if (entry.fit == nullptr) return entry.make(kDim, params, key);
  const Matrix<float> x = sample_rows();
  MemorySource source(x.view(), {});
  return entry.restore(kDim, params, key, entry.fit(source, params, key, {}));
}

/// 6, or the least more that the map takes for rows of kDim columns.
inline std::string few_features(const FeatureMapEntry& entry, Params params) {
  for (int features = 6;; ++features) {
    params["features"] = std::to_string(features);
    try {
      make_map(entry, params, rng::Key{1});
      return params["features"];
    } catch (const Error&) {
      if (features == 64) throw;
    }
  }
}

/// The registry's maps: defaults, and every value of every choice, in small sizes.
inline std::vector<Case> cases() {
  std::vector<FeatureMapEntry> entries(feature_maps().begin(), feature_maps().end());
  entries.push_back(feature_map_entry<ExampleFeatures>());
  std::vector<Case> all;
  for (const auto& entry : entries) {
    Params base = {{"features", "64"}};
    for (const auto& option : entry.options()) {
      if (option.name == "bandwidth") base["bandwidth"] = "1.3";
      if (option.name == "bias") base["bias"] = "0.6";
      if (option.name == "image") base["image"] = std::to_string(kDim) + "x1x1";
      // Deeper maps have a bias of O(1/m); their own tests show that it falls as it should.
      if (option.name == "depth") base["depth"] = "1";
      if (option.name == "train-first-layer") base["train-first-layer"] = "true";
    }
    all.push_back({entry, base});
    for (const auto& option : entry.options()) {
      std::vector<std::string> values = option.choices;
      if (option.name == "order") values = {"0", "1"};
      if (option.name == "bias") values = {"0"};
      if (option.name == "features") values = {few_features(entry, base)};
      for (const auto& value : values) {
        Params params = base;
        if (value == option.default_value) continue;
        params[option.name] = value;
        // Images one pixel wide have no larger windows without padding.
        if (value == "valid") params["filter"] = "1";
        // Activations that are given by numbers: of degree 3, so that not all of them is exact.
        if (value == "polynomial" || value == "hermite") params["coefficients"] = "0.3,1,0.5,0.4";
        all.push_back({entry, params});
      }
    }
  }
  return all;
}

inline std::vector<float> features(const FeatureMap& map, const RowsView& x) {
  std::vector<float> z(x.rows() * map.out_dim());
  map.transform(x, {z.data(), x.rows(), map.out_dim()});
  return z;
}

/// How far from the kernel a mean over so many maps may be, as a fraction of the kernel's size: the
/// stated bias and 5.3 standard errors.
inline double tolerance(const FeatureMapEntry& entry, const Params& params, int maps) {
  return entry.relative_bias(params) + 5.3 * std::sqrt(entry.relative_variance(params) / maps);
}

/// With more features where those asked for vary so much (ntk-poly: products along a chain) that
/// any map would be within the tolerance.
inline Params telling(const FeatureMapEntry& entry, Params params, int maps) {
  for (Index m = std::stoll(params.at("features"));
       m < 4096 && tolerance(entry, params, maps) > 0.45;)
    params["features"] = std::to_string(m *= 2);
  return params;
}

inline std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  std::string name = info.param.entry.name;
  for (const auto& [key, value] : info.param.params)
    if (key != "bandwidth" && key != "depth" && key != "coefficients" && key != "image" &&
        key != "train-first-layer" && key != "filter" && !(key == "features" && value == "64") &&
        !(key == "bias" && value == "0.6"))
      name += "_" + key + "_" + value;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

}  // namespace kerf::detail
