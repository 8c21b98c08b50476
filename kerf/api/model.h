// A trained model: prediction, scores, files.
//
//   const kerf::Model model = kerf::Model::load("digits.kerf");
//   kerf::Dataset rows = model.open({"new.csv"});
//   kerf::Predictions found = model.predict(rows);
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kerf/api/dataset.h"
#include "kerf/api/score.h"

namespace kerf {

/// What a model says of some rows, in their order.
struct Predictions {
  Matrix<double> values;       ///< rows x outputs: predicted targets, or a score for each class
  std::vector<Index> classes;  ///< classification: the best class of each row, as Model::classes()
  Matrix<double> probabilities;  ///< classification: rows x classes; no rows: the model has none
  Matrix<double> variances;      ///< of `values`, where the fit kept what they need; else no rows
  std::vector<Index> rows;  ///< where some were left out for a missing cell: the numbers of these
  /// Rows far outside the range of training, words that it never saw, in sentences.
  std::vector<std::string> warnings;
};

/// Where targets will lie, with the share of rows that was asked for; a row each, a column per target.
struct Intervals {
  Matrix<double> lower, upper;
  std::vector<Index> rows;  ///< as in Predictions
  std::vector<std::string> warnings;
};

/// Classes of which one is the right one, with the share of rows that was asked for; never none.
struct ClassSets {
  std::vector<std::vector<Index>> classes;  ///< of each row, by number, as Model::classes()
  std::vector<Index> rows;                  ///< as in Predictions
  std::vector<std::string> warnings;
};

/// A handle: copies share the model, which never changes.  Safe from several threads at once.  One that
/// was moved from can only be assigned to.
class KERF_API Model {
 public:
  /// Error (data) for anything but a whole model; a file of somebody else's making does no harm.
  static Model load(const std::string& path);
  static Model from_bytes(std::string_view bytes);
  /// Whole or not at all: a file of that name stays until the new one is complete.
  void save(const std::string& path) const;
  std::string to_bytes() const;

  Task task() const;
  const std::vector<std::string>& classes() const;
  Index columns() const;   ///< of the rows that come in, words as one column for each value
  Index outputs() const;   ///< targets, or classes
  Index features() const;  ///< of its map; of an exact kernel its training rows
  const std::string& map() const;
  const Params& options() const;  ///< of its map: every one, nothing automatic
  double lambda() const;

  /// Rows for predict() and score(): columns as in training, by name where both have names.  Files are
  /// read in blocks; Error (data) if a column is missing.  Of the options labels, weights, target,
  /// delimiter, header and rows count: the model knows the rest.
  Dataset open(const std::vector<std::string>& paths, const DataOptions& options = {}) const;
  Dataset open(const Table& table) const;

  /// Of all rows.  The first prediction makes the feature map, within its context's memory.
  Predictions predict(Dataset& rows, const Context& context = {}) const;
  Predictions predict(const Table& table, const Context& context = {}) const;
  /// The same block by block, for more rows than fit in memory; warnings come last, without rows.
  /// `receive` must leave the dataset alone; what it throws comes out here.
  void predict(Dataset& rows, const std::function<void(const Predictions&)>& receive,
               const Context& context = {}) const;
  /// Regression: of a fit with intervals conformal, else of its variances; Error (usage) if it has
  /// neither, or was calibrated on too few rows for the level.
  Intervals intervals(Dataset& rows, double level = 0.9, const Context& context = {}) const;
  Intervals intervals(const Table& table, double level = 0.9, const Context& context = {}) const;
  /// Classification, of a fit with intervals conformal.
  ClassSets sets(Dataset& rows, double level = 0.9, const Context& context = {}) const;
  ClassSets sets(const Table& table, double level = 0.9, const Context& context = {}) const;
  /// Error (data) if the rows have no targets.  `worst`: how many of the worst rows to keep.
  Score score(Dataset& rows, Index worst = 0, const Context& context = {}) const;

  struct Inside;
  explicit Model(std::shared_ptr<Inside> inside);
  const Inside& inside() const { return *inside_; }

 private:
  std::shared_ptr<Inside> inside_;
};

}  // namespace kerf
