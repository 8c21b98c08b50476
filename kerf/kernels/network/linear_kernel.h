// The inner product: a network without hidden layers.
//
//   linear   k(x, y) = <x, y>
//
// Error:      rounding relative to |x| |y|.
// Cost:       O(d) a pair.
// Reference:  none needed.
// Differs:    nothing; a constant is the business of the model's intercept.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/kernels/gram/pointwise_kernel.h"

namespace kerf::detail {

struct LinearKernelOptions {
  void describe(OptionVisitor&) {}
};

class LinearKernel final : public PointwiseKernel<LinearKernel> {
 public:
  using Options = LinearKernelOptions;
  static constexpr const char* kName = "linear";
  static constexpr const char* kSummary = "x'y, the inner product: a linear model";
  static constexpr const char* kFormula =
      "``k(x, y) = <x, y>``; scikit-learn's linear_kernel, DotProduct(sigma_0=0).";

  LinearKernel() = default;
  explicit LinearKernel(const Options&) {}
  static std::vector<KernelCandidate> candidates(const DataLook& data);

  /// The cosine of the angle, times both lengths.
  PairForm form() const override { return {.geometry = PairGeometry::angle, .homogeneous = true}; }
  template <class T>
  void of_numbers(std::span<const T> number, std::span<const T> other, std::span<T> out) const {
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = (other[k] - number[k]) / 2;
  }

 private:
  double value(std::span<const double> x, std::span<const double> y) const override;
};

}  // namespace kerf::detail
