// What may be done to images before scaling and features, in this order.
//
//   bytes / 255 -> augmentation (training only) -> crop -> per-image standard -> ZCA or patch PCA
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kerf/core/options.h"
#include "kerf/core/spelling.h"

namespace kerf::detail {

struct ImageOptions {
  std::string crop = {};
  bool per_image = false;
  double zca = 0;
  Index patch = 0, patch_stride = 1, patch_components = 0;

  void describe(OptionVisitor& v) {
    v.text("crop", crop,
           "HxW: the centre of every image (with " + spell("shift") +
               ", copies are cropped elsewhere)");
    v.flag("per-image", per_image, "each image minus its mean, over its standard deviation");
    v.real(
        "zca", zca, {0, 1e6},
        "ZCA whitening; this part of the mean eigenvalue is added to each (0: none, 0.1 is usual)");
    v.integer("patch", patch, {0, 1024},
              "patch PCA: every patch of this side becomes its principal components (0: none)");
    v.integer("patch-stride", patch_stride, {1, 1024},
              "distance between patches of " + spell("patch"));
    v.integer("patch-components", patch_components, {0, 1 << 20},
              "components kept of each patch (0: all)");
  }
};

/// Copies of training images.  Rows of copy 0 are the images themselves.
struct AugmentOptions {
  bool flip = false;
  Index shift = 0;
  double brightness = 0, contrast = 0, saturation = 0;
  Index copies = 2;

  bool any() const { return flip || shift > 0 || brightness > 0 || contrast > 0 || saturation > 0; }
  void describe(OptionVisitor& v) {
    v.flag("flip", flip, "augmentation: mirror images left to right (every other copy)");
    v.integer("shift", shift, {0, 1024},
              "augmentation: move images by up to this many pixels, zeros come in");
    v.real("brightness", brightness, {0, 1},
           "augmentation: add up to this part of the full range, up or down");
    v.real("contrast", contrast, {0, 1},
           "augmentation: stretch around the mean by a factor 1 - this to 1 + this");
    v.real("saturation", saturation, {0, 1},
           "augmentation: stretch colours around grey by a factor 1 - this to 1 + this");
    v.integer("copies", copies, {1, 1024},
              "rows made of each training image when it is augmented, the image itself included");
  }
};

}  // namespace kerf::detail
