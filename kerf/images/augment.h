// Augmentation: more training rows by small changes that keep what an image shows.
//
// Row r of the stream becomes `copies` rows.  Copy 0 is the image itself; in the others
//   mirror       left to right, in every other copy (odd ones: balanced, not tossed)
//   shift        by a uniform whole number of pixels in [-s, s] both ways; zeros come in
//   brightness   x + u range, u uniform in [-b, b], range = 255 for bytes, else 1
//   contrast     mean_c + f (x - mean_c) for each channel c, f uniform in [1 - c, 1 + c]
//   saturation   grey + f (x - grey) for each pixel, grey = mean over channels
// Draws are a pure function of (key, row, copy), so every pass over the source sees the same rows;
// with `fresh` the number of the pass counts too and copy 0 is changed as well: for gradient
// methods, which pass over the rows many times.
//
// Cost:       one read and write of each value a copy.
// Reference:  the pipeline of Krizhevsky's CIFAR-10 networks, as in Daniely et al. 2017, section 6.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/random/random.h"
#include "kerf/core/rows/row_source.h"
#include "kerf/images/image_options.h"

namespace kerf::detail {

/// The source must outlive it and give dense images; Error (usage) otherwise.
class AugmentedSource final : public RowSource {
 public:
  AugmentedSource(RowSource& source, const AugmentOptions& options, bool is_bytes, rng::Key key,
                  bool fresh = false);

  Index cols() const override { return source_.cols(); }
  void rewind() override;
  bool next(RowBlock& block) override;
  double part_read() const override { return source_.part_read(); }

 private:
  void change(std::span<float> image, ImageShape shape, Index row, Index copy) const;

  RowSource& source_;
  AugmentOptions options_;
  double range_;
  rng::Key key_;
  bool fresh_;
  Index pass_ = 0;
  RowBlock input_;
};

}  // namespace kerf::detail
