// Kernels that are functions of one number a pair say so once, for single and double.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/kernels/kernel.h"

namespace kerf::detail {

/// Base of a kernel K with `template <class T> void of_numbers(number, other, out) const`, which is
/// Kernel::pointwise() of either precision.
template <class K>
class PointwiseKernel : public Kernel {
 public:
  void pointwise(std::span<const float> number, std::span<const float> other,
                 std::span<float> out) const final {
    static_cast<const K&>(*this).of_numbers(number, other, out);
  }
  void pointwise(std::span<const double> number, std::span<const double> other,
                 std::span<double> out) const final {
    static_cast<const K&>(*this).of_numbers(number, other, out);
  }
};

}  // namespace kerf::detail
