// What stands behind the handles of api/.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <mutex>

#include "kerf/api/dataset.h"
#include "kerf/api/model.h"
#include "kerf/io/dataset/dataset.h"
#include "kerf/io/memory/memory_reader.h"
#include "kerf/model/model.h"

namespace kerf {

/// A table as the library reads it, with what its views point to.
struct HeldTable {
  detail::io::MemoryTable view;
  std::vector<std::vector<std::int32_t>> codes;  ///< of its words
  std::vector<Index> offsets;                    ///< of sparse rows that are a slice of others
};
/// Error (usage) for parts that do not fit together.
HeldTable hold(const Table& table);

/// Rows as features and kernels take them.  Error (data) for numbers that are not finite, Error (usage)
/// for sparse rows whose columns lead out of them.
struct RoundedRows {
  explicit RoundedRows(const Rows& rows);
  detail::RowsView view;

 private:
  Matrix<float> rounded_;
};

/// The columns of a model for a table, which says by itself what is input and what is target: by name
/// where both have names, else by place.  Error (data) for another number of inputs or targets.
detail::Encoding encoding_for(const detail::Model& model, const HeldTable& table);

struct __attribute__((visibility("hidden"))) Dataset::Inside {
  std::string name;                             ///< in messages
  std::shared_ptr<const HeldTable> table;       ///< what a reader of memory looks at
  std::optional<detail::Dataset> data;          ///< opened to learn from,
  std::unique_ptr<detail::EncodedSource> rows;  ///< or for a model
  std::uint64_t seed = 1;                       ///< that the sample was drawn with
  bool changed = false;                         ///< its columns are no longer as they were opened
  std::shared_ptr<const Model::Inside>
      read_for;  ///< whose columns they are read as; none: their own
  Index rows_read = 0;

  /// The data as they were opened, their sample drawn with this seed: where they are not, one more pass.
  /// Whoever asks may change them.  If the pass fails, nothing is lost.
  detail::Dataset& to_learn_from(std::uint64_t seed, const Context& context);
  /// Rows as a model knows them, from the first one on.
  detail::EncodedSource& for_model(const std::shared_ptr<const Model::Inside>& model);
};

struct __attribute__((visibility("hidden"))) Model::Inside {
  explicit Inside(detail::Model fitted) : model(std::move(fitted)) {}
  const detail::Model model;

  /// Made when first asked for.
  const detail::Predictor& predictor(Index memory_limit) const;

 private:
  mutable std::once_flag made_;
  mutable std::optional<detail::Predictor> predictor_;
};

}  // namespace kerf
