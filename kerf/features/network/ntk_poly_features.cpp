// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/network/ntk_poly_features.h"

#include <algorithm>
#include <cmath>

#include "kerf/features/unit_rows.h"

namespace kerf::detail {
namespace {

double diagonal(const NtkPolyOptions& options) {
  const Activation activation(options.activation);
  return options.kernel == NetworkKernel::nngp
             ? 1
             : ntk_of_cosine(Cosine::of(1), options.depth, activation);
}

PolynomialPlan plan_of(Index in_dim, const NtkPolyOptions& options) {
  return plan_polynomial(direction_dim(in_dim, options.bias.value_or(1)),
                         NtkPolyFeatures::fit(options).weights, options.features, options.degree);
}

}  // namespace

PolynomialFit NtkPolyFeatures::fit(const Options& options) {
  const Activation activation(options.activation);
  const bool ntk = options.kernel == NetworkKernel::ntk;
  const auto function = [&](const Cosine& a) {
    return ntk ? ntk_of_cosine(a, options.depth, activation)
               : nngp_of_cosine(a, options.depth, activation);
  };
  for (Index degree = options.degree;; --degree) {
    auto fit = fit_polynomial(function, degree);
    const auto zeros = std::ranges::count(fit.weights, 0.0);
    if (degree == 0 || degree + 1 - zeros <= options.features) return fit;
  }
}

NtkPolyFeatures::NtkPolyFeatures(Index in_dim, const Options& options, rng::Key key)
    : FeatureMap(in_dim, options.features),
      bias_(resolved(options.bias, kOwner, "bias")),
      map_(direction_dim(in_dim, bias_), plan_of(in_dim, options), options.features,
           key.child("powers")) {}

std::unique_ptr<Kernel> NtkPolyFeatures::kernel(const Options& options) {
  NtkOptions kernel{options.depth, options.bias, options.activation};
  return find_kernel(name_of(options.kernel)).make(write_options(kernel));
}

double NtkPolyFeatures::relative_variance(const Options& options) {
  const auto plan = plan_polynomial(2, fit(options).weights, options.features, 0);
  return std::pow(plan.deviation() / diagonal(options), 2);
}

double NtkPolyFeatures::relative_bias(const Options& options) {
  return fit(options).sup_error / diagonal(options);
}

Index NtkPolyFeatures::bytes(Index in_dim, const Options& options) {
  return plan_of(in_dim, options).bytes(in_dim + 1);
}

void NtkPolyFeatures::transform_rows(const RowsView& x, MatrixView<float> out) const {
  thread_local UnitRows unit;
  unit.assign(x, bias_);
  map_.apply(unit.view(), out);
  for (Index i = 0; i < x.rows(); ++i) {
    const auto norm = static_cast<float>(unit.norm(i));
    for (float& z : out.row(i)) z *= norm;
  }
}

}  // namespace kerf::detail
