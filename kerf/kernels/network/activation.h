// Activations of wide networks, by what a kernel needs of them: the dual function.
//
//   dual(a) = E s(u) s(v) = sum_i h_i^2 a^i,    (u, v) normal, variances 1, correlation a,
//   derivative(a) = E s'(u) s'(v) = dual'(a),   h_i = E s(g) He_i(g) / sqrt(i!)
// with s scaled so that E s(g)^2 = dual(1) = 1.  The h_i^2 are non-negative, so every dual is a
// positive semi-definite function of the angle on spheres of any dimension.
//
//   relu         kappa1(a), kappa0(a)                                   (arc_cosine.h)
//   leaky-relu   kappa1(a) - c kappa1(-a),  kappa0(a) + c kappa0(-a),   c = 2 slope/(1 + slope^2)
//   erf          asin(2a/3) / asin(2/3)
//   sin          sinh(a) / sinh(1)
//   exponential  exp(a - 1)                                             s(g) = exp(g - 1)
//   gelu         its series: h_i^2 falls as 4^(-i/2), summed to the last bit
//   polynomial   s(g) = c_0 + c_1 g + c_2 g^2 + ..     }  coefficients given by the user
//   hermite      s(g) = h_0 + h_1 He_1(g) + h_2 He_2(g)/sqrt(2!) + ..
//
// Error:      a few 1e-16 of 1.
// Cost:       O(1) for closed forms, one multiply-add a coefficient for series.
// Reference:  Daniely, Frostig & Singer, "Toward deeper understanding of neural networks", NIPS
//             2016 (duals, Hermite series); Williams, "Computing with infinite networks", NIPS 1996
//             (erf); Cho & Saul, NIPS 2009 (relu).
// Differs:    no quadrature anywhere: GELU's h_i have a closed form, because its second derivative
//             is (2 - g^2) times the normal density.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "kerf/core/names.h"
#include "kerf/kernels/network/arc_cosine.h"

namespace kerf::detail {

enum class ActivationKind { relu, leaky_relu, erf, gelu, sin, exponential, polynomial, hermite };
constexpr auto names_of(ActivationKind) {
  return std::array{"relu", "leaky-relu",  "erf",        "gelu",
                    "sin",  "exponential", "polynomial", "hermite"};
}

struct ActivationOptions {
  ActivationKind activation = ActivationKind::relu;
  double slope = 0.01;
  std::string coefficients;

  void describe(OptionVisitor& v) {
    v.choice("activation", activation, "activation of the network");
    v.real("slope", slope, {-1, 1}, "slope of leaky-relu for negative numbers");
    v.only_with("activation", {"leaky-relu"});
    v.text("coefficients", coefficients,
           "of activation polynomial (powers) or hermite (normalised Hermite polynomials), lowest "
           "first, as in 0,1,0.5");
    v.only_with("activation", {"polynomial", "hermite"});
  }
};

class Activation {
 public:
  /// Coefficients are checked here; they must be absent unless the activation takes some.
  explicit Activation(const ActivationOptions& options = {});

  bool is_relu() const { return kind_ == ActivationKind::relu; }
  /// dual(a) as a cosine again: what the next layer needs.
  Cosine dual(const Cosine& a) const;
  double derivative(const Cosine& a) const;

 private:
  ActivationKind kind_;
  double mix_ = 0;              // c of leaky-relu
  std::vector<double> series_;  // h_i^2, where there is no closed form
};

}  // namespace kerf::detail
