// What the maps of the convolutional tangent kernel have in common: rows are images, which are
// transformed one by one at length 1, and with --mirror together with their mirror images.
//
//   z(x) = (f(x) + f(x mirrored left to right)) / 2      f: the map without --mirror
//   E <z(x), z(y)> = (k(x, y) + k(x, y mirrored)) / 2    as k(x mirrored, y mirrored) = k(x, y)
//
// Error:      k is nowhere negative, so k(x, x) <= 2 kernel(x, x): in proportion to the kernel's
//             diagonal the variance is at most mirror_factor() = 4 times that of f, the bias twice.
// Cost:       two images for one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/features/convolution.h"
#include "kerf/features/feature_map.h"
#include "kerf/kernels/cntk.h"

namespace kerf {

class CntkMap : public FeatureMap {
 protected:
  CntkMap(Index in_dim, Index features, const CntkOptions& network, const char* owner);

  /// The exact kernel of the options.
  static std::unique_ptr<Kernel> cntk_kernel(const CntkOptions& options) {
    return find_kernel(CntkKernel::kName).make(write_options(options));
  }
  static double mirror_factor(const CntkOptions& options) { return options.mirror ? 4 : 1; }

  /// The pixels with zeros around them, as windows need them.
  void set_pixels(std::span<const float> pixels, PixelMap& map) const;

  ImageShape shape_;
  bool centred_;  // windows, on every pixel; otherwise inside the image
  Index margin_;

 private:
  void transform_rows(const RowsView& x, MatrixView<float> out) const final;
  /// f of an image of length 1, times `norm`; on the calling thread.
  virtual void transform_image(std::span<const float> pixels, double norm,
                               std::span<float> out) const = 0;

  bool mirror_;
};

}  // namespace kerf
