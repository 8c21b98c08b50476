// What is left of a row beside the rows chosen so far: the vectors M z of design.h.
//
//   q_i: the vectors [z_i, sqrt(c) e_i] of the rows i chosen, made orthonormal in their order
//   v = [z, 0] - sum_i <q_i, [z, 0]> q_i   =>   M z = the first m numbers of v,   z^T M z = |v|^2
//
// Since q has the c of the criterion in it, nothing is ever divided by a difference, and |v|^2 is a
// sum of squares: it cannot become negative.
//
// Error:      projected twice (Gram-Schmidt with reorthogonalisation): the q are orthogonal to some
//             1e-15, and v is off by some 1e-16 |z|, however alike the rows chosen are.
// Cost:       4 k (m + k) flops a pass; 8 k (m + k) bytes.
// Reference:  Daniel, Gragg, Kaufman & Stewart, "Reorthogonalization and stable algorithms for
//             updating the Gram-Schmidt QR factorization", Math. Comp. 1976.
// Differs:    nothing.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/core/rows/matrix.h"
#include "kerf/linalg/dot.h"

namespace kerf::detail {

class ChosenSpan {
 public:
  ChosenSpan(Index features, Index budget, double c)
      : features_(features), c_(c), basis_(budget, features + budget) {}

  Index count() const { return count_; }
  /// Numbers in a vector v now.
  Index length() const { return features_ + count_; }

  /// v: features followed by zeros; it becomes what is left beside the rows chosen.
  void project(std::span<double> v, int passes = 2) const;
  /// The same for each row of v, in one pass, on the calling thread.
  void project_rows(MatrixView<double> v) const;

  /// The row whose v this is becomes one of those chosen.
  void add(std::span<const double> v);
  /// Forgets all but the first `count`.
  void keep(Index count) { count_ = count; }

 private:
  Index features_;
  double c_;
  Matrix<double> basis_;
  Index count_ = 0;
};

}  // namespace kerf::detail
