// Arc-cosine kernels of order 0 and 1, and the functions that the NTK is built from.
//
//   kappa0(a) = (pi - acos a) / pi                              dual of sqrt(2) Step
//   kappa1(a) = (sqrt(1 - a^2) + a (pi - acos a)) / pi          dual of sqrt(2) ReLU
//   order 0:  k(x, y) = kappa0(a),    order 1:  k(x, y) = |x| |y| kappa1(a),
//   a = <x, y> / (|x| |y|), the rows with a constant coordinate `bias` appended.  A row of length
//   zero has kernel 0 with every row.
//
// Error:      relative error of a few 1e-16 for every angle, also near a = 1 and a = -1: an angle
//             travels as (a, 1 - a, 1 + a), where the small one of the two was computed from the
//             difference or the sum of the normalised rows, never by subtracting from 1.
// Cost:       O(d) a pair.
// Reference:  Cho & Saul, "Kernel methods for deep learning", NIPS 2009, section 2.
// Differs:    normalised so that kappa(1) = 1 (the paper's kernels for order 0 and 1 are the same
//             numbers); the forms near a = +-1 are ours.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/kernels/gram/pointwise.h"
#include "kerf/kernels/gram/pointwise_kernel.h"

namespace kerf::detail {

/// The cosine a of an angle with its distances from 1 and -1, each to full relative accuracy.
struct Cosine {
  double value;      ///< a
  double one_minus;  ///< 1 - a >= 0
  double one_plus;   ///< 1 + a >= 0

  /// From a alone; a outside [-1, 1] is clamped.
  static Cosine of(double a);
};

/// Two rows: the cosine of their angle and their lengths.
struct Angle {
  Cosine cosine;
  double x_norm, y_norm;  ///< one of them 0: `cosine` is that of a right angle
};
Angle angle_between(std::span<const double> x, std::span<const double> y, double bias);

double kappa0(const Cosine& a);
/// kappa1(a) as a cosine again: what the next layer needs.
Cosine kappa1(const Cosine& a);

struct ArcCosineOptions {
  Index order = 1;
  std::optional<double> bias;

  static void resolve(OpenOptions& options) { options.settle_length("bias"); }
  void describe(OptionVisitor& v) {
    v.integer("order", order, {0, 1}, "0: steps, 1: rectified linear units");
    v.automatic("bias", bias, {0, 1e150}, "constant coordinate appended to every row");
    v.as_is("0");
  }
};

class ArcCosineKernel final : public PointwiseKernel<ArcCosineKernel> {
 public:
  using Options = ArcCosineOptions;
  static constexpr const char* kName = "arccos";
  static constexpr const char* kPythonName = "ArcCosine";
  static constexpr const char* kSummary = "arc-cosine kernel of order 0 or 1 (one random layer)";
  static constexpr const char* kFormula =
      "Order 0: ``kappa0(a) = (pi - acos a) / pi``; order 1: ``|x| |y| kappa1(a)``, "
      "kappa1(a) = (sqrt(1 - a^2) + a (pi - acos a)) / pi; a the cosine of the angle "
      "between the rows with `bias` appended.";

  explicit ArcCosineKernel(const Options& options);

  PairForm form() const override;
  template <class T>
  void of_numbers(std::span<const T> number, std::span<const T> other, std::span<T> out) const {
    if (order_ == 0) return pointwise::kappa0(number, other, out);
    pointwise::nngp(1, number, other, out);
  }

 private:
  double value(std::span<const double> x, std::span<const double> y) const override;
  Index order_;
  double bias_;
};

}  // namespace kerf::detail
