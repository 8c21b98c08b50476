// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/distance/shift_invariant.h"

#include <algorithm>
#include <cmath>

namespace kerf::detail {
namespace {

double squared_distance(std::span<const double> x, std::span<const double> y) {
  double sum = 0;
  for (std::size_t j = 0; j < x.size(); ++j) sum += (x[j] - y[j]) * (x[j] - y[j]);
  return sum;
}

double l1_distance(std::span<const double> x, std::span<const double> y) {
  double sum = 0;
  for (std::size_t j = 0; j < x.size(); ++j) sum += std::abs(x[j] - y[j]);
  return sum;
}

/// At most a length at which exp(-r) is 0 already: infinity times 0 is not a number.
double matern_distance(std::span<const double> x, std::span<const double> y, double bandwidth) {
  return std::min(std::sqrt(squared_distance(x, y)) / bandwidth, 1000.0);
}

/// Bandwidths around the median distance.
std::vector<KernelCandidate> bandwidth_candidates(double distance, int first_place,
                                                  std::initializer_list<double> parts) {
  std::vector<KernelCandidate> all;
  for (const double part : parts)
    all.push_back({{{"bandwidth", format_number(part * distance), format_number(part)}},
                   first_place + static_cast<int>(all.size())});
  return all;
}

}  // namespace

std::vector<KernelCandidate> GaussianKernel::candidates(const DataLook& data) {
  return bandwidth_candidates(data.typical_distance(DistanceNorm::l2), 100, {1, 0.5, 2, 0.25});
}
std::vector<KernelCandidate> LaplacianL2Kernel::candidates(const DataLook& data) {
  return bandwidth_candidates(data.typical_distance(DistanceNorm::l2), 200, {1, 0.5, 2, 0.25});
}
std::vector<KernelCandidate> Matern32Kernel::candidates(const DataLook& data) {
  return bandwidth_candidates(data.typical_distance(DistanceNorm::l2), 220, {1, 0.5, 2});
}
std::vector<KernelCandidate> Matern52Kernel::candidates(const DataLook& data) {
  return bandwidth_candidates(data.typical_distance(DistanceNorm::l2), 210, {1, 0.5, 2});
}
/// A product over the columns falls off faster than a function of the distance: wider ones.
std::vector<KernelCandidate> LaplacianKernel::candidates(const DataLook& data) {
  return bandwidth_candidates(data.typical_distance(DistanceNorm::l1), 230, {3, 1, 9});
}

double GaussianKernel::value(std::span<const double> x, std::span<const double> y) const {
  // Divided twice: the square of a tiny bandwidth would underflow.
  return std::exp(-0.5 * squared_distance(x, y) / bandwidth_ / bandwidth_);
}

double LaplacianKernel::value(std::span<const double> x, std::span<const double> y) const {
  return std::exp(-l1_distance(x, y) / bandwidth_);
}

double LaplacianL2Kernel::value(std::span<const double> x, std::span<const double> y) const {
  return std::exp(-std::sqrt(squared_distance(x, y)) / bandwidth_);
}

double Matern32Kernel::value(std::span<const double> x, std::span<const double> y) const {
  const double r = kStretch * matern_distance(x, y, bandwidth_);
  return std::min(1.0, (1 + r) * std::exp(-r));
}

double Matern52Kernel::value(std::span<const double> x, std::span<const double> y) const {
  const double r = kStretch * matern_distance(x, y, bandwidth_);
  return std::min(1.0, (1 + r + r * r / 3) * std::exp(-r));
}

double CauchyKernel::value(std::span<const double> x, std::span<const double> y) const {
  double product = 1;
  for (std::size_t j = 0; j < x.size(); ++j) {
    const double difference = (x[j] - y[j]) / bandwidth_;
    product /= 1 + difference * difference;
  }
  return product;
}

}  // namespace kerf::detail
