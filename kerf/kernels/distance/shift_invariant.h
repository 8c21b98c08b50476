// Kernels of the difference of two rows.
//
//   gaussian      exp(-|x - y|^2 / (2 s^2))
//   laplacian     exp(-|x - y|_1 / s)
//   laplacian-l2  exp(-|x - y| / s)
//   cauchy        prod_j 1 / (1 + (x_j - y_j)^2 / s^2)
//   matern32      (1 + r) exp(-r),            r = sqrt(3) |x - y| / s
//   matern52      (1 + r + r^2/3) exp(-r),    r = sqrt(5) |x - y| / s
//
// s is the bandwidth.
//
// Error:      a few units in the last place times the exponent.
// Cost:       O(d) a pair.
// Reference:  Rahimi & Recht, "Random features for large-scale kernel machines", NIPS 2007, fig. 1;
//             Rasmussen & Williams, "Gaussian processes for machine learning", 2006, eq. 4.17 (Matern).
// Differs:    laplacian-l2 is not in the paper; others call either of the two "Laplacian".  It is the
//             Matern kernel of smoothness 1/2; the Gaussian is that of infinite smoothness.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <numbers>

#include "kerf/kernels/gram/pointwise.h"
#include "kerf/kernels/gram/pointwise_kernel.h"

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

/// What they have in common: a bandwidth, by which the number of a pair is scaled.
template <class K, PairGeometry kGeometry, DistanceNorm kNorm>
class DifferenceKernel : public PointwiseKernel<K> {
 public:
  using Options = BandwidthOptions<kNorm>;
  static constexpr double kStretch = 1;  // of the distance, beside the bandwidth

  explicit DifferenceKernel(const Options& options)
      : bandwidth_(resolved(options.bandwidth, std::string("kernel ") + K::kName, "bandwidth")) {}

  PairForm form() const final { return {.geometry = kGeometry, .scale = K::kStretch / bandwidth_}; }

 protected:
  double bandwidth_;
};

class GaussianKernel final
    : public DifferenceKernel<GaussianKernel, PairGeometry::squared_distance, DistanceNorm::l2> {
 public:
  static constexpr const char* kName = "gaussian";
  static constexpr const char* kSummary = "exp(-|x-y|^2 / (2 s^2)), s the bandwidth";
  static constexpr const char* kFormula =
      "``k(x, y) = exp(-|x-y|^2 / (2 s^2))``, s the bandwidth; scikit-learn's `gamma` is 1 "
      "/ (2 s^2), its `length_scale` is s.";

  using DifferenceKernel::DifferenceKernel;
  static std::vector<KernelCandidate> candidates(const DataLook& data);

  template <class T>
  void of_numbers(std::span<const T> number, std::span<const T>, std::span<T> out) const {
    pointwise::exp_minus(0.5, number, out);
  }

 private:
  double value(std::span<const double> x, std::span<const double> y) const override;
};

class LaplacianKernel final
    : public DifferenceKernel<LaplacianKernel, PairGeometry::l1_distance, DistanceNorm::l1> {
 public:
  static constexpr const char* kName = "laplacian";
  static constexpr const char* kSummary = "exp(-|x-y|_1 / s), the sum of absolute differences";
  static constexpr const char* kFormula =
      "``k(x, y) = exp(-|x-y|_1 / s)``, s the bandwidth; scikit-learn's `gamma` of "
      "laplacian_kernel is 1 / s.";

  using DifferenceKernel::DifferenceKernel;
  static std::vector<KernelCandidate> candidates(const DataLook& data);

  template <class T>
  void of_numbers(std::span<const T> number, std::span<const T>, std::span<T> out) const {
    pointwise::exp_minus(1, number, out);
  }

 private:
  double value(std::span<const double> x, std::span<const double> y) const override;
};

class LaplacianL2Kernel final
    : public DifferenceKernel<LaplacianL2Kernel, PairGeometry::squared_distance, DistanceNorm::l2> {
 public:
  static constexpr const char* kName = "laplacian-l2";
  static constexpr const char* kSummary = "exp(-|x-y| / s), the Euclidean distance";
  static constexpr const char* kFormula =
      "``k(x, y) = exp(-|x-y| / s)``, s the bandwidth; scikit-learn's "
      "Matern(length_scale=s, nu=0.5).";

  using DifferenceKernel::DifferenceKernel;
  static std::vector<KernelCandidate> candidates(const DataLook& data);

  template <class T>
  void of_numbers(std::span<const T> number, std::span<const T>, std::span<T> out) const {
    pointwise::exp_minus_sqrt(number, out);
  }

 private:
  double value(std::span<const double> x, std::span<const double> y) const override;
};

class CauchyKernel final
    : public DifferenceKernel<CauchyKernel, PairGeometry::cauchy_product, DistanceNorm::l2> {
 public:
  static constexpr const char* kName = "cauchy";
  static constexpr const char* kSummary = "product over coordinates of 1 / (1 + (x_j-y_j)^2 / s^2)";
  static constexpr const char* kFormula =
      "``k(x, y) = prod_j 1 / (1 + (x_j-y_j)^2 / s^2)``, s the bandwidth.";

  using DifferenceKernel::DifferenceKernel;

  template <class T>
  void of_numbers(std::span<const T> number, std::span<const T>, std::span<T> out) const {
    pointwise::reciprocal(number, out);
  }

 private:
  double value(std::span<const double> x, std::span<const double> y) const override;
};

class Matern32Kernel final
    : public DifferenceKernel<Matern32Kernel, PairGeometry::squared_distance, DistanceNorm::l2> {
 public:
  static constexpr const char* kName = "matern32";
  static constexpr const char* kSummary = "(1 + r) exp(-r), r = sqrt(3) |x-y| / s";
  static constexpr const char* kFormula =
      "``k(x, y) = (1 + r) exp(-r)``, ``r = sqrt(3) |x-y| / s``, s the bandwidth; scikit-learn's "
      "Matern(length_scale=s, nu=1.5).";
  static constexpr double kStretch = std::numbers::sqrt3;

  using DifferenceKernel::DifferenceKernel;
  static std::vector<KernelCandidate> candidates(const DataLook& data);

  template <class T>
  void of_numbers(std::span<const T> number, std::span<const T>, std::span<T> out) const {
    pointwise::matern32(number, out);
  }

 private:
  double value(std::span<const double> x, std::span<const double> y) const override;
};

class Matern52Kernel final
    : public DifferenceKernel<Matern52Kernel, PairGeometry::squared_distance, DistanceNorm::l2> {
 public:
  static constexpr const char* kName = "matern52";
  static constexpr const char* kSummary = "(1 + r + r^2/3) exp(-r), r = sqrt(5) |x-y| / s";
  static constexpr const char* kFormula =
      "``k(x, y) = (1 + r + r^2/3) exp(-r)``, ``r = sqrt(5) |x-y| / s``, s the bandwidth; "
      "scikit-learn's Matern(length_scale=s, nu=2.5).";
  static constexpr double kStretch = 2.23606797749978969641;  // sqrt(5)

  using DifferenceKernel::DifferenceKernel;
  static std::vector<KernelCandidate> candidates(const DataLook& data);

  template <class T>
  void of_numbers(std::span<const T> number, std::span<const T>, std::span<T> out) const {
    pointwise::matern52(number, out);
  }

 private:
  double value(std::span<const double> x, std::span<const double> y) const override;
};

}  // namespace kerf::detail
