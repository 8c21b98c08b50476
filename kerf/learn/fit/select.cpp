// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/fit/select.h"

#include <fmt/format.h>

#include "kerf/core/progress.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/memory.h"
#include "kerf/features/automatic.h"
#include "kerf/learn/fit/chosen_features.h"
#include "kerf/model/model.h"

namespace kerf::detail {
namespace {

/// The features of all rows, and the number of each in the files.
Matrix<float> all_features(Dataset& data, const Scaling& scaling, const FeatureMap& map,
                           std::vector<Index>& numbers, const Progress& progress) {
  Matrix<float> z(data.summary.rows, map.out_dim());
  RowBlock block;
  Index at = 0;
  data.source->rewind();
  while (data.source->next(block)) {
    scaling.apply(block);
    map.transform(block.x(), z.view().slice(at, at + block.rows()));
    for (Index i = 0; i < block.rows(); ++i) numbers.push_back(block.number_of(i));
    at += block.rows();
    report(progress, "features", at, data.summary.rows);
  }
  return z;
}

}  // namespace

SelectedRows select_rows(Dataset& data, const std::string& map_name, const Params& map_options,
                         const SelectOptions& options, const Context& context) {
  const rng::Key key{static_cast<std::uint64_t>(options.seed)};
  const ChosenFeatures chosen =
      features_for(data, {map_name, map_options, options.scale, options.seed}, context);
  const FeatureMapEntry& entry = find_feature_map(chosen.map);
  const Scaling scaling = make_scaling(chosen.scale, data.summary);
  SelectedRows selected;
  selected.map = chosen.map;
  selected.options =
      entry.complete(resolve_automatic(entry, chosen.options, data.summary, scaling));
  const auto map =
      Recipe{chosen.map, selected.options, key.value, data.summary.cols}.make(context.memory_limit);
  require_memory(
      design_bytes(data.summary.rows, map->out_dim(), std::min(options.budget, data.summary.rows)),
      context.memory_limit,
      fmt::format("choosing among {} rows with {} features", data.summary.rows, map->out_dim()),
      fmt::format("take fewer {}, fewer {}, or raise {}", spell("features"), spell("rows"),
                  spell("memory")));
  std::vector<Index> numbers;
  const Matrix<float> z = all_features(data, scaling, *map, numbers, context.progress);
  selected.design = select_rows(options.method, z.view(), options.budget, options.lambda,
                                key.child("select"), context.progress);
  for (const Index row : selected.design.rows) selected.rows.push_back(numbers[row]);
  return selected;
}

}  // namespace kerf::detail
