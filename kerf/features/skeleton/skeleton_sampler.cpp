// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/skeleton/skeleton_sampler.h"

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"

namespace kerf::detail {

using Factor = SkeletonProduct::Factor;

SkeletonSampler::SkeletonSampler(const Skeleton& skeleton, const DrawOptions& options)
    : nodes_(skeleton.nodes()),
      columns_(skeleton.columns()),
      sphere_(options.sphere),
      phase_(nodes_.size()),
      real_(nodes_.size()),
      fourier_(nodes_.size(), false) {
  add_atoms(true, options.sphere);
  phases_ = static_cast<std::uint32_t>(atoms_.size());
  add_atoms(false, options.sphere);
  if (!options.hybrid) return;
  bool any = false;
  for (std::size_t v = 0; v < nodes_.size(); ++v)
    any |= fourier_[v] = !nodes_[v].is_input && over_circles(nodes_[v]);
  KERF_REQUIRE(any, usage, "{} needs a node with activation exp over circles: none is there",
               spell_on("hybrid"));
}

void SkeletonSampler::draw(DrawStream& stream, SkeletonProduct& product) const {
  product.clear();
  visit(static_cast<Index>(nodes_.size()) - 1, stream, product);
  if (product.number.empty())
    make_canonical(product);
  else  // never merged, so in any order, but phases first: skeleton_columns() relies on it
    std::stable_partition(product.factors.begin(), product.factors.end(),
                          [&](const Factor& f) { return is_phase(f.atom); });
}
bool SkeletonSampler::over_circles(const SkeletonNode& node) const {
  const bool circles = std::ranges::all_of(node.in, [&](Index from) {
    const SkeletonNode& input = nodes_[from];
    return input.is_input && input.base.kind == BaseKind::circle;
  });
  return circles && node.activation.text().starts_with("exp ") && node.activation.last_degree() < 0;
}

void SkeletonSampler::add_atoms(bool phases, SphereForm sphere) {
  using Kind = SkeletonAtom::Kind;
  for (std::size_t v = 0; v < nodes_.size(); ++v) {
    if (!nodes_[v].is_input) continue;
    const auto next = static_cast<std::uint32_t>(atoms_.size());
    (phases ? phase_ : real_)[v] = next;
    const BaseSpace& base = nodes_[v].base;
    const auto add = [&](Kind kind, Index position = 0, std::int32_t period = 0) {
      const SkeletonAtom atom{kind, static_cast<Index>(v), position};
      if (atom.is_phase() != phases) return;
      atoms_.push_back(atom);
      period_.push_back(period);
    };
    const auto size = static_cast<Index>(base.columns.size());
    if (base.kind == BaseKind::circle) add(Kind::circle);
    if (base.kind == BaseKind::sign) add(Kind::sign);
    if (base.kind == BaseKind::categorical)
      add(Kind::category, 0, static_cast<std::int32_t>(size > 1 ? size : base.levels));
    // Unknown classes have length 0, which is a real factor.
    if (base.kind == BaseKind::categorical && size > 1) add(Kind::sphere_radius, -1);
    if (base.kind != BaseKind::sphere) continue;
    for (Index j = 0; j < size; ++j) {
      if (sphere == SphereForm::coordinate) add(Kind::sphere_coordinate, j);
      if (sphere == SphereForm::pair) add(Kind::sphere_angle, j);
      if (sphere == SphereForm::pair) add(Kind::sphere_radius, j);
    }
  }
}

void SkeletonSampler::visit(Index number, DrawStream& stream, SkeletonProduct& product) const {
  const SkeletonNode& node = nodes_[number];
  if (node.is_input) return visit_input(number, stream, product);
  if (fourier_[number]) return fourier(number, stream, product);
  const Index degree = node.activation.degree(stream.uniform());
  for (Index k = 0; k < degree; ++k)
    visit(node.in[stream.below(static_cast<Index>(node.in.size()))], stream, product);
}

void SkeletonSampler::visit_input(Index number, DrawStream& stream,
                                  SkeletonProduct& product) const {
  const auto v = static_cast<std::size_t>(number);
  const BaseSpace& base = nodes_[v].base;
  const auto size = static_cast<Index>(base.columns.size());
  ++product.base_factors;
  switch (base.kind) {
    case BaseKind::sign:
      product.factors.push_back({real_[v], 1});
      return;
    case BaseKind::circle:
      product.factors.push_back({phase_[v], stream.toss() ? 1 : -1});
      return;
    case BaseKind::categorical: {
      const Index levels = size > 1 ? size : base.levels;
      product.factors.push_back({phase_[v], static_cast<std::int32_t>(stream.below(levels))});
      if (size > 1) product.factors.push_back({real_[v], 1});
      return;
    }
    case BaseKind::sphere: {
      const auto j = static_cast<std::uint32_t>(stream.below(size));
      product.factors.push_back({real_[v] + j, 1});
      if (sphere_ == SphereForm::pair)
        product.factors.push_back({phase_[v] + j, stream.toss() ? 1 : -1});
      return;
    }
    case BaseKind::gaussian:
      break;
  }
  std::vector<double> w(size);
  for (double& value : w) value = stream.normal();
  for (std::size_t k = 0; k < w.size(); ++k) {
    double value = base.scale * w[k];
    if (!base.factor.empty()) {
      value = 0;  // L w
      for (std::size_t j = 0; j < w.size(); ++j) value += base.factor[k][j] * w[j];
    }
    product.number.push_back(static_cast<std::uint32_t>(base.columns[k]));
    product.coefficient.push_back(static_cast<float>(value / (2 * std::numbers::pi)));
  }
}

/// exp(A (mean cos - 1)) = exp(-s^2 |z - z'|^2 / 2) for points z on n circles, s^2 = A / n.
void SkeletonSampler::fourier(Index number, DrawStream& stream, SkeletonProduct& product) const {
  const SkeletonNode& node = nodes_[number];
  const double scale =
      std::sqrt(node.activation.mean_degree() / static_cast<double>(node.in.size())) /
      (2 * std::numbers::pi);
  product.base_factors += 2 * static_cast<Index>(node.in.size());
  for (const Index from : node.in)
    for (const std::uint32_t part : {0u, phases_}) {
      product.number.push_back(static_cast<std::uint32_t>(columns_) + part + phase_[from]);
      product.coefficient.push_back(static_cast<float>(scale * stream.normal()));
    }
}

/// Ascending atoms, each once; the sign of the phases such that conjugates are equal.
void SkeletonSampler::make_canonical(SkeletonProduct& product) const {
  auto& factors = product.factors;
  std::ranges::sort(factors, {}, &Factor::atom);
  std::size_t kept = 0;
  for (std::size_t k = 0; k < factors.size();) {
    Factor sum{factors[k].atom, 0};
    for (; k < factors.size() && factors[k].atom == sum.atom; ++k)
      sum.exponent += factors[k].exponent;
    if (atoms_[sum.atom].kind == SkeletonAtom::Kind::sign) sum.exponent %= 2;
    if (sum.exponent != 0) factors[kept++] = sum;
  }
  factors.resize(kept);
  // Exponents modulo their period, in (-period/2, period/2].
  const auto reduced = [&](std::uint32_t atom, std::int32_t exponent) {
    const std::int32_t period = period_[atom];
    if (period == 0) return exponent;
    exponent = (exponent % period + period) % period;
    return 2 * exponent > period ? exponent - period : exponent;
  };
  for (Factor& factor : factors) factor.exponent = reduced(factor.atom, factor.exponent);
  std::erase_if(factors, [](const Factor& factor) { return factor.exponent == 0; });
  // Of the two conjugates the one whose first exponent that differs is larger.
  for (const Factor& factor : factors) {
    if (!is_phase(factor.atom)) break;
    const std::int32_t other = reduced(factor.atom, -factor.exponent);
    if (other == factor.exponent) continue;
    if (other > factor.exponent)
      for (Factor& each : factors)
        if (is_phase(each.atom)) each.exponent = reduced(each.atom, -each.exponent);
    break;
  }
}

}  // namespace kerf::detail
