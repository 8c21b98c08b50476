// Training images on their way to the trainer: augmented, prepared, and summed up anew.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>

#include "kerf/core/rows/data_summary.h"
#include "kerf/images/augment.h"
#include "kerf/images/image_steps.h"

namespace kerf::detail {

/// Wraps a source of images; without any option it hands the source through as it is.
class ImagePipeline {
 public:
  /// Steps are fitted on the images themselves, then applied to their augmented copies.  Reads the
  /// source once for each fitted step and once for the summary.  `source` must outlive it.
  /// `fresh`: other copies in every pass (AugmentedSource).
  ImagePipeline(RowSource& source, const DataSummary& summary, const ImageOptions& steps,
                const AugmentOptions& augmentation, rng::Key key, Index memory_limit = 0,
                const Progress& progress = {}, bool fresh = false);

  RowSource& source() { return *top_; }
  /// Of the rows that source() gives.
  const DataSummary& summary() const { return changed_ ? *changed_ : original_; }
  /// For the model; empties this.
  ImageSteps take_steps() { return std::move(*steps_); }

 private:
  const DataSummary& original_;
  std::optional<DataSummary> changed_;
  std::unique_ptr<ImageSteps> steps_;  // at an address that PreparedSource may keep
  std::optional<AugmentedSource> augmented_;
  std::optional<PreparedSource> prepared_;
  RowSource* top_;
};

}  // namespace kerf::detail
