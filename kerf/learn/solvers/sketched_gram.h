// A preconditioner from a sketch of the rows, summed up in the same pass that makes the features.
//
//   S Z by OSNAP with 4 m rows and 8 nonzeros a column;  H = (S Zc)^T (S Zc),  R^T R = H + c I
//   Zc: the centred, weighted features (S Zc = S Z - (S sqrt w) s^T/n)
//
// Guarantee:  S keeps all lengths in the space of m columns within about 1 +- 1/2, hence
//             R^-T (Zc^T Zc + c I) R^-1 has a condition number near 9, whatever that of Z, and
//             conjugate gradients halve the error at each pass.
// Cost:       8 n m additions in the pass (8 reads of the rows where they are kept in memory), 4 m^3
//             flops for H, m^3/3 for a factor; 16 m^2 + 32 n bytes while rows come, 4 m^2 then, 8
//             m^2 for a factor.
// Reference:  Rokhlin & Tygert, "A fast randomized algorithm for overdetermined linear
// least-squares
//             regression", PNAS 2008; Nelson & Nguyen, "OSNAP", FOCS 2013.
// Differs:    H is factored after its sum in single precision: what rounding leaves indefinite is
//             lifted by a larger c, which costs passes, not exactness.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "kerf/learn/ridge/normal_equations.h"
#include "kerf/learn/rows/feature_cache.h"
#include "kerf/sketch/row_sketch.h"

namespace kerf::detail {

class SketchedGram {
 public:
  static constexpr Index kRowsPerFeature = 4, kNonzeros = 8;

  SketchedGram(Index features, rng::Key key);

  /// Takes the blocks of rows that a cache is filled with ...
  FeatureCache::Also as_they_come() {
    return [this](Index first, MatrixView<const float> z, WeightsView weights) {
      add(first, z, weights);
    };
  }
  /// ... or those that it keeps, if it has not shown them.
  void add_kept(const FeatureCache& cache);
  /// Rows number first, first + 1, ...: centred and weighted, with the roots of their weights.
  void add(Index first, MatrixView<const float> z, WeightsView weights);
  /// No more rows; `sum` is s, n the sum of the weights.  The sketch is freed.
  void finish(std::span<const double> sum, double n, Precision precision);

  /// R with R^T R = H + c I, or with the least larger c that rounding allows.
  Matrix<double> factor(double c) const;
  /// mean(diag H).
  double mean_diagonal() const;

  static Index bytes_while_adding(Index rows, Index features);
  static Index bytes(Index features, Index factors);

 private:
  /// S sqrt w.
  void add_weights(Index first, Index rows, WeightsView weights);

  Index features_;
  std::optional<RowOsnap> rows_, ones_;
  std::optional<NormalEquations> gram_;
};

}  // namespace kerf::detail
