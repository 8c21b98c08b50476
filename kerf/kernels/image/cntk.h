// The kernel of infinitely wide convolutional networks: the convolutional neural tangent kernel.
//
// Images y, z of H x W pixels with c channels, q x q filters, depth L = number of convolutions.
// win(A)(p, p') = sum over the window's offsets o of A(p + o, p' + o), zero outside the image:
//   G_0(p, p') = <y_p, z_p'>,   M_0(p) = |y_p|^2,   P_0 = 0   (train-first-layer: P_0 = win(G_0))
//   N_h = win(M_{h-1}),  M_h = N_h / q^2,   a = win(G_{h-1})(p, p') / sqrt(N_h(p) N_h(p'))
//   G_h = sqrt(N_h N_h') kappa1(a) / q^2,   D_h = kappa0(a) / q^2     (a = 0 where a norm is 0)
//   P_h = win(P_{h-1} D_h + G_h) for h < L,   P_L = P_{L-1} D_L
//   pooling gap:  mean of P_L over all pairs of pixels (global average pooling before the output)
//   pooling none: mean of P_L over equal pixels        (vanilla: a linear layer on all pixels)
//   padding same: q odd, windows are centred and zeros stand around the image;  valid: windows
//   begin at their pixel and lie inside, so that every layer is q - 1 pixels smaller.
// Every convolution but the first is trained, and the last linear layer is not.
// With --mirror the kernel is (k(x, y) + k(x, y mirrored left to right)) / 2, that of a network that
// is trained on every image and its mirror image; twice the cost.
//
// Error:      1e-15 a layer and entry (single: 1e-6), also for nearly equal images: win moves both
//             windows together, so the recursion runs for one displacement p' - p at a time, and
//             windows that nearly agree (or are nearly opposite) are compared again by differences,
//             1 - a = sum_o (s_o - s'_o)^2 / 2 + s_o s'_o (1 - kappa1(a_o)), s = sqrt(M) / sqrt(N).
// Cost:       L (H W)^2 steps a pair, vectorised (bench/cntk_bench.cpp); pooling none: L H W.
// Memory:     4 H W L numbers an image, 10 H W a thread.
// Reference:  Arora et al., "On exact computation with an infinitely wide neural net", NeurIPS
//             2019, section 4; Zandieh et al., NeurIPS 2021, section 4 and appendix F.
// Differs:    order of work; other code normalises otherwise (a window's mean or sum) and trains
//             other layers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "kerf/core/names.h"
#include "kerf/core/rows/image_text.h"
#include "kerf/kernels/kernel.h"

namespace kerf::detail {

enum class Padding { same, valid };
constexpr auto names_of(Padding) { return std::array{"same", "valid"}; }

enum class Pooling { gap, none };
constexpr auto names_of(Pooling) { return std::array{"gap", "none"}; }

inline constexpr int kMaxConvolutions = 64;

struct CntkOptions {
  std::string image = "auto";
  Index depth = 3;
  Index filter = 3;
  Padding padding = Padding::same;
  Pooling pooling = Pooling::gap;
  bool train_first_layer = false;
  bool mirror = false;

  static void resolve(OpenOptions& options) { options.settle_image("image"); }
  void describe(OptionVisitor& v) {
    v.text("image", image,
           "HEIGHTxWIDTHxCHANNELS of a row; auto: as the data says, a table's rows are one pixel");
    v.integer("depth", depth, {1, kMaxConvolutions}, "number of convolutions");
    describe_layers(v);
  }

  /// All but the image and the depth, which other kernels have too.
  void describe_layers(OptionVisitor& v) {
    v.integer("filter", filter, {1, 63}, "side of the filters in pixels");
    v.choice("padding", padding, "zeros around images (same) or none (valid)");
    v.choice("pooling", pooling,
             "mean over pixels before the output (gap) or a weight for each pixel (none)");
    v.flag("train-first-layer", train_first_layer, "count the first convolution as trained");
    v.flag("mirror", mirror,
           "count images and their mirror images as the same: (k(x, y) + k(x, y mirrored)) / 2");
  }
};

/// The shape of rows of `columns` numbers; Error (usage) if option image names another size, if a
/// layer would have no pixel left, or if the kernel is zero (depth 1 without the first layer).
ImageShape cntk_image(const CntkOptions& options, Index columns, const char* owner);
/// What can be checked before the rows are known.
void check_cntk_options(const CntkOptions& options, const char* owner);

class CntkKernel final : public Kernel {
 public:
  using Options = CntkOptions;
  static constexpr const char* kName = "cntk";
  static constexpr const char* kPythonName = "CNTK";
  static constexpr const char* kSummary =
      "convolutional neural tangent kernel of infinitely wide networks on images";
  static constexpr const char* kFormula =
      "The tangent kernel of a convolutional ReLU network: NTK recursions on the windows of"
      " two images, summed over pairs of pixels (`pooling='gap'`) or over equal pixels.  "
      "Rows of images: `image='32x32x3'`.";
  static constexpr bool kConvolves = true;

  explicit CntkKernel(const Options& options);

  void pairs(MatrixView<const double> x, MatrixView<const double> y,
             MatrixView<float> out) const override;
  void pairs(MatrixView<const double> x, MatrixView<const double> y,
             MatrixView<double> out) const override;

 private:
  double value(std::span<const double> x, std::span<const double> y) const override;

  Options options_;
};

}  // namespace kerf::detail
