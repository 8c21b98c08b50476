// The kernels of infinitely wide fully-connected networks: NNGP and neural tangent kernel.
//
//   S_0 = T_0 = a,    S_l = dual(S_{l-1}),    T_l = T_{l-1} dual'(S_{l-1}) + S_l,   l = 1..L
//   nngp: |x| |y| S_L      (all layers random, the last one trained)
//   ntk:  |x| |y| T_L      (all layers trained)
//   a = <x, y> / (|x| |y|), the rows with a constant coordinate `bias` appended; depth L = number
//   of hidden layers.  nngp(x, x) = |x|^2, ntk(x, x) = (L + 1) |x|^2.  A row of length zero has
//   kernel 0 with every row.
//   ReLU (default): dual = kappa1, dual' = kappa0 (arc_cosine.h).  Other activations: activation.h;
//   they are not homogeneous, and the kernel is that of the network on x / |x|, times |x| |y|; then
//   ntk(x, x) = |x|^2 sum_{k=0..L} dual'(1)^k.
//
// Error:      about L 1e-16 of |x| |y|, also for nearly equal rows (see arc_cosine.h).
// Cost:       O(d + L) a pair.
// Reference:  Jacot, Gabriel & Hongler, "Neural tangent kernel", NeurIPS 2018; Arora et al., "On
//             exact computation with an infinitely wide neural net", NeurIPS 2019, section 3.
// Differs:    other code normalises otherwise: 2^-L (no factor 2 per layer), or 1 / (L + 1).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/kernels/gram/pointwise_kernel.h"
#include "kerf/kernels/network/activation.h"

namespace kerf::detail {

inline constexpr int kMaxDepth = 64;

struct NtkOptions {
  Index depth = 1;
  std::optional<double> bias;
  ActivationOptions activation;

  static void resolve(OpenOptions& options) { options.settle_length("bias"); }
  void describe(OptionVisitor& v) {
    v.integer("depth", depth, {1, kMaxDepth}, "number of hidden layers");
    v.automatic("bias", bias, {0, 1e150}, "constant coordinate appended to every row");
    v.as_is("0");
    activation.describe(v);
  }
};

/// S_L and T_L of the cosine a.
double nngp_of_cosine(Cosine a, Index depth, const Activation& activation = Activation());
double ntk_of_cosine(Cosine a, Index depth, const Activation& activation = Activation());

/// What both have in common: `kTangent` tells the tangent kernel from the NNGP.
template <bool kTangent>
class WideNetworkKernel : public PointwiseKernel<WideNetworkKernel<kTangent>> {
 public:
  using Options = NtkOptions;

  explicit WideNetworkKernel(const Options& options);

  PairForm form() const final {
    return {.geometry = PairGeometry::angle, .bias = bias_, .homogeneous = true};
  }
  template <class T>
  void of_numbers(std::span<const T> number, std::span<const T> other, std::span<T> out) const;

 private:
  double value(std::span<const double> x, std::span<const double> y) const final;
  double of_cosine(const Cosine& a) const;

  Index depth_;
  double bias_;
  Activation activation_;
};

extern template class PointwiseKernel<WideNetworkKernel<false>>;
extern template class PointwiseKernel<WideNetworkKernel<true>>;
extern template class WideNetworkKernel<false>;
extern template class WideNetworkKernel<true>;

class NngpKernel final : public WideNetworkKernel<false> {
 public:
  static constexpr const char* kName = "nngp";
  static constexpr const char* kPythonName = "NNGP";
  static constexpr const char* kSummary = "infinitely wide random network (Gaussian process)";
  static constexpr const char* kFormula =
      "``|x| |y| S_L``, S_0 = a, S_l = kappa1(S_{l-1}): a wide random ReLU network with "
      "`depth` = L hidden layers; a the cosine of the angle between the rows with `bias` "
      "appended.  k(x, x) = |x|^2.";

  using WideNetworkKernel::WideNetworkKernel;
  static std::vector<KernelCandidate> candidates(const DataLook& data);
};

class NtkKernel final : public WideNetworkKernel<true> {
 public:
  static constexpr const char* kName = "ntk";
  static constexpr const char* kPythonName = "NTK";
  static constexpr const char* kSummary = "neural tangent kernel of an infinitely wide network";
  static constexpr const char* kFormula =
      "``|x| |y| T_L``, T_0 = S_0 = a, S_l = kappa1(S_{l-1}), T_l = T_{l-1} kappa0(S_{l-1})"
      " + S_l: the neural tangent kernel of a ReLU network with `depth` = L hidden layers; "
      "a the cosine of the angle between the rows with `bias` appended.  k(x, x) = (L + 1) "
      "|x|^2.";

  using WideNetworkKernel::WideNetworkKernel;
  static std::vector<KernelCandidate> candidates(const DataLook& data);
};

}  // namespace kerf::detail
