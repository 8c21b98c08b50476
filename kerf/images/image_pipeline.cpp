// SPDX-License-Identifier: Apache-2.0
#include "kerf/images/image_pipeline.h"

#include "kerf/core/spelling.h"
#include "kerf/core/system/memory.h"

namespace kerf::detail {

ImagePipeline::ImagePipeline(RowSource& source, const DataSummary& summary,
                             const ImageOptions& steps, const AugmentOptions& augmentation,
                             rng::Key key, Index memory_limit, const Progress& progress, bool fresh)
    : original_(summary), steps_(std::make_unique<ImageSteps>()), top_(&source) {
  if (!any_step(steps) && !augmentation.any()) return;
  if (any_step(steps)) {
    require_memory(image_steps_bytes(summary.image, steps), memory_limit, "whitening the images",
                   "take a smaller " + spell("crop") + ", or " + spell("patch") + " instead of " +
                       spell_on("zca"));
    *steps_ = fit_image_steps(source, summary.image, summary.is_bytes, steps, progress);
  }
  if (augmentation.any())
    top_ = &augmented_.emplace(*top_, augmentation, summary.is_bytes, key, fresh);
  if (steps_->present()) top_ = &prepared_.emplace(*top_, *steps_);

  changed_ = summarise(*top_, summary.task, summary.classes, key, progress);
  changed_->task_reason = summary.task_reason;
  changed_->is_bytes = summary.is_bytes && !steps_->present();
  changed_->copies = augmentation.any() ? augmentation.copies : 1;
}

}  // namespace kerf::detail
