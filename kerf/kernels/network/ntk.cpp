// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/network/ntk.h"

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/kernels/gram/pointwise.h"

namespace kerf::detail {
namespace {

using Network = double (*)(Cosine, Index, const Activation&);

/// `network` of angles given as 1 - cos and 1 + cos.
template <class T>
void of_angles(Network network, Index depth, const Activation& activation,
               std::span<const T> number, std::span<const T> other, std::span<T> out) {
  for (std::size_t k = 0; k < out.size(); ++k) {
    const double u = number[k], v = other[k];
    out[k] = static_cast<T>(network({u < v ? 1 - u : v - 1, u, v}, depth, activation));
  }
}

/// Networks of these depths with biases around the typical length of a row, bias by bias.
std::vector<KernelCandidate> network_candidates(const DataLook& data,
                                                std::initializer_list<int> depths,
                                                int first_place) {
  std::vector<KernelCandidate> all;
  int place = first_place;
  for (const double bias : {1.0, 0.3, 3.0, 0.0}) {
    int next = place;
    for (const int depth : depths)
      all.push_back({{{"depth", std::to_string(depth), std::to_string(depth)},
                      {"bias", format_number(bias * data.typical_length()), format_number(bias)}},
                     next++});
    place += 10;
  }
  return all;
}

}  // namespace

std::vector<KernelCandidate> NtkKernel::candidates(const DataLook& data) {
  return network_candidates(data, {1, 2, 3, 5}, 0);
}
std::vector<KernelCandidate> NngpKernel::candidates(const DataLook& data) {
  return network_candidates(data, {1, 2}, 4);
}

double nngp_of_cosine(Cosine a, Index depth, const Activation& activation) {
  for (Index layer = 0; layer < depth; ++layer) a = activation.dual(a);
  return a.value;
}

double ntk_of_cosine(Cosine a, Index depth, const Activation& activation) {
  double ntk = a.value;
  for (Index layer = 0; layer < depth; ++layer) {
    const double derivative = activation.derivative(a);
    a = activation.dual(a);
    ntk = ntk * derivative + a.value;
  }
  return ntk;
}

NngpKernel::NngpKernel(const Options& options)
    : depth_(options.depth),
      bias_(resolved(options.bias, "kernel nngp", "bias")),
      activation_(options.activation) {}

double NngpKernel::value(std::span<const double> x, std::span<const double> y) const {
  const Angle angle = angle_between(x, y, bias_);
  return angle.x_norm * angle.y_norm * nngp_of_cosine(angle.cosine, depth_, activation_);
}

PairForm NngpKernel::form() const {
  return {.geometry = PairGeometry::angle, .bias = bias_, .homogeneous = true};
}
void NngpKernel::pointwise(std::span<const float> number, std::span<const float> other,
                           std::span<float> out) const {
  if (activation_.is_relu()) return pointwise::nngp(depth_, number, other, out);
  of_angles(nngp_of_cosine, depth_, activation_, number, other, out);
}
void NngpKernel::pointwise(std::span<const double> number, std::span<const double> other,
                           std::span<double> out) const {
  if (activation_.is_relu()) return pointwise::nngp(depth_, number, other, out);
  of_angles(nngp_of_cosine, depth_, activation_, number, other, out);
}

NtkKernel::NtkKernel(const Options& options)
    : depth_(options.depth),
      bias_(resolved(options.bias, "kernel ntk", "bias")),
      activation_(options.activation) {
  // Activations whose derivative is large make kernels that grow exponentially with depth.
  const double diagonal = ntk_of_cosine(Cosine::of(1), depth_, activation_);
  KERF_REQUIRE(diagonal <= 1e30, usage,
               "kernel ntk: with this activation a network of depth {} has k(x, x) = {:.3g} |x|^2, "
               "which is too large; take a smaller {}",
               depth_, diagonal, spell("depth"));
}

double NtkKernel::value(std::span<const double> x, std::span<const double> y) const {
  const Angle angle = angle_between(x, y, bias_);
  return angle.x_norm * angle.y_norm * ntk_of_cosine(angle.cosine, depth_, activation_);
}

PairForm NtkKernel::form() const {
  return {.geometry = PairGeometry::angle, .bias = bias_, .homogeneous = true};
}
void NtkKernel::pointwise(std::span<const float> number, std::span<const float> other,
                          std::span<float> out) const {
  if (activation_.is_relu()) return pointwise::ntk(depth_, number, other, out);
  of_angles(ntk_of_cosine, depth_, activation_, number, other, out);
}
void NtkKernel::pointwise(std::span<const double> number, std::span<const double> other,
                          std::span<double> out) const {
  if (activation_.is_relu()) return pointwise::ntk(depth_, number, other, out);
  of_angles(ntk_of_cosine, depth_, activation_, number, other, out);
}

}  // namespace kerf::detail
