// Preparation of images that a model keeps: crop, per-image standardisation, ZCA whitening, patch
// PCA.  Fitted from a stream of images, stored with the model, applied to every image it meets.
//
//   crop        the centre h x w pixels
//   per image   (x - mean(x)) / max(sd(x), 1/sqrt(number of values))
//   ZCA         (x - mean) U diag(1/sqrt(s_i + eps mean(s))) U^T,  U, s the eigenvectors and
//               eigenvalues of the covariance: decorrelated, and still an image
//   patch PCA   every p x p patch (all channels) minus the mean patch, projected on the leading q
//               eigenvectors of the patches' covariance: an image of q channels
//
// Cost:       fitting is one more pass over the rows: n d^2 flops and 8 d^2 bytes for ZCA (d =
//             pixels x channels), the same with d = p^2 channels for each patch; 10 d^3 for the
//             eigenvectors.  Applying: 2 d^2 flops a row for ZCA, 2 q p^2 channels for each patch.
// Reference:  Bell & Sejnowski 1997 (ZCA); Daniely, Frostig, Gupta, Singer 2017 section 6 (patch
//             PCA with 10, 12, 16 components of 4x4, 5x5, 6x6 patches).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/core/progress.h"
#include "kerf/core/rows/row_source.h"
#include "kerf/images/image_options.h"
#include "kerf/linalg/projection.h"

namespace kerf::detail {

/// y_j = offset_j + <matrix_j, x>: what ZCA does to an image and PCA to a patch.  Through
/// Projection, so that a row has the same bits in any block.
class LinearStep {
 public:
  LinearStep() = default;
  LinearStep(Matrix<float> matrix, std::vector<float> offset);

  bool present() const { return matrix_.rows() > 0; }
  const Matrix<float>& matrix() const { return matrix_; }  ///< outputs x inputs
  const std::vector<float>& offset() const { return offset_; }
  void apply(MatrixView<const float> rows, MatrixView<float> out) const {
    projection_.apply(rows, out);
  }

 private:
  Matrix<float> matrix_;
  std::vector<float> offset_;
  Projection projection_;
};

struct ImageSteps {
  ImageShape input;             ///< of the rows that come in
  float factor = 1;             ///< first: 1/255 for bytes
  Index height = 0, width = 0;  ///< of the centre crop; 0: none
  bool per_image = false;
  LinearStep whitening;  ///< ZCA
  Index patch = 0, stride = 1;
  LinearStep patch_basis;  ///< PCA of patches

  bool present() const { return input.present(); }
  ImageShape cropped() const;
  ImageShape output() const;
  /// Error (data) if the parts do not fit each other: steps may come from a file.
  void check() const;
  /// Replaces the block's rows (images of shape `input`) by prepared ones.
  void apply(RowBlock& block) const;
};

/// Reads `source` once for each step that is fitted, and rewinds it.  Error (usage) if the rows are
/// not images or the options do not fit their shape.
ImageSteps fit_image_steps(RowSource& source, ImageShape image, bool is_bytes,
                           const ImageOptions& options, const Progress& progress = {});

/// Whether the options ask for anything.
bool any_step(const ImageOptions& options);

/// "24x32" as height and width.
std::pair<Index, Index> parse_crop(const std::string& text);

/// Memory that fitting and holding the steps needs at the most.
Index image_steps_bytes(ImageShape image, const ImageOptions& options);

/// A source whose images are prepared on the way.  Steps and source must outlive it.
class PreparedSource final : public RowSource {
 public:
  PreparedSource(RowSource& source, const ImageSteps& steps) : source_(source), steps_(steps) {}
  Index cols() const override;
  void rewind() override { source_.rewind(); }
  bool next(RowBlock& block) override;
  double part_read() const override { return source_.part_read(); }

 private:
  RowSource& source_;
  const ImageSteps& steps_;
};

}  // namespace kerf::detail
