// Random Fourier features of shift-invariant kernels.
//
//   pairs:   phi(x) = sqrt(2/m) (cos <w_j, x>, sin <w_j, x>)_{j = 1..m/2}
//   phase:   phi(x) = sqrt(2/m) cos(<w_j, x> + b_j)_{j = 1..m},        b_j uniform on [0, 2 pi]
//
//   with w_j independent, drawn from the kernel's Fourier transform (s: bandwidth):
//     gaussian      exp(-|x-y|^2 / 2s^2)            w = g/s,      g ~ N(0, I)
//     laplacian     exp(-|x-y|_1 / s)               w_k Cauchy of scale 1/s
//     laplacian-l2  exp(-|x-y|_2 / s)               w = g/(s |h|), h ~ N(0, 1): multivariate Cauchy
//     cauchy        prod 1/(1 + (x_k-y_k)^2/s^2)    w_k Laplace of scale 1/s
//
// Unbiased:   E <phi(x), phi(y)> = k(x, y).
// Error:      pairs: Var = (1 + k(2x, 2y) - 2 k^2)/m <= 2/m, and 0 for x = y;
//             phase: Var <= 1.5/m and 0.5/m for x = y.
// Cost:       O(m d) a dense row, O(m nnz) a sparse one (pairs: half of that); m d/2 or m d floats.
// Reference:  Rahimi & Recht, "Random features for large-scale kernel machines", NIPS 2007;
//             Sutherland & Schneider, "On the error of random Fourier features", UAI 2015 (pairs).
// Differs:    nothing; frequencies are kept in turns, w/2pi, so that reducing an angle is exact.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/projection.h"
#include "kerf/features/feature_map.h"

namespace kerf {

enum class ShiftInvariant { gaussian, laplacian, laplacian_l2, cauchy };
inline constexpr const char* kShiftInvariantNames[] = {"gaussian", "laplacian", "laplacian-l2",
                                                       "cauchy"};

/// Frequency j of a kernel of bandwidth 1, in turns per unit of length.
void draw_frequency(ShiftInvariant kernel, rng::Key key, Index j, std::span<float> frequency);

struct FourierMapOptions {
  enum class Form { pairs, phase };
  static constexpr const char* kFormNames[] = {"pairs", "phase"};

  ShiftInvariant kernel = ShiftInvariant::gaussian;
  std::optional<double> bandwidth;
  Index features = 4096;
  Form form = Form::pairs;

  void describe(OptionVisitor& v) {
    v.choice("kernel", kernel, kShiftInvariantNames, "shift-invariant kernel");
    v.automatic("bandwidth", bandwidth, kAnyPositive,
                "length scale s of the kernel; auto: the median distance between rows");
    v.integer("features", features, {1, 1 << 24}, "number of features");
    v.choice("form", form, kFormNames,
             "pairs: a cosine and a sine per frequency; phase: one cosine with a random phase");
  }
};

class FourierFeatures final : public FeatureMap {
 public:
  using Options = FourierMapOptions;
  static constexpr const char* kName = "rff";
  static constexpr const char* kOwner = "map rff";
  static constexpr const char* kPythonName = "RFF";
  static constexpr const char* kSummary =
      "random Fourier features of Gaussian, Laplacian and Cauchy kernels";

  FourierFeatures(Index in_dim, const Options& options, rng::Key key);
  static std::unique_ptr<Kernel> kernel(const Options& options);
  static double relative_variance(const Options& options);
  static Index bytes(Index in_dim, const Options& options);

 private:
  void transform_rows(const RowsView& x, MatrixView<float> out) const override;

  Options::Form form_;
  Projection turns_;
};

}  // namespace kerf
