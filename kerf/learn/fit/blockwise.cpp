// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/fit/blockwise.h"

#include "kerf/core/progress.h"
#include "kerf/core/require.h"

namespace kerf::detail {

void BlockwiseTraining::begin(Dataset& first, const Progress& progress) {
  const auto features = map_options_.find("features");
  if (map_ == kAutoMap || (features != map_options_.end() && features->second == "auto")) {
    FitOptions options = options_;
    options.needs_features = true;
    asked_.emplace(map_, map_options_);
    const Recipe chosen =
        fit(*first.source, first.summary, map_, map_options_, options, memory_limit_, progress)
            .model.recipe;
    map_ = chosen.map;
    map_options_ = chosen.options;
  }
  KERF_REQUIRE(map_ != kExactMap, usage, "map exact needs all rows at once: take a feature map");
  fit_ =
      std::make_unique<IncrementalFit>(first.summary, map_, map_options_, options_, memory_limit_);
  encoding_ = first.encoding;
  first.source->rewind();
  add_rows(*first.source, progress);
}

void BlockwiseTraining::check(std::unique_ptr<io::Reader> reader) const {
  EncodedSource source(std::move(reader), encoding_, "X", io::Targets::require, 0);
  for (RowBlock block; source.next(block);) continue;
}

void BlockwiseTraining::add(std::unique_ptr<io::Reader> reader, const Progress& progress) {
  EncodedSource source(std::move(reader), encoding_, "X", io::Targets::require, 0);
  add_rows(source, progress);
}

void BlockwiseTraining::add_rows(RowSource& source, const Progress& progress) {
  const Index before = fit_->rows();
  try {
    for (RowBlock block; source.next(block);) {
      fit_->add(block);
      report(progress, "features", fit_->rows(), 0);
    }
  } catch (...) {
    if (fit_->rows() != before) fit_->give_up();  // a part of the rows is in
    throw;
  }
}

FitResult BlockwiseTraining::solve(std::string command, const Progress& progress) {
  FitResult result = fit_->solve(progress);
  if (asked_) {  // before the first block chose
    FitRequest& asked = result.model.training.asked;
    std::tie(asked.map, asked.map_options) = *asked_;
  }
  result.model.encoding = encoding_;
  result.model.training.command = std::move(command);
  return result;
}

}  // namespace kerf::detail
