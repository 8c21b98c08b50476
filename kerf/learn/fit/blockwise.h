// The journey of a fit whose rows come block by block (incremental.h), from tables to complete models.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "kerf/io/dataset/dataset.h"
#include "kerf/learn/fit/incremental.h"

namespace kerf::detail {

class BlockwiseTraining {
 public:
  BlockwiseTraining(std::string map, Params map_options, FitOptions options, Index memory_limit)
      : map_(std::move(map)),
        map_options_(std::move(map_options)),
        options_(std::move(options)),
        memory_limit_(memory_limit) {}
  /// Goes on from a fit whose sums are in its checkpoint; `encoding`: how its rows came.
  BlockwiseTraining(const Model& model, Encoding encoding, FitOptions options, Index memory_limit)
      : options_(std::move(options)),
        encoding_(std::move(encoding)),
        memory_limit_(memory_limit),
        fit_(std::make_unique<IncrementalFit>(model, options_, memory_limit)) {}

  bool begun() const { return fit_ != nullptr; }
  /// The first block: what is automatic, the map too, is chosen on it.
  void begin(Dataset& first, const Progress& progress = {});
  /// Whether add() will take these rows: Error (data) or (usage) otherwise.
  void check(std::unique_ptr<io::Reader> reader) const;
  /// More rows of the same columns, with targets.
  void add(std::unique_ptr<io::Reader> reader, const Progress& progress = {});
  Index rows() const { return fit_ ? fit_->rows() : 0; }
  FitResult solve(std::string command, const Progress& progress = {});

 private:
  void add_rows(RowSource& source, const Progress& progress);

  std::string map_;
  Params map_options_;
  FitOptions options_;
  Encoding encoding_;
  Index memory_limit_;
  std::optional<std::pair<std::string, Params>> asked_;  // a map auto, or as many features as pay
  std::unique_ptr<IncrementalFit> fit_;
};

}  // namespace kerf::detail
