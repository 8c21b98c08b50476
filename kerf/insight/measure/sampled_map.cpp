// SPDX-License-Identifier: Apache-2.0
#include "kerf/insight/measure/sampled_map.h"

#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/features/automatic.h"
#include "kerf/learn/rows/training_rows.h"
#include "kerf/model/model.h"

namespace kerf::detail {

namespace {

RowBlock draw_sample(RowSource& source, const DataSummary& summary, const SampleOptions& options,
                     const Progress& progress) {
  const auto key = rng::Key{static_cast<std::uint64_t>(options.seed)}.child("diagnose");
  SampleKeeper keeper(key, std::min(options.rows, summary.rows));
  RowBlock block;
  Index done = 0;
  source.rewind();
  while (source.next(block)) {
    keeper.add(block);
    done += block.rows();
    report(progress, "sampling", done, summary.rows);
  }
  RowBlock sample = keeper.take();
  KERF_REQUIRE(sample.rows() >= 2, data, "a comparison needs at least 2 rows, not {}",
               sample.rows());
  return sample;
}

}  // namespace

std::vector<Index> parse_sizes(const std::string& text) {
  std::vector<Index> sizes;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto number = parse_number(text.substr(begin, end - begin));
    KERF_REQUIRE(number && *number >= 1 && *number <= 1 << 24 &&
                     *number == static_cast<double>(static_cast<Index>(*number)),
                 usage, "{} is a number between 1 and {}, or several as in 256,1024, not '{}'",
                 spell("features"), 1 << 24, text);
    sizes.push_back(static_cast<Index>(*number));
    begin = end + 1;
  }
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

SampledMap::SampledMap(RowSource& source, const DataSummary& summary, std::string map,
                       const Params& options, const SampleOptions& sample, Index memory_limit,
                       const Progress& progress)
    : source_(source),
      summary_(summary),
      map_(std::move(map)),
      entry_(find_feature_map(map_)),
      scaling_(make_scaling(resolve_scale(sample.scale, summary, entry_.convolves), summary)),
      given_(options),
      resolved_(entry_.complete(resolve_automatic(entry_, options, summary, scaling_))),
      sample_(draw_sample(source, summary, sample, progress)),
      memory_limit_(memory_limit) {
  scaling_.apply(sample_);
}

Params SampledMap::options(Index features) const {
  // Numbers (bandwidth, bias) hold for every size; choices (split) depend on it.
  Params all = given_;
  for (const OptionInfo& info : entry_.options())
    if (info.type == OptionType::automatic) all[info.name] = resolved_.at(info.name);
  all["features"] = std::to_string(features);
  return entry_.complete(resolve_automatic(entry_, all, summary_, scaling_));
}

Matrix<float> SampledMap::features(Index count, std::uint64_t seed, double* seconds,
                                   const Progress& progress) const {
  Recipe recipe{map_, options(count), seed, summary_.cols};
  ScaledSource scaled(source_, scaling_);
  recipe.fit(scaled, memory_limit_, progress);
  const auto map = recipe.make(memory_limit_);
  Matrix<float> z(sample_.rows(), map->out_dim());
  double ignored = 0;
  const Stopwatch watch(seconds != nullptr ? *seconds : ignored);
  map->transform(sample_.x(), z.view());
  return z;
}

void DeadMaps::add(Index features, bool dead) {
  Count& count = counts_[features];
  ++count.maps;
  if (dead) ++count.dead;
}

void DeadMaps::add(Index features, MatrixView<const float> z) {
  bool dead = true;
  for (Index i = 0; i < z.rows && dead; ++i)
    dead = std::ranges::all_of(z.row(i), [](float v) { return v == 0; });
  add(features, dead);
}

Index DeadMaps::largest() const {
  Index largest = 0;
  for (const auto& [features, count] : counts_)
    if (count.dead > 0) largest = std::max(largest, features);
  return largest;
}

std::vector<std::string> DeadMaps::warnings(std::string_view map) const {
  std::vector<std::string> words;
  for (const auto& [features, count] : counts_)
    if (count.dead > 0)
      words.push_back(fmt::format("{} of {} maps of {} features: {}", count.dead, count.maps,
                                  features, zero_features_warning(map)));
  return words;
}

}  // namespace kerf::detail
