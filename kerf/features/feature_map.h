// The contract every feature map obeys.  Read this before writing one; example_features.h is one to
// copy.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kerf/core/options.h"
#include "kerf/core/progress.h"
#include "kerf/core/random/random.h"
#include "kerf/core/rows/row_source.h"
#include "kerf/kernels/kernel.h"

namespace kerf::detail {

struct BoundInputs;  // feature_bound.h
struct FeatureBound;

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

/// What a data-dependent map learned from rows: arrays by name, kept by model files.
using MapState = std::map<std::string, Matrix<float>>;

/// The array A of a state whose map is z(x) = A^T f(x), f a map that is made of the other arrays
/// alone: a trained model folds A into its weights (fitted_map.h) and keeps the others only.
inline constexpr const char* kCompression = "compression";
/// The matrix (A A^T)^-1 of a square compression A, where it may take A's place (fitted_map.h).
inline constexpr const char* kPenalty = "penalty";

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
  /// Memory that a map of these options holds, or takes to be fitted.
  Index (*bytes)(Index in_dim, const Params& params);
  /// Data-dependent maps learn a state from the rows (scaled, as they will be transformed), the
  /// same for any cut into blocks; null for the others.
  MapState (*fit)(RowSource& rows, const Params& params, rng::Key key, const Progress& progress);
  /// Their make(): the map of a state, which is checked (a model file may be forged).  A state
  /// without its compression gives f.
  std::unique_ptr<FeatureMap> (*restore)(Index in_dim, const Params& params, rng::Key key,
                                         const MapState& state);
  /// Memory that restore() takes; fitting may have taken far more.
  Index (*restored_bytes)(Index in_dim, const Params& params, const MapState& state);
  /// What `bytes` is while it learns from so many rows, where fewer rows than features take less; null: as
  /// `bytes`.
  Index (*bytes_to_fit)(Index in_dim, const Params& params, Index rows) = nullptr;
  /// Works out what is "auto" (kernels/automatic.h); null: nothing is.
  void (*resolve)(OpenOptions& options) = nullptr;
  /// It looks at neighbouring pixels: images are scaled channel by channel for it (scaling.h).
  bool convolves = false;
  /// Its features are the rows themselves: a solver may leave sparse ones as they are.
  bool keeps_rows = false;
  /// The options with which it gives the features of this kernel (its name and options) in
  /// --map auto, on data like these; nothing: another map does.  Null: it never does.
  std::optional<Params> (*stands_for)(std::string_view kernel, const Params& options,
                                      const DataSummary& summary) = nullptr;
  /// Adds what is published about how many features suffice (feature_bound.h); null: nothing is.
  void (*bounds)(const BoundInputs& in, std::vector<FeatureBound>& out) = nullptr;
  /// What it computes, in a sentence or two with formulas as they stand in reStructuredText.
  const char* formula = "";
};

std::span<const FeatureMapEntry> feature_maps();
/// The entry of that name; an unknown name is an Error (usage) with the nearest match.
const FeatureMapEntry& find_feature_map(std::string_view name);

template <class Map>
typename Map::Options map_options(const Params& params) {
  return read_options<typename Map::Options>(params, Map::kOwner);
}

/// A map class with `static MapState fit(rows, options, key, progress)`, `restore` and
/// `restored_bytes` instead of a constructor.
template <class Map>
concept DataDependent = requires {
  &Map::fit;
  &Map::restore;
};

/// Error (usage): a data-dependent map asked for without rows.
[[noreturn]] void fail_without_rows(const char* map);

/// A kernel's options as those of a map that has the option `kernel` besides.
inline Params with_kernel(Params options, std::string_view kernel) {
  options["kernel"] = kernel;
  return options;
}

/// The registry line of a map class: it names itself, its options and its kernel.  A map that is
/// biased has a function relative_bias(options).
template <class Map>
constexpr FeatureMapEntry feature_map_entry() {
  FeatureMapEntry entry = {
      Map::kName,
      Map::kSummary,
      Map::kPythonName,
      [] { return list_options<typename Map::Options>(); },
      [](const Params& params) { return write_options(map_options<Map>(params)); },
      [](Index in_dim, const Params& params, rng::Key key) -> std::unique_ptr<FeatureMap> {
        if constexpr (DataDependent<Map>)
          fail_without_rows(Map::kName);
        else
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
      nullptr,
      nullptr,
      nullptr,
  };
  if constexpr (DataDependent<Map>) {
    entry.fit = [](RowSource& rows, const Params& params, rng::Key key, const Progress& progress) {
      return Map::fit(rows, map_options<Map>(params), key, progress);
    };
    entry.restore = [](Index in_dim, const Params& params, rng::Key key, const MapState& state) {
      return Map::restore(in_dim, map_options<Map>(params), key, state);
    };
    if constexpr (requires(const typename Map::Options& o) { Map::bytes_to_fit(1, o, 1); })
      entry.bytes_to_fit = [](Index in_dim, const Params& params, Index rows) {
        return Map::bytes_to_fit(in_dim, map_options<Map>(params), rows);
      };
    entry.restored_bytes = [](Index in_dim, const Params& params, const MapState& state) {
      return Map::restored_bytes(in_dim, map_options<Map>(params), state);
    };
  }
  if constexpr (requires(OpenOptions & options) { Map::Options::resolve(options); })
    entry.resolve = Map::Options::resolve;
  if constexpr (requires { Map::kConvolves; }) entry.convolves = Map::kConvolves;
  if constexpr (requires { Map::kKeepsRows; }) entry.keeps_rows = Map::kKeepsRows;
  if constexpr (requires { &Map::stands_for; }) entry.stands_for = Map::stands_for;
  if constexpr (requires { &Map::bounds; }) entry.bounds = Map::bounds;
  if constexpr (requires { Map::kFormula; }) entry.formula = Map::kFormula;
  return entry;
}

}  // namespace kerf::detail
