// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/ntk_poly_features.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kerf/core/require.h"
#include "kerf/features/unit_rows.h"
#include "kerf/transforms/walsh_hadamard.h"

namespace kerf {
namespace {

using Plan = NtkPolyFeatures::Plan;

std::size_t at(Index j) { return static_cast<std::size_t>(j); }

double diagonal(const NtkPolyOptions& options) {
  const Activation activation(options.activation);
  return options.kernel == NetworkKernel::nngp
             ? 1
             : ntk_of_cosine(Cosine::of(1), options.depth, activation);
}

/// m_j ~ w_j, at least one each, `features` in all.
void share_out(Index features, const std::vector<double>& weights, Index first,
               std::vector<Index>& dims) {
  double sum = 0;
  Index rest = features, largest = -1;
  for (Index j = first; j < static_cast<Index>(weights.size()); ++j) {
    if (weights[at(j)] == 0) continue;
    sum += weights[at(j)];
    --rest;
    if (largest < 0 || weights[at(j)] > weights[at(largest)]) largest = j;
  }
  if (largest < 0) return;
  Index given = 0;
  for (Index j = first; j < static_cast<Index>(weights.size()); ++j) {
    if (weights[at(j)] == 0) continue;
    const auto more = static_cast<Index>(static_cast<double>(rest) * weights[at(j)] / sum);
    dims[at(j)] = 1 + more;
    given += more;
  }
  dims[at(largest)] += rest - given;
}

/// Degrees above k, for PowerSketch: from degree 1, 0 where a degree is exact or absent.
std::vector<Index> sketched_dims(const Plan& plan) {
  std::vector<Index> dims(plan.dims.begin() + 1, plan.dims.end());
  for (Index j = 1; j <= plan.exact && j <= static_cast<Index>(dims.size()); ++j)
    dims[at(j - 1)] = 0;
  while (!dims.empty() && dims.back() == 0) dims.pop_back();
  return dims;
}

void multiply(std::span<float> z, double factor) {
  const auto f = static_cast<float>(factor);
  for (float& v : z) v *= f;
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

Plan NtkPolyFeatures::plan(Index dim, const std::vector<double>& weights, Index features,
                           Index max_exact) {
  const auto degree = static_cast<Index>(weights.size()) - 1;
  Plan best{weights, 0, std::vector<Index>(weights.size(), 0)};
  std::vector<Index> exact_dims(weights.size(), 0);
  double sketched = std::accumulate(weights.begin(), weights.end(), 0.0), least = INFINITY;
  auto left = static_cast<Index>(weights.size()) - std::ranges::count(weights, 0.0);
  Index used = 0;
  for (Index k = 0; k <= std::min(degree, max_exact); ++k) {
    if (weights[at(k)] > 0) {
      exact_dims[at(k)] = SymmetricPowers::dimension(dim, k, features + 1);
      used += exact_dims[at(k)];
      sketched -= weights[at(k)];
      --left;
    }
    if (used + left > features) break;
    const double variance =
        left == 0 ? 0 : sketched * sketched / static_cast<double>(features - used);
    if (variance >= least) continue;
    least = variance;
    best.exact = k;
    best.dims = exact_dims;
    share_out(features - used, weights, k + 1, best.dims);
  }
  return best;
}

NtkPolyFeatures::NtkPolyFeatures(Index in_dim, const Options& options, rng::Key key)
    : FeatureMap(in_dim, options.features),
      bias_(resolved(options.bias, kOwner, "bias")),
      plan_(plan(direction_dim(in_dim, bias_), fit(options).weights, options.features,
                 options.degree)),
      monomials_(direction_dim(in_dim, bias_), plan_.exact) {
  for (Index j = 0; j <= plan_.exact; ++j) exact_features_ += plan_.dims[at(j)];
  const auto dims = sketched_dims(plan_);
  if (!dims.empty()) powers_.emplace(direction_dim(in_dim, bias_), dims, key.child("powers"));
}

std::unique_ptr<Kernel> NtkPolyFeatures::kernel(const Options& options) {
  NtkOptions kernel{options.depth, options.bias, options.activation};
  return find_kernel(kNetworkKernelNames[static_cast<int>(options.kernel)])
      .make(write_options(kernel));
}

double NtkPolyFeatures::relative_variance(const Options& options) {
  const PolynomialFit polynomial = fit(options);
  const Plan made = plan(2, polynomial.weights, options.features, 0);
  const auto dims = sketched_dims(made);
  double deviation = 0;
  for (Index j = 1; j <= static_cast<Index>(dims.size()); ++j)
    if (dims[at(j - 1)] > 0)
      deviation += made.weights[at(j)] * std::sqrt(power_sketch_variance(dims, j, 1, true));
  return std::pow(deviation / diagonal(options), 2);
}

double NtkPolyFeatures::relative_bias(const Options& options) {
  return fit(options).sup_error / diagonal(options);
}

Index NtkPolyFeatures::bytes(Index in_dim, const Options& options) {
  const Index dim = direction_dim(in_dim, options.bias.value_or(1));
  const Plan made = plan(dim, fit(options).weights, options.features, options.degree);
  Index bytes = 0;
  for (Index j = 0; j < static_cast<Index>(made.dims.size()); ++j) {
    const Index m = made.dims[at(j)];
    // Monomials: a factor each.  Sketches: signs of the row, signs and places of the sample, or the
    // hash of a long row.
    bytes += 4 * m;
    if (j > made.exact) bytes += 24 * m + 2 * (4 * dim + 8 * 4 * dim);
  }
  return bytes;
}

void NtkPolyFeatures::transform_rows(const RowsView& x, MatrixView<float> out) const {
  thread_local UnitRows unit;
  unit.assign(x, bias_);
  const RowsView u = unit.view();
  const Index rest = powers_ ? powers_->out_dim() : 0;
  if (powers_) powers_->apply(u, {out.data + exact_features_, out.rows, rest, out.stride});
  std::vector<float> spread, scales(at(plan_.exact));
  std::vector<std::span<float>> parts(at(plan_.exact));
  for (Index i = 0; i < x.rows(); ++i) {
    const std::span<float> z = out.row(i);
    const auto part = [&](Index& first, Index j) {
      const auto found = z.subspan(at(first), at(plan_.dims[at(j)]));
      first += plan_.dims[at(j)];
      return found;
    };
    const auto factor = [&](Index j) { return unit.norm(i) * std::sqrt(plan_.weights[at(j)]); };
    Index first = 0;
    if (plan_.weights[0] > 0) z[0] = static_cast<float>(factor(0));
    part(first, 0);
    for (Index j = 1; j <= plan_.exact; ++j) {
      scales[at(j - 1)] = static_cast<float>(factor(j));
      parts[at(j - 1)] = part(first, j);
    }
    monomials_.apply(dense_row(u, i, spread), scales, parts);
    for (Index j = plan_.exact + 1; j < static_cast<Index>(plan_.dims.size()); ++j)
      multiply(part(first, j), factor(j));
    std::ranges::fill(z.subspan(at(first)), 0.0f);
  }
}

}  // namespace kerf
