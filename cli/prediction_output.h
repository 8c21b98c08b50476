// Predictions as text, npy or JSON, block by block.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/command.h"

namespace kerf::cli {

/// What stands in the columns of a prediction.
struct Meaning {
  const Model& model;
  bool classes = false;  ///< scores of classes, of which the best is meant; else the numbers
  bool sets = false;     ///< or 1 for each class that belongs to the row's set, else 0
  std::vector<std::string> columns;  ///< a name for each column that is written
  bool titled = false;               ///< the names are written too
  bool has_ids = false;              ///< rows come with what names them
  std::string id_name;               ///< what that is called

  const std::string& name_of(Index number) const { return model.classes[number]; }
  std::vector<std::string> set_of(std::span<const double> members) const;
};

/// Where predictions go.
class PredictionOutput {
 public:
  virtual ~PredictionOutput() = default;
  /// Rows of numbers; `ids`: what names them, where Meaning says so.
  virtual void add(const Matrix<double>& values, std::span<const std::string> ids) = 0;
  virtual void finish() {}
};

/// Stands between the names of a set in text.
inline constexpr std::string_view kBetweenClasses = "|";

/// Error (usage) for a file whose name promises a format that there is not, or that cannot hold `words`.
void check_prediction_file(const std::string& path, bool words);
/// By the name: npy, else text.  "": standard output.
std::unique_ptr<PredictionOutput> open_predictions(const Meaning& meaning, const std::string& path);
/// Into `json`, which is printed at the end.
std::unique_ptr<PredictionOutput> json_predictions(const Meaning& meaning, Json& json);

}  // namespace kerf::cli
