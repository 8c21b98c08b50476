// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/shift_invariant.h"

#include <cmath>

namespace kerf {
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

}  // namespace

GaussianKernel::GaussianKernel(const Options& options)
    : bandwidth_(resolved(options.bandwidth, "kernel gaussian", "bandwidth")) {}

double GaussianKernel::value(std::span<const double> x, std::span<const double> y) const {
  // Divided twice: the square of a tiny bandwidth would underflow.
  return std::exp(-0.5 * squared_distance(x, y) / bandwidth_ / bandwidth_);
}

LaplacianKernel::LaplacianKernel(const Options& options)
    : bandwidth_(resolved(options.bandwidth, "kernel laplacian", "bandwidth")) {}

double LaplacianKernel::value(std::span<const double> x, std::span<const double> y) const {
  return std::exp(-l1_distance(x, y) / bandwidth_);
}

LaplacianL2Kernel::LaplacianL2Kernel(const Options& options)
    : bandwidth_(resolved(options.bandwidth, "kernel laplacian-l2", "bandwidth")) {}

double LaplacianL2Kernel::value(std::span<const double> x, std::span<const double> y) const {
  return std::exp(-std::sqrt(squared_distance(x, y)) / bandwidth_);
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

}  // namespace kerf
