// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/ntk.h"

#include "kerf/kernels/pointwise.h"

namespace kerf {

double nngp_of_cosine(Cosine a, Index depth) {
  for (Index layer = 0; layer < depth; ++layer) a = kappa1(a);
  return a.value;
}

double ntk_of_cosine(Cosine a, Index depth) {
  double ntk = a.value;
  for (Index layer = 0; layer < depth; ++layer) {
    const double derivative = kappa0(a);
    a = kappa1(a);
    ntk = ntk * derivative + a.value;
  }
  return ntk;
}

NngpKernel::NngpKernel(const Options& options)
    : depth_(options.depth), bias_(resolved(options.bias, "kernel nngp", "bias")) {}

double NngpKernel::value(std::span<const double> x, std::span<const double> y) const {
  const Angle angle = angle_between(x, y, bias_);
  return angle.x_norm * angle.y_norm * nngp_of_cosine(angle.cosine, depth_);
}

PairForm NngpKernel::form() const {
  return {.geometry = PairGeometry::angle, .bias = bias_, .homogeneous = true};
}
void NngpKernel::pointwise(std::span<const float> number, std::span<const float> other,
                           std::span<float> out) const {
  pointwise::nngp(depth_, number, other, out);
}
void NngpKernel::pointwise(std::span<const double> number, std::span<const double> other,
                           std::span<double> out) const {
  pointwise::nngp(depth_, number, other, out);
}

NtkKernel::NtkKernel(const Options& options)
    : depth_(options.depth), bias_(resolved(options.bias, "kernel ntk", "bias")) {}

double NtkKernel::value(std::span<const double> x, std::span<const double> y) const {
  const Angle angle = angle_between(x, y, bias_);
  return angle.x_norm * angle.y_norm * ntk_of_cosine(angle.cosine, depth_);
}

PairForm NtkKernel::form() const {
  return {.geometry = PairGeometry::angle, .bias = bias_, .homogeneous = true};
}
void NtkKernel::pointwise(std::span<const float> number, std::span<const float> other,
                          std::span<float> out) const {
  pointwise::ntk(depth_, number, other, out);
}
void NtkKernel::pointwise(std::span<const double> number, std::span<const double> other,
                          std::span<double> out) const {
  pointwise::ntk(depth_, number, other, out);
}

}  // namespace kerf
