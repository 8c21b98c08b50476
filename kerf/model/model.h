// A trained model: how rows are prepared, which features are made of them, and the weights.
//
// It holds the recipe of its feature map (name, options, seed), never a random matrix, and what a
// data-dependent map learned and prediction needs (Nystroem landmarks).  A model of an exact kernel
// (map "exact") holds its training rows: its "features" are k(x, x_j).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kerf/core/rows/data_summary.h"
#include "kerf/features/feature_map.h"
#include "kerf/features/scaling.h"
#include "kerf/images/image_steps.h"
#include "kerf/io/table/encoding.h"
#include "kerf/model/fit_request.h"
#include "kerf/model/intervals.h"
#include "kerf/model/kernel_expansion.h"
#include "kerf/model/predictive_variance.h"

namespace kerf::detail {

/// Everything that makes a feature map.
struct Recipe {
  std::string map;
  Params options;  ///< complete, nothing automatic
  std::uint64_t seed = 1;
  Index in_dim = 0;
  std::shared_ptr<const MapState> state = nullptr;  ///< data-dependent maps: what they learned

  /// Data-dependent maps learn from the rows (scaled); others have nothing to learn.  The state may
  /// be folded (fitted_map.h) when the weights are known.  `penalty`: where a penalty may take the
  /// place of a compression, it goes there, and features are those before the compression.  `count`:
  /// how many rows there are, where that is known: few take less memory.
  std::shared_ptr<MapState> fit(RowSource& rows, Index memory_limit = 0,
                                const Progress& progress = {}, Matrix<float>* penalty = nullptr,
                                std::optional<Index> count = {});
  /// Memory that make() takes.
  Index bytes() const;
  /// Checks the options and, against `memory_limit` (0: what is available), the size.
  std::unique_ptr<FeatureMap> make(Index memory_limit = 0) const;
};

/// y = intercept + weights^T z.
struct LinearModel {
  Matrix<double> weights;         ///< features x outputs
  std::vector<double> intercept;  ///< one per output
};

/// out = y of each row of z.
void linear_scores(const LinearModel& model, MatrixView<const float> z, MatrixView<double> out);
/// The same for one sparse row, whose columns are the features.
void linear_scores(const LinearModel& model, const CsrView& x, Index row, std::span<double> out);

/// How well a fit predicts beside a constant, as people are told.
struct FitQuality {
  std::string metric;   ///< accuracy or r2, or in words what else
  double value = 0;     ///< larger is better
  double constant = 0;  ///< the same of the commonest class, or of the mean
  double chance = 0;    ///< a gain over the constant that chance gives
  std::string how;      ///< on which rows: "leave-one-out", "the rows trained on"

  /// Whether it is of rows that the fit did not see.
  bool left_out() const { return how != "the rows trained on"; }
};

/// "accuracy 93.2 % (leave-one-out; the commonest class has 50.1 %)".
std::string describe(const FitQuality& quality);

/// How the model came to be; for `kerf info`.
struct TrainingRecord {
  std::string version;  ///< of kerf
  std::string command;
  Index rows = 0;
  double lambda = 0;
  std::optional<double> cv_error;     ///< of rows left out; none: lambda was given
  std::string validation;             ///< how it was found, in words
  std::string metric;                 ///< what it is, in words
  std::string identity;               ///< of the rows and options, where a checkpoint was kept
  std::vector<double> target_scale;   ///< of the sums in it (DataSummary); empty: 1
  FitRequest asked;                   ///< for a fit like it
  std::optional<FitQuality> quality;  ///< none: models of before, targets that do not vary
};

struct Model {
  Recipe recipe;
  Scaling scaling;
  std::optional<Encoding> encoding;  ///< how files become rows; none when trained on matrices
  Task task = Task::regression;
  std::vector<std::string> classes;  ///< classification: names, in order of the outputs
  ImageSteps images;                 ///< before scaling
  ImageShape image;                  ///< of the rows that the map sees
  bool is_sparse = false;
  LinearModel linear;
  /// Classification: probabilities are softmax(temperature x scores); none: scores + 1/classes,
  /// cut off at 0.
  std::optional<double> temperature;
  std::optional<InputRows>
      rows;  ///< map exact: the training rows; weights are coefficients of them
  std::optional<PredictiveVariance> variance;  ///< with `fit --variance`
  std::optional<ConformalScores> conformal;    ///< with `fit --intervals conformal`
  TrainingRecord training;
  bool from_file = false;  ///< read, perhaps of somebody else's making

  /// Columns of the rows that come in: pixels before image steps, the map's columns without.
  Index input_columns() const { return images.present() ? values_of(images.input) : recipe.in_dim; }
  Index outputs() const { return static_cast<Index>(linear.intercept.size()); }
};

/// Applies a model to blocks of rows.  The model must outlive it.
class Predictor {
 public:
  /// `memory_limit` 0: the map may take what is free, that of a model from a file half of it.
  explicit Predictor(const Model& model, Index memory_limit = 0);

  /// Numbers in a row of features.
  Index features() const { return model_.linear.weights.rows(); }
  /// Features of the rows after scaling (which happens in place).
  /// Returns, as the others do, how many rows have a number far outside the range of training
  /// (scaling.h): these are predicted as rows at its edge.
  Index features(RowBlock& block, Matrix<float>& z) const;
  /// rows x outputs: predicted targets, or a score per class.  Scales the block in place.
  Index scores(RowBlock& block, Matrix<double>& out) const;
  /// The same, and the variance of each number; Error (usage) if the model has none.
  Index scores(RowBlock& block, Matrix<double>& out, Matrix<double>& variance) const;

 private:
  Index scores(RowBlock& block, Matrix<double>& out, Matrix<double>* variance) const;
  Index prepare(RowBlock& block) const;

  const Model& model_;
  std::unique_ptr<FeatureMap> map_;  // null: an exact kernel,
  std::unique_ptr<Kernel> kernel_;   // this one
};

/// What to say about so many rows with numbers far outside the range of training; "": none.
std::string far_rows_warning(Index far_rows, Index rows);

/// How new rows become numbers; of a model that does not say it, numbers as they are.
Encoding encoding_of(const Model& model);
/// The model's encoding; Error (usage) if it was trained on matrices and cannot read files.
const Encoding& file_encoding(const Model& model);

/// In place: exp(x_k) / sum exp(x); never overflows.
void softmax(std::span<double> scores);

/// Scores to the probability of each class, in place; Error (usage) if the model has none.
void to_probabilities(const Model& model, Matrix<double>& scores);

/// The column with the largest score of each row: predicted class numbers.
std::vector<Index> best_class(const Matrix<double>& scores);

}  // namespace kerf::detail
