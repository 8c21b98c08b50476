// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/network/ntk.h"

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/kernels/gram/pointwise.h"

namespace kerf::detail {
namespace {

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

template <bool kTangent>
WideNetworkKernel<kTangent>::WideNetworkKernel(const Options& options)
    : depth_(options.depth),
      bias_(resolved(options.bias, kTangent ? "kernel ntk" : "kernel nngp", "bias")),
      activation_(options.activation) {
  if (!kTangent) return;
  // Activations whose derivative is large make kernels that grow exponentially with depth.
  const double diagonal = of_cosine(Cosine::of(1));
  KERF_REQUIRE(diagonal <= 1e30, usage,
               "kernel ntk: with this activation a network of depth {} has k(x, x) = {:.3g} |x|^2, "
               "which is too large; take a smaller {}",
               depth_, diagonal, spell("depth"));
}

template <bool kTangent>
double WideNetworkKernel<kTangent>::of_cosine(const Cosine& a) const {
  return (kTangent ? ntk_of_cosine : nngp_of_cosine)(a, depth_, activation_);
}

template <bool kTangent>
double WideNetworkKernel<kTangent>::value(std::span<const double> x,
                                          std::span<const double> y) const {
  const Angle angle = angle_between(x, y, bias_);
  return angle.x_norm * angle.y_norm * of_cosine(angle.cosine);
}

template <bool kTangent>
template <class T>
void WideNetworkKernel<kTangent>::of_numbers(std::span<const T> number, std::span<const T> other,
                                             std::span<T> out) const {
  if (activation_.is_relu()) {
    if constexpr (kTangent)
      pointwise::ntk(depth_, number, other, out);
    else
      pointwise::nngp(depth_, number, other, out);
    return;
  }
  for (std::size_t k = 0; k < out.size(); ++k) {
    const double u = number[k], v = other[k];  // 1 - cos and 1 + cos
    out[k] = static_cast<T>(of_cosine({u < v ? 1 - u : v - 1, u, v}));
  }
}

template class WideNetworkKernel<false>;
template class WideNetworkKernel<true>;
template class PointwiseKernel<WideNetworkKernel<false>>;
template class PointwiseKernel<WideNetworkKernel<true>>;

}  // namespace kerf::detail
