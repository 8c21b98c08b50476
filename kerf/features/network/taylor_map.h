// Features of the Taylor series of kappa0 and kappa1, cut off at a degree: a layer of the sketches
// of tangent kernels.
//
//   E <z(u), z(v)> = P(<u, v>),   P(a) = sum_{j<=p} w_j a^j
//   powers chain: polynomial_map.h, exact in low degrees where that pays.  polysketch: as
//   published, all degrees of one padded PolySketch (poly_sketch.h) into M numbers each, then an
//   SRHT of them all into M.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/names.h"
#include "kerf/core/options.h"
#include "kerf/features/network/polynomial_map.h"
#include "kerf/sketch/poly_sketch.h"
#include "kerf/sketch/srht.h"

namespace kerf::detail {

enum class PowersKind { chain, polysketch };
constexpr auto names_of(PowersKind) { return std::array{"chain", "polysketch"}; }

/// Options of maps that sketch a network layer by layer through these series.
struct SeriesOptions {
  Index degree = 8;
  Index step_degree = 7;
  PowersKind powers = PowersKind::chain;
  bool renormalise = true;

  void describe(OptionVisitor& v) {
    v.integer("degree", degree, {0, 64}, "degree of the series of a layer's covariance");
    v.integer("step-degree", step_degree, {0, 64}, "degree of the series of its derivative");
    v.choice("powers", powers, "how powers are sketched: chain, or polysketch as published");
    v.flag("renormalise", renormalise, "scale every layer to the length it estimates");
  }
};

/// Coefficients 0 .. degree of kappa1 (order 1) or kappa0 (order 0), the rest added to the highest;
/// of a lower degree if more than `terms` of them would not be 0.
std::vector<double> truncated_series(Index order, Index degree, Index terms);
/// P(a).
double series_value(const std::vector<double>& series, double a);

class TaylorMap {
 public:
  TaylorMap(Index dim, const std::vector<double>& weights, Index out_dim, PowersKind kind,
            rng::Key key);
  Index out_dim() const { return out_dim_; }
  /// Rows of length 1, on the calling thread inside a parallel_for.
  void apply(const RowsView& u, MatrixView<float> out) const;

 private:
  Index out_dim_;
  std::vector<double> weights_;
  std::optional<PolynomialMap> chain_;
  std::optional<PolySketch> tree_;
  std::optional<Srht> compress_;
};

}  // namespace kerf::detail
