// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/distance/shift_invariant.h"

#include <cmath>

#include "kerf/kernels/gram/pointwise.h"

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

/// Bandwidths around the median distance.
std::vector<KernelCandidate> bandwidth_candidates(double distance, int first_place) {
  std::vector<KernelCandidate> all;
  for (const double part : {1.0, 0.5, 2.0, 0.25})
    all.push_back({{{"bandwidth", format_number(part * distance), format_number(part)}},
                   first_place + static_cast<int>(all.size())});
  return all;
}

}  // namespace

std::vector<KernelCandidate> GaussianKernel::candidates(const DataLook& data) {
  return bandwidth_candidates(data.typical_distance(DistanceNorm::l2), 100);
}
std::vector<KernelCandidate> LaplacianL2Kernel::candidates(const DataLook& data) {
  return bandwidth_candidates(data.typical_distance(DistanceNorm::l2), 200);
}

GaussianKernel::GaussianKernel(const Options& options)
    : bandwidth_(resolved(options.bandwidth, "kernel gaussian", "bandwidth")) {}

double GaussianKernel::value(std::span<const double> x, std::span<const double> y) const {
  // Divided twice: the square of a tiny bandwidth would underflow.
  return std::exp(-0.5 * squared_distance(x, y) / bandwidth_ / bandwidth_);
}

PairForm GaussianKernel::form() const {
  return {.geometry = PairGeometry::squared_distance, .scale = 1 / bandwidth_};
}
void GaussianKernel::pointwise(std::span<const float> number, std::span<const float>,
                               std::span<float> out) const {
  pointwise::exp_minus(0.5, number, out);
}
void GaussianKernel::pointwise(std::span<const double> number, std::span<const double>,
                               std::span<double> out) const {
  pointwise::exp_minus(0.5, number, out);
}

LaplacianKernel::LaplacianKernel(const Options& options)
    : bandwidth_(resolved(options.bandwidth, "kernel laplacian", "bandwidth")) {}

double LaplacianKernel::value(std::span<const double> x, std::span<const double> y) const {
  return std::exp(-l1_distance(x, y) / bandwidth_);
}

PairForm LaplacianKernel::form() const {
  return {.geometry = PairGeometry::l1_distance, .scale = 1 / bandwidth_};
}
void LaplacianKernel::pointwise(std::span<const float> number, std::span<const float>,
                                std::span<float> out) const {
  pointwise::exp_minus(1, number, out);
}
void LaplacianKernel::pointwise(std::span<const double> number, std::span<const double>,
                                std::span<double> out) const {
  pointwise::exp_minus(1, number, out);
}

LaplacianL2Kernel::LaplacianL2Kernel(const Options& options)
    : bandwidth_(resolved(options.bandwidth, "kernel laplacian-l2", "bandwidth")) {}

double LaplacianL2Kernel::value(std::span<const double> x, std::span<const double> y) const {
  return std::exp(-std::sqrt(squared_distance(x, y)) / bandwidth_);
}

PairForm LaplacianL2Kernel::form() const {
  return {.geometry = PairGeometry::squared_distance, .scale = 1 / bandwidth_};
}
void LaplacianL2Kernel::pointwise(std::span<const float> number, std::span<const float>,
                                  std::span<float> out) const {
  pointwise::exp_minus_sqrt(number, out);
}
void LaplacianL2Kernel::pointwise(std::span<const double> number, std::span<const double>,
                                  std::span<double> out) const {
  pointwise::exp_minus_sqrt(number, out);
}

CauchyKernel::CauchyKernel(const Options& options)
    : bandwidth_(resolved(options.bandwidth, "kernel cauchy", "bandwidth")) {}

double CauchyKernel::value(std::span<const double> x, std::span<const double> y) const {
  double product = 1;
  for (std::size_t j = 0; j < x.size(); ++j) {
    const double difference = (x[j] - y[j]) / bandwidth_;
    product /= 1 + difference * difference;
  }
  return product;
}

PairForm CauchyKernel::form() const {
  return {.geometry = PairGeometry::cauchy_product, .scale = 1 / bandwidth_};
}
void CauchyKernel::pointwise(std::span<const float> number, std::span<const float>,
                             std::span<float> out) const {
  pointwise::reciprocal(number, out);
}
void CauchyKernel::pointwise(std::span<const double> number, std::span<const double>,
                             std::span<double> out) const {
  pointwise::reciprocal(number, out);
}

}  // namespace kerf::detail
