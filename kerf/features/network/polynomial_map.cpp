// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/network/polynomial_map.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kerf/core/rows/matrix.h"
#include "kerf/sketch/sketch.h"

namespace kerf::detail {
namespace {

std::size_t at(Index j) { return static_cast<std::size_t>(j); }

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

}  // namespace

Index PolynomialPlan::exact_features() const {
  return std::accumulate(dims.begin(), dims.begin() + exact + 1, Index{0});
}

std::vector<Index> PolynomialPlan::sketched_dims() const {
  std::vector<Index> found(dims.begin() + 1, dims.end());
  for (Index j = 1; j <= exact; ++j) found[at(j - 1)] = 0;
  while (!found.empty() && found.back() == 0) found.pop_back();
  return found;
}

double PolynomialPlan::deviation() const {
  const auto sketched = sketched_dims();
  double sum = 0;
  for (Index j = 1; j <= static_cast<Index>(sketched.size()); ++j)
    if (sketched[at(j - 1)] > 0)
      sum += weights[at(j)] * std::sqrt(power_sketch_variance(sketched, j, 1, true));
  return sum;
}

Index PolynomialPlan::bytes(Index dim) const {
  Index sum = 0;
  for (Index j = 0; j < static_cast<Index>(dims.size()); ++j) {
    // Monomials: a factor each.  Sketches: signs of the row, signs and places of the sample, or the
    // hash of a long row.
    sum += 4 * dims[at(j)];
    if (j > exact) sum += 24 * dims[at(j)] + 2 * (4 * dim + 8 * 4 * dim);
  }
  return sum;
}

PolynomialPlan plan_polynomial(Index dim, const std::vector<double>& weights, Index features,
                               Index max_exact) {
  const auto degree = static_cast<Index>(weights.size()) - 1;
  PolynomialPlan best{weights, 0, std::vector<Index>(weights.size(), 0)};
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

PolynomialMap::PolynomialMap(Index dim, const PolynomialPlan& plan, Index features, rng::Key key)
    : plan_(plan), features_(features), monomials_(dim, plan.exact) {
  const auto dims = plan.sketched_dims();
  if (!dims.empty()) powers_.emplace(dim, dims, key);
}

void PolynomialMap::apply(const RowsView& u, MatrixView<float> out) const {
  const Index exact = plan_.exact_features();
  if (powers_) powers_->apply(u, out.columns(exact, exact + powers_->out_dim()));
  std::vector<float> spread, roots;
  for (const double w : plan_.weights) roots.push_back(static_cast<float>(std::sqrt(w)));
  std::vector<std::span<float>> parts(plan_.dims.size());
  for (Index i = 0; i < u.rows(); ++i) {
    std::span<float> rest = out.row(i);
    for (std::size_t j = 0; j < parts.size(); ++j) {
      parts[j] = rest.first(at(plan_.dims[j]));
      rest = rest.subspan(at(plan_.dims[j]));
    }
    std::ranges::fill(rest, 0.0f);
    std::ranges::fill(parts[0], roots[0]);
    if (plan_.exact > 0)
      monomials_.apply(dense_row(u, i, spread), std::span(roots).subspan(1),
                       std::span(parts).subspan(1));
    for (std::size_t j = at(plan_.exact) + 1; j < parts.size(); ++j)
      for (float& z : parts[j]) z *= roots[j];
  }
}

}  // namespace kerf::detail
