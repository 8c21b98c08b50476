// The contract every feature map obeys.  Read this before writing one; example_features.h is one to
// copy.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <vector>

#include "kerf/core/options.h"
#include "kerf/core/random.h"
#include "kerf/core/view.h"
#include "kerf/kernels/kernel.h"

namespace kerf {

/// phi : R^in_dim -> R^out_dim with <phi(x), phi(y)> close to a kernel k(x, y).
///
/// Promises, checked for every registered map by tests/conformance/feature_map_test.cpp:
///   row-local      output row i depends on input row i only (so blocks may be cut anywhere);
///   deterministic  same name, options, seed and row give the same bits, for any thread count;
///   const          transform() may be called from several threads at once;
///   total          a row of zeros, or of any numbers up to 1e30, gives a finite row.
class FeatureMap {
 public:
  virtual ~FeatureMap() = default;

  Index in_dim() const { return in_dim_; }
  Index out_dim() const { return out_dim_; }

  /// out(i, :) = phi(x_i), rows shared out among threads.  Shapes are checked here, for all maps.
  void transform(const RowsView& x, MatrixView<float> out) const;

 protected:
  FeatureMap(Index in_dim, Index out_dim);

 private:
  /// The rows of one piece, on the calling thread.
  virtual void transform_rows(const RowsView& x, MatrixView<float> out) const = 0;

  Index in_dim_, out_dim_;
};

/// One line of the registry.
struct FeatureMapEntry {
  const char* name;
  const char* summary;
  const char* python_name;
  std::vector<OptionInfo> (*options)();
  /// Every option with its value, defaults filled in; unknown names and bad values throw.
  Params (*complete)(const Params& params);
  /// Options must not be "auto" any more (resolve_automatic in automatic.h).
  std::unique_ptr<FeatureMap> (*make)(Index in_dim, const Params& params, rng::Key key);
  /// The kernel that the map estimates: what conformance tests and diagnostics compare with.
  std::unique_ptr<Kernel> (*kernel)(const Params& params);
  /// v with Var <phi(x), phi(y)> <= v k(x, x) k(y, y).
  double (*relative_variance)(const Params& params);
  /// b with |E <phi(x), phi(y)> - k(x, y)| <= b sqrt(k(x, x) k(y, y)); 0: unbiased.
  double (*relative_bias)(const Params& params);
  /// Memory that a map of these options holds.
  Index (*bytes)(Index in_dim, const Params& params);
};

std::span<const FeatureMapEntry> feature_maps();
/// The entry of that name; an unknown name is an Error (usage) with the nearest match.
const FeatureMapEntry& find_feature_map(std::string_view name);

template <class Map>
typename Map::Options map_options(const Params& params) {
  return read_options<typename Map::Options>(params, Map::kOwner);
}

/// The registry line of a map class: it names itself, its options and its kernel.  A map that is
/// biased has a function relative_bias(options).
template <class Map>
constexpr FeatureMapEntry feature_map_entry() {
  return {
      Map::kName,
      Map::kSummary,
      Map::kPythonName,
      [] { return list_options<typename Map::Options>(); },
      [](const Params& params) { return write_options(map_options<Map>(params)); },
      [](Index in_dim, const Params& params, rng::Key key) -> std::unique_ptr<FeatureMap> {
        return std::make_unique<Map>(in_dim, map_options<Map>(params), key);
      },
      [](const Params& params) { return Map::kernel(map_options<Map>(params)); },
      [](const Params& params) { return Map::relative_variance(map_options<Map>(params)); },
      [](const Params& params) {
        if constexpr (requires { Map::relative_bias(map_options<Map>(params)); })
          return Map::relative_bias(map_options<Map>(params));
        else
          return 0.0;
      },
      [](Index in_dim, const Params& params) {
        return Map::bytes(in_dim, map_options<Map>(params));
      },
  };
}

}  // namespace kerf
