// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/skeleton/skeleton_draw.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/interrupt.h"
#include "kerf/features/skeleton/skeleton_sampler.h"

namespace kerf::detail {
namespace {

using Factor = SkeletonProduct::Factor;

constexpr Index kDrawsAColumn = 1000;

/// Features by their integers: open addressing.
class FeatureIndex {
 public:
  explicit FeatureIndex(Index columns) {
    std::size_t size = 64;
    while (size < 2 * static_cast<std::size_t>(columns)) size *= 2;
    slots_.assign(size, 0);
  }

  /// The column that holds this product, or where its number should go (0 so far).
  std::uint32_t& find(const SkeletonTable& table, const SkeletonProduct& product, ColumnKind kind) {
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
  static bool same(const SkeletonTable& table, std::size_t column, const SkeletonProduct& product,
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

void push_column(SkeletonTable& table, const SkeletonProduct& product, ColumnKind kind) {
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
  const SkeletonSampler sampler(skeleton, options);
  SkeletonTable table;
  table.atoms = sampler.atoms();
  FeatureIndex known(options.columns);
  std::vector<Index> counts;  // of the first column of each feature
  SkeletonProduct product;
  double base_factors = 0;
  const Index most = options.columns * kDrawsAColumn;
  for (; table.draws < most; ++table.draws) {
    poll_interrupt();
    DrawStream stream(key, static_cast<std::uint64_t>(table.draws));
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
