// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/skeleton/skeleton_draw.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/interrupt.h"

namespace kerf::detail {
namespace {

constexpr Index kDrawsAColumn = 1000;

/// Random numbers of one draw, in the order in which the recursion asks for them.
class Stream {
 public:
  Stream(rng::Key key, std::uint64_t draw) : key_(key), draw_(draw) {}

  /// In [0, 1), 53 bits.
  double uniform() {
    if (left_ == 0) {
      bits_ = rng::bits(key_, draw_, step_++);
      left_ = 2;
    }
    --left_;
    const std::uint64_t high = bits_[2 * left_], low = bits_[2 * left_ + 1];
    return static_cast<double>((high << 21) ^ (low >> 11)) * 0x1p-53;
  }
  Index below(Index count) {
    return std::min(static_cast<Index>(uniform() * static_cast<double>(count)), count - 1);
  }
  bool toss() { return uniform() < 0.5; }
  double normal() {
    // Box-Muller; 1 - u is never 0.
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  rng::Key key_;
  std::uint64_t draw_, step_ = 0;
  std::array<std::uint32_t, 4> bits_ = {};
  std::size_t left_ = 0;
};

struct Factor {
  std::uint32_t atom;
  std::int32_t exponent;
  bool operator==(const Factor&) const = default;
};

/// One product.
struct Product {
  std::vector<Factor> factors;
  std::vector<std::uint32_t> number;
  std::vector<float> coefficient;
  Index base_factors = 0;

  void clear() {
    factors.clear();
    number.clear();
    coefficient.clear();
    base_factors = 0;
  }
};

/// The skeleton as flat arrays, and the recursion.
class Sampler {
 public:
  Sampler(const Skeleton& skeleton, const DrawOptions& options);

  const std::vector<SkeletonAtom>& atoms() const { return atoms_; }
  void draw(Stream& stream, Product& product) const {
    product.clear();
    visit(static_cast<Index>(nodes_.size()) - 1, stream, product);
    if (product.number.empty())
      make_canonical(product);
    else  // never merged, so in any order, but phases first: skeleton_columns() relies on it
      std::stable_partition(product.factors.begin(), product.factors.end(),
                            [&](const Factor& f) { return is_phase(f.atom); });
  }
  bool is_phase(std::uint32_t atom) const { return atom < phases_; }

 private:
  void visit(Index node, Stream& stream, Product& product) const;
  void visit_input(Index node, Stream& stream, Product& product) const;
  void fourier(Index node, Stream& stream, Product& product) const;
  void make_canonical(Product& product) const;
  void add_atoms(bool phases, SphereForm sphere);
  /// Whether a node is a Gaussian kernel of points on circles.
  bool over_circles(const SkeletonNode& node) const;

  const std::vector<SkeletonNode>& nodes_;
  Index columns_;
  SphereForm sphere_;
  std::vector<SkeletonAtom> atoms_;
  std::uint32_t phases_ = 0;
  std::vector<std::uint32_t> phase_, real_;  // first atom of each input node
  std::vector<std::int32_t> period_;         // of each phase's exponent; 0: none
  std::vector<bool> fourier_;                // nodes of the hybrid
};

Sampler::Sampler(const Skeleton& skeleton, const DrawOptions& options)
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

bool Sampler::over_circles(const SkeletonNode& node) const {
  const bool circles = std::ranges::all_of(node.in, [&](Index from) {
    const SkeletonNode& input = nodes_[from];
    return input.is_input && input.base.kind == BaseKind::circle;
  });
  return circles && node.activation.text().starts_with("exp ") && node.activation.last_degree() < 0;
}

void Sampler::add_atoms(bool phases, SphereForm sphere) {
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

void Sampler::visit(Index number, Stream& stream, Product& product) const {
  const SkeletonNode& node = nodes_[number];
  if (node.is_input) return visit_input(number, stream, product);
  if (fourier_[number]) return fourier(number, stream, product);
  const Index degree = node.activation.degree(stream.uniform());
  for (Index k = 0; k < degree; ++k)
    visit(node.in[stream.below(static_cast<Index>(node.in.size()))], stream, product);
}

void Sampler::visit_input(Index number, Stream& stream, Product& product) const {
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
void Sampler::fourier(Index number, Stream& stream, Product& product) const {
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
void Sampler::make_canonical(Product& product) const {
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

/// Features by their integers: open addressing.
class FeatureIndex {
 public:
  explicit FeatureIndex(Index columns) {
    std::size_t size = 64;
    while (size < 2 * static_cast<std::size_t>(columns)) size *= 2;
    slots_.assign(size, 0);
  }

  /// The column that holds this product, or where its number should go (0 so far).
  std::uint32_t& find(const SkeletonTable& table, const Product& product, ColumnKind kind) {
    std::uint64_t hash = static_cast<std::uint64_t>(kind) + 0x9E3779B97F4A7C15;
    for (const Factor& factor : product.factors) {
      hash ^= (std::uint64_t{factor.atom} << 32) | static_cast<std::uint32_t>(factor.exponent);
      hash *= 0xD6E8FEB86659FD93;
      hash ^= hash >> 32;
    }
    for (std::size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1))
      if (slots_[at] == 0 || same(table, slots_[at] - 1, product, kind)) return slots_[at];
  }

 private:
  static bool same(const SkeletonTable& table, std::size_t column, const Product& product,
                   ColumnKind kind) {
    const std::size_t begin = table.first_factor[column], end = table.first_factor[column + 1];
    if (table.kind[column] != kind || end - begin != product.factors.size()) return false;
    if (table.first_term[column] != table.first_term[column + 1]) return false;
    for (std::size_t k = begin; k < end; ++k)
      if (product.factors[k - begin] != Factor{table.atom[k], table.exponent[k]}) return false;
    return true;
  }
  std::vector<std::uint32_t> slots_;  // column + 1
};

void push_column(SkeletonTable& table, const Product& product, ColumnKind kind) {
  for (const Factor& factor : product.factors) {
    table.atom.push_back(factor.atom);
    table.exponent.push_back(factor.exponent);
  }
  table.number.insert(table.number.end(), product.number.begin(), product.number.end());
  table.coefficient.insert(table.coefficient.end(), product.coefficient.begin(),
                           product.coefficient.end());
  KERF_REQUIRE(table.atom.size() < 0xFFFFFFFF && table.number.size() < 0xFFFFFFFF, memory,
               "the features have more than 2^32 factors: take fewer {}", spell("features"));
  table.first_factor.push_back(static_cast<std::uint32_t>(table.atom.size()));
  table.first_term.push_back(static_cast<std::uint32_t>(table.number.size()));
  table.kind.push_back(kind);
  table.weight.push_back(0);
}

}  // namespace

Index SkeletonTable::bytes() const {
  const auto size = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  return static_cast<Index>(size(atoms) + size(first_factor) + size(first_term) + size(atom) +
                            size(exponent) + size(number) + size(coefficient) + size(weight) +
                            size(kind));
}

SkeletonTable draw_skeleton(const Skeleton& skeleton, const DrawOptions& options, rng::Key key) {
  KERF_REQUIRE(options.form == RealForm::phase || options.columns >= 2, usage,
               "{} needs at least 2 {}: a cosine and a sine", spell("real-form", "pair"),
               spell("features"));
  const Sampler sampler(skeleton, options);
  SkeletonTable table;
  table.atoms = sampler.atoms();
  FeatureIndex known(options.columns);
  std::vector<Index> counts;  // of the first column of each feature
  Product product;
  double base_factors = 0;
  const Index most = options.columns * kDrawsAColumn;
  for (; table.draws < most; ++table.draws) {
    poll_interrupt();
    Stream stream(key, static_cast<std::uint64_t>(table.draws));
    sampler.draw(stream, product);
    const bool is_real = product.number.empty() &&
                         (product.factors.empty() || !sampler.is_phase(product.factors[0].atom));
    const bool pair = options.form == RealForm::pair && !is_real;
    const ColumnKind kind = is_real         ? ColumnKind::real
                            : pair          ? ColumnKind::cosine
                            : stream.toss() ? ColumnKind::cosine
                                            : ColumnKind::sine;
    std::uint32_t nothing = 0;
    const bool may_merge = options.deduplicate && product.number.empty();
    std::uint32_t& column = may_merge ? known.find(table, product, kind) : nothing;
    if (column > 0) {
      ++counts[column - 1];
    } else {
      if (table.columns() + (pair ? 2 : 1) > options.columns) break;
      push_column(table, product, kind);
      counts.push_back(1);
      column = static_cast<std::uint32_t>(table.columns());
      if (pair) {
        push_column(table, product, ColumnKind::sine);
        counts.push_back(0);
      }
    }
    base_factors += static_cast<double>(product.base_factors);
  }
  for (std::size_t j = 0; j < counts.size(); ++j) {
    const bool second = options.form == RealForm::pair && table.kind[j] == ColumnKind::sine;
    const auto count = static_cast<double>(counts[second ? j - 1 : j]);
    const bool both = options.form == RealForm::pair || table.kind[j] == ColumnKind::real;
    table.weight[j] = static_cast<float>(
        std::sqrt((both ? 1.0 : 2.0) * count / static_cast<double>(table.draws)));
  }
  table.base_factors = table.draws > 0 ? base_factors / static_cast<double>(table.draws) : 0;
  return table;
}

std::string describe_feature(const SkeletonTable& table, const Skeleton& skeleton, Index j) {
  const auto column = static_cast<std::size_t>(j);
  std::string real, phase;
  for (std::size_t k = table.first_factor[column]; k < table.first_factor[column + 1]; ++k) {
    const SkeletonAtom& atom = table.atoms[table.atom[k]];
    const BaseSpace& base = skeleton.nodes()[atom.node].base;
    const auto place = static_cast<std::size_t>(std::max<Index>(0, atom.position));
    const Index input = base.columns[place];
    const std::int32_t e = table.exponent[k];
    if (atom.is_phase()) {
      const char* name = atom.kind == SkeletonAtom::Kind::circle     ? "x"
                         : atom.kind == SkeletonAtom::Kind::category ? "class "
                                                                     : "angle ";
      phase += fmt::format("{}{}{}[{}]", e < 0 ? " - " : (phase.empty() ? "" : " + "),
                           std::abs(e) == 1 ? "" : fmt::format("{} ", std::abs(e)), name, input);
    } else {
      const char* name = atom.kind == SkeletonAtom::Kind::sign            ? "sign"
                         : atom.kind == SkeletonAtom::Kind::sphere_radius ? "radius"
                                                                          : "u";
      real += fmt::format("{}[{}]{} ", name, input, e == 1 ? "" : fmt::format("^{}", e));
    }
  }
  const std::size_t terms = table.first_term[column + 1] - table.first_term[column];
  if (terms > 0) phase += fmt::format("{}<w, {} numbers>", phase.empty() ? "" : " + ", terms);
  const ColumnKind kind = table.kind[column];
  const std::string wave = kind == ColumnKind::real     ? ""
                           : kind == ColumnKind::cosine ? "cos(" + phase + ")"
                                                        : "-sin(" + phase + ")";
  const std::string product = real + wave;
  return fmt::format("{:.6g} {}", table.weight[column], product.empty() ? "1" : product);
}

}  // namespace kerf::detail
