// A kernel for the test of additions: 1 / (1 + |x - y|^2 / s^2), a candidate of --map auto.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/kernels/kernel.h"

namespace kerf::detail {

struct DummyKernelOptions {
  std::optional<double> reach;  // s

  static void resolve(OpenOptions& options) { options.settle_distance("reach", DistanceNorm::l2); }
  void describe(OptionVisitor& v) {
    v.automatic("reach", reach, kAnyPositive, "length s; auto: the median distance between rows");
  }
};

class DummyKernel final : public Kernel {
 public:
  using Options = DummyKernelOptions;
  static constexpr const char* kName = "dummy-kernel";
  static constexpr const char* kSummary = "1 / (1 + |x-y|^2 / s^2)";

  explicit DummyKernel(const Options& options)
      : reach_(resolved(options.reach, "kernel dummy-kernel", "reach")) {}
  static std::vector<KernelCandidate> candidates(const DataLook& data);

 private:
  double value(std::span<const double> x, std::span<const double> y) const override;
  double reach_;
};

}  // namespace kerf::detail
