// One draw of Algorithm 1 (skeleton_draw.h): the recursion through a skeleton, and its product in
// canonical form.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "kerf/core/random/random.h"
#include "kerf/features/skeleton/skeleton_draw.h"

namespace kerf::detail {

/// Random numbers of one draw, in the order in which the recursion asks for them.
class DrawStream {
 public:
  DrawStream(rng::Key key, std::uint64_t draw) : key_(key), draw_(draw) {}

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

/// One product.
struct SkeletonProduct {
  /// A power of an atom.
  struct Factor {
    std::uint32_t atom;
    std::int32_t exponent;
    bool operator==(const Factor&) const = default;
  };
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
class SkeletonSampler {
 public:
  SkeletonSampler(const Skeleton& skeleton, const DrawOptions& options);

  const std::vector<SkeletonAtom>& atoms() const { return atoms_; }
  /// One product, canonical.
  void draw(DrawStream& stream, SkeletonProduct& product) const;
  bool is_phase(std::uint32_t atom) const { return atom < phases_; }

 private:
  void visit(Index node, DrawStream& stream, SkeletonProduct& product) const;
  void visit_input(Index node, DrawStream& stream, SkeletonProduct& product) const;
  void fourier(Index node, DrawStream& stream, SkeletonProduct& product) const;
  void make_canonical(SkeletonProduct& product) const;
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

}  // namespace kerf::detail
