// The whole way of a fit, in one call: a dataset and a task in, a complete model and its report out.
//
//   columns settled (scale, offsets, precision) -> rows held out -> image steps -> fit() of the rows
//   (trainer.h) -> encoding, image steps and provenance put into the model -> intervals calibrated
//
// Program, Python and C++ all come this way, so that the same rows and options give the same model.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "kerf/core/rows/holdout.h"
#include "kerf/images/image_pipeline.h"
#include "kerf/io/dataset/dataset.h"
#include "kerf/learn/fit/trainer.h"

namespace kerf::detail {

/// What a fit is asked for, apart from the data: options as a face hands them over, by name and as
/// text; those that are not given keep their defaults.
struct FitTask {
  std::string map = kDefaultMap;
  Params map_options;
  Params fit_options;      ///< FitOptions
  Params image_options;    ///< ImageOptions
  Params augment_options;  ///< AugmentOptions
  double holdout = 0;      ///< part of the rows that is kept out of training, to score the model on
  std::vector<std::string> test = {};     ///< or files to score it on,
  std::string test_labels = {};           ///< whose labels may be in a file of their own
  std::optional<std::uint64_t> map_seed;  ///< of the map alone; none: the seed of the fit
  std::string command;                    ///< for the model's record: what somebody typed
};

/// A finished fit.  It refers to the dataset, which must outlive it.
struct Fitted {
  FitResult result;
  std::unique_ptr<Holdout> split;            ///< none: nothing was held out
  std::unique_ptr<Holdout> calibration;      ///< none: no intervals were asked for
  std::unique_ptr<EncodedSource> test_file;  ///< none: no test files were named
  std::unique_ptr<ImagePipeline> rows;       ///< that were trained on

  /// Of the rows that were trained on.
  const DataSummary& summary() const { return rows->summary(); }
  /// The rows to score the model on; null: none were kept out of training, none were named.
  RowSource* test_rows() const;
};

/// What everything random in it is drawn by.
rng::Key task_key(const FitTask& task);

/// Wrong names, values and contradictions that can be told without the data: Error (usage).
void check_task(const FitTask& task);

/// Trains on all rows of the dataset but those held out.  Test files are opened before the training:
/// one that cannot be read, or lacks a column, must not cost a fit.
Fitted fit_dataset(Dataset& data, const FitTask& task, const Context& context = {});

/// Large offsets leave the columns that `scale` will centre anyway, before values are rounded to
/// floats; or any columns that stay as they are, if `free`: whoever looks at them sees differences only.
/// Part of fit_dataset(); for who looks at the same rows without a fit.
void settle_columns(Dataset& data, ScaleKind scale, bool free = false);
/// Whether a fit with this map (or auto, or exact) sees differences of rows only.
bool sees_differences(const std::string& map, const Params& map_options);

}  // namespace kerf::detail
