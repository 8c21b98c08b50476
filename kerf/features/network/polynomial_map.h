// Features of a polynomial kernel with non-negative coefficients: low degrees exact, high ones
// sketched.
//
//   z(u) = [ sqrt(w_0), sqrt(w_1) Q_1(u), sqrt(w_2) Q_2(u), .. ],   E <z(u), z(v)> = P(<u, v>),
//   P(a) = sum_{j=0..p} w_j a^j, w_j >= 0
//   Q_j for j <= k: all monomials, exact (symmetric_powers.h), E_j = C(d+j-1, j) numbers;
//   Q_j for j > k:  m_j numbers of one sketch of all powers (power_sketch.h).
//   k and the m_j share out the M features so that the variance for orthogonal rows,
//   about sum_{j>k} w_j^2/m_j, is least: m_j ~ w_j, and k with the least
//   (sum_{j>k} w_j)^2 / (M - sum_{j<=k} E_j).  What is left over when every degree is exact stays
//   0.
//
// Error:      with s_j^2 of power_sketch.h for unit rows x = y, Var <= (sum_{j>k} w_j s_j)^2.
// Cost:       2 multiplications an exact feature; for each sketched degree a Hadamard transform of
//             d and one of at most 2 m_j numbers.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "kerf/sketch/power_sketch.h"
#include "kerf/sketch/symmetric_powers.h"

namespace kerf::detail {

/// How M features are shared out among the degrees.
struct PolynomialPlan {
  std::vector<double> weights;  ///< w_j
  Index exact = 0;              ///< k
  std::vector<Index> dims;      ///< features of degree j: 1, E_j or m_j; 0 where w_j = 0

  Index exact_features() const;
  /// The m_j of PowerSketch: from degree 1, 0 where a degree is exact or absent.
  std::vector<Index> sketched_dims() const;
  /// sum_{j>k} w_j s_j for unit rows x = y: a bound on the standard deviation.
  double deviation() const;
  /// Memory of a map of this plan.
  Index bytes(Index dim) const;
};

/// As above; no degree beyond `max_exact` is exact.  There must be a feature for each w_j > 0.
PolynomialPlan plan_polynomial(Index dim, const std::vector<double>& weights, Index features,
                               Index max_exact);

class PolynomialMap {
 public:
  PolynomialMap(Index dim, const PolynomialPlan& plan, Index features, rng::Key key);

  Index out_dim() const { return features_; }
  /// out(i, :) = z(u_i), on the calling thread inside a parallel_for.
  void apply(const RowsView& u, MatrixView<float> out) const;

 private:
  PolynomialPlan plan_;
  Index features_;
  SymmetricPowers monomials_;
  std::optional<PowerSketch> powers_;
};

}  // namespace kerf::detail
