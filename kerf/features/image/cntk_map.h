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
#include "kerf/features/feature_map.h"
#include "kerf/features/image/convolution.h"
#include "kerf/features/image/window_sketch.h"
#include "kerf/kernels/image/cntk.h"

namespace kerf::detail {

/// Channels of the maps' layers.
struct CntkChannels {
  const CntkOptions& network;
  Index image;     ///< channels of a pixel
  Index width;     ///< of phi_h, h >= 1
  Index sketched;  ///< of the products in eta_h, where there are any

  Index phi(Index h) const { return h == 0 ? image : width; }
  /// Of the products in eta_h: none in the first layer, unless it is trained.
  Index products(Index h) const { return h > 0 && eta(h - 1) > 0 ? sketched : 0; }
  Index eta(Index h) const;

  /// Of the last step, for images of this shape.
  WindowSketch::Shape output(ImageShape shape) const;
  /// Pooling none: what the last step adds to the relative variance however many features there
  /// are.  The pixels' transforms have signs of their own, but not more than K coordinates, K the
  /// numbers of a window: products of different pixels vary by 1/K or somewhat more.  1.6/K is
  /// stated.  Measured with 256 to 4,096 features at depth 1, the largest of 48 pairs of images:
  /// 1.1/K of 7x1x1 (K = 3), 1.6/K of 6x6x3 (K = 27), where windows at the edge are shorter.
  double output_variance() const;
};

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

}  // namespace kerf::detail
