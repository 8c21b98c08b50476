// Kernels of the difference of two rows.
//
//   gaussian      exp(-|x - y|^2 / (2 s^2))
//   laplacian     exp(-|x - y|_1 / s)
//   laplacian-l2  exp(-|x - y| / s)
//   cauchy        prod_j 1 / (1 + (x_j - y_j)^2 / s^2)
//
// s is the bandwidth.
//
// Error:      a few units in the last place times the exponent.
// Cost:       O(d) a pair.
// Reference:  Rahimi & Recht, "Random features for large-scale kernel machines", NIPS 2007, fig. 1.
// Differs:    laplacian-l2 is not in the paper; others call either of the two "Laplacian".
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/kernels/kernel.h"

namespace kerf::detail {

/// The automatic bandwidth is a median of the distances that the kernel falls off with.
template <DistanceNorm kNorm>
struct BandwidthOptions {
  std::optional<double> bandwidth;  // s

  static void resolve(OpenOptions& options) { options.settle_distance("bandwidth", kNorm); }

  void describe(OptionVisitor& v) {
    v.automatic("bandwidth", bandwidth, kAnyPositive,
                "length s over which the kernel falls off; auto: median distance of two rows");
  }
};

class GaussianKernel final : public Kernel {
 public:
  using Options = BandwidthOptions<DistanceNorm::l2>;
  static constexpr const char* kName = "gaussian";
  static constexpr const char* kSummary = "exp(-|x-y|^2 / (2 s^2)), s the bandwidth";

  explicit GaussianKernel(const Options& options);
  static std::vector<KernelCandidate> candidates(const DataLook& data);

  PairForm form() const override;
  void pointwise(std::span<const float> number, std::span<const float> other,
                 std::span<float> out) const override;
  void pointwise(std::span<const double> number, std::span<const double> other,
                 std::span<double> out) const override;

 private:
  double value(std::span<const double> x, std::span<const double> y) const override;
  double bandwidth_;
};

class LaplacianKernel final : public Kernel {
 public:
  using Options = BandwidthOptions<DistanceNorm::l1>;
  static constexpr const char* kName = "laplacian";
  static constexpr const char* kSummary = "exp(-|x-y|_1 / s), the sum of absolute differences";

  explicit LaplacianKernel(const Options& options);

  PairForm form() const override;
  void pointwise(std::span<const float> number, std::span<const float> other,
                 std::span<float> out) const override;
  void pointwise(std::span<const double> number, std::span<const double> other,
                 std::span<double> out) const override;

 private:
  double value(std::span<const double> x, std::span<const double> y) const override;
  double bandwidth_;
};

class LaplacianL2Kernel final : public Kernel {
 public:
  using Options = BandwidthOptions<DistanceNorm::l2>;
  static constexpr const char* kName = "laplacian-l2";
  static constexpr const char* kSummary = "exp(-|x-y| / s), the Euclidean distance";

  explicit LaplacianL2Kernel(const Options& options);
  static std::vector<KernelCandidate> candidates(const DataLook& data);

  PairForm form() const override;
  void pointwise(std::span<const float> number, std::span<const float> other,
                 std::span<float> out) const override;
  void pointwise(std::span<const double> number, std::span<const double> other,
                 std::span<double> out) const override;

 private:
  double value(std::span<const double> x, std::span<const double> y) const override;
  double bandwidth_;
};

class CauchyKernel final : public Kernel {
 public:
  using Options = BandwidthOptions<DistanceNorm::l2>;
  static constexpr const char* kName = "cauchy";
  static constexpr const char* kSummary = "product over coordinates of 1 / (1 + (x_j-y_j)^2 / s^2)";

  explicit CauchyKernel(const Options& options);

  PairForm form() const override;
  void pointwise(std::span<const float> number, std::span<const float> other,
                 std::span<float> out) const override;
  void pointwise(std::span<const double> number, std::span<const double> other,
                 std::span<double> out) const override;

 private:
  double value(std::span<const double> x, std::span<const double> y) const override;
  double bandwidth_;
};

}  // namespace kerf::detail
