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
#include "kerf/kernels/kernel.h"
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

class NngpKernel final : public Kernel {
 public:
  using Options = NtkOptions;
  static constexpr const char* kName = "nngp";
  static constexpr const char* kPythonName = "NNGP";
  static constexpr const char* kSummary = "infinitely wide random network (Gaussian process)";

  explicit NngpKernel(const Options& options);
  static std::vector<KernelCandidate> candidates(const DataLook& data);

  PairForm form() const override;
  void pointwise(std::span<const float> number, std::span<const float> other,
                 std::span<float> out) const override;
  void pointwise(std::span<const double> number, std::span<const double> other,
                 std::span<double> out) const override;

 private:
  double value(std::span<const double> x, std::span<const double> y) const override;
  Index depth_;
  double bias_;
  Activation activation_;
};

class NtkKernel final : public Kernel {
 public:
  using Options = NtkOptions;
  static constexpr const char* kName = "ntk";
  static constexpr const char* kPythonName = "NTK";
  static constexpr const char* kSummary = "neural tangent kernel of an infinitely wide network";

  explicit NtkKernel(const Options& options);
  static std::vector<KernelCandidate> candidates(const DataLook& data);

  PairForm form() const override;
  void pointwise(std::span<const float> number, std::span<const float> other,
                 std::span<float> out) const override;
  void pointwise(std::span<const double> number, std::span<const double> other,
                 std::span<double> out) const override;

 private:
  double value(std::span<const double> x, std::span<const double> y) const override;
  Index depth_;
  double bias_;
  Activation activation_;
};

}  // namespace kerf::detail
