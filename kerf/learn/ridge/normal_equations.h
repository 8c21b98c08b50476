// Sums over rows from which ridge regression is solved, added block by block: memory O(m^2), no n.
//
//   G = sum_i w_i (z_i - c)(z_i - c)^T    C = sum_i w_i (z_i - c)(y_i - d)^T    s = sum_i w_i (z_i
//   - c) and sum w_i, sum w_i (y_i - d), sum w_i (y_i - d)^2        z_i: features, y_i: targets,
//   w_i: weights
//
// c and d are fixed vectors near the means (those of the first rows), so that the unpenalised
// intercept, G - s s^T/n, loses no digits to cancellation.
//
// Error:      a block of B rows is summed in single precision (relative error about sqrt(B) 6e-8 of
//             the diagonal, with Precision::single), blocks in double.  With Precision::double
//             everything from z - c on is in double.
// Cost:       B m^2 flops a block by SGEMM and SSYRK on fixed tiles, threads over tiles, so that
//             the sums do not depend on the number of threads; 4 m^2 bytes and a little more.
// Reference:  the normal equations; fold sums as in any linear smoother's cross-validation.
// Differs:    nothing.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/core/rows/matrix.h"
#include "kerf/learn/options/fit_options.h"
#include "kerf/model/model_arrays.h"

namespace kerf::detail {

/// The vectors c and d above.
struct Origin {
  std::vector<float> features;
  std::vector<double> targets;
};

/// z(i, :) := sqrt(w_i) (z(i, :) - c).  No weights: all 1.
void centre_and_weight(const Origin& origin, WeightsView weights, MatrixView<float> z);

/// The same in double precision, for columns of z that begin at first_column; root: sqrt(w_i).
void centre_and_weight(const Origin& origin, std::span<const double> root, Index first_column,
                       MatrixView<const float> z, Matrix<double>& out);

/// Whether G is summed; iterative solvers do without it.
enum class SumsOf { cross, all };

class NormalEquations {
 public:
  NormalEquations(Origin origin, Precision precision, SumsOf which = SumsOf::all);

  Index features() const { return static_cast<Index>(origin_.features.size()); }
  Index targets() const { return static_cast<Index>(origin_.targets.size()); }
  const Origin& origin() const { return origin_; }

  /// Adds rows.  In single precision `z` is centred and weighted in place.  No weights: all 1.
  void add(MatrixView<float> z, MatrixView<const double> y, WeightsView weights);
  /// Adds the sums of other rows with the same origin.
  void merge(const NormalEquations& other);

  Index rows() const { return rows_; }
  Index weighing_rows() const { return weighing_rows_; }  ///< those of positive weight
  double weight() const { return weight_; }
  Precision precision() const { return precision_; }
  double target_sum(Index t) const { return target_sum_[t]; }
  double target_square(Index t) const { return target_square_[t]; }
  double feature_sum(Index j) const { return cross_(j, targets()); }
  double cross(Index j, Index t) const { return cross_(j, t); }
  double diagonal(Index j) const;

  /// Adds the upper triangle of G to `out` (m x m).
  void add_gram_to(MatrixView<double> out) const;
  /// G b for a matrix b of m rows.
  Matrix<double> gram_times(MatrixView<const double> b) const;
  /// Memory that it takes meanwhile for b of so many columns.
  static Index product_bytes(Index features, Index cols);

  /// All sums as arrays (which point to the memory here), and back.
  void save(ArrayWriter& arrays) const;
  static NormalEquations load(ArrayReader& arrays);

  /// Memory of one object, and of what add() needs besides its arguments.
  static Index bytes(Index features, Index targets);
  static Index scratch_bytes(Precision precision, int threads);

 private:
  Index tile_of(Index a, Index b) const { return a * tiles_ - a * (a - 1) / 2 + (b - a); }
  void add_cross(MatrixView<const float> z, MatrixView<const double> y,
                 std::span<const double> root);
  void add_gram(MatrixView<const float> z);
  void add_double(MatrixView<const float> z, MatrixView<const double> y,
                  std::span<const double> root);

  Origin origin_;
  Precision precision_;
  SumsOf which_;
  Index tiles_;                       // tiles along one side of G
  std::vector<Matrix<double>> gram_;  // upper tiles, row by row
  Matrix<double> cross_;              // m x (targets + 1); the last column is s
  std::vector<double> target_sum_, target_square_;
  double weight_ = 0;
  Index rows_ = 0, weighing_rows_ = 0;
};

}  // namespace kerf::detail
