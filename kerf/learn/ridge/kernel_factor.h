// A kernel matrix and its Cholesky factor at a lambda, in one array.
//
//   B = A + g u u^T + c I,   A = P S K S P as in exact_ridge.h,   B = R^T R
//
// A + g u u^T stays below the diagonal (its diagonal beside it, in double), R stands on and above
// it: the next lambda needs no second matrix.  g = trace(A) moves u to the far end of the spectrum.
//
// Error:      in single precision numbers of A are rounded after centring, in double before.  What that and the
//             factor come to, ||dB|| / c, is what solve() and KernelWalk (kernel_walk.h) measure.
// Cost:       n^3 / 3 flops a factor; 4 n^2 bytes in single precision, 8 n^2 in double.
// Reference:  Higham, "Accuracy and stability of numerical algorithms", 2002, chapter 10.
// Differs:    both triangles are in use.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kerf/core/progress.h"
#include "kerf/core/rows/matrix.h"

namespace kerf::detail {

/// Rows of a problem: what their weights make of them and of their targets.
struct WeightedRows {
  std::vector<double> root;   ///< sqrt(w); S = diag(root)
  std::vector<double> u;      ///< root / sqrt(n); empty without intercept
  double weight = 0;          ///< n = sum w
  std::vector<double> means;  ///< of the targets; zeros without intercept
  Matrix<double> y;           ///< S (y - mean)
  bool weighted = false;

  Index count() const { return static_cast<Index>(root.size()); }
  /// Rows of positive weight.
  Index counting() const;
};
/// Error (data) on weights that are none, and where all are 0.
WeightedRows weigh(MatrixView<const double> targets, WeightsView weights, bool intercept);

/// Rows begin to end of K, in double.
using KernelRows = std::function<void(Index begin, Index end, MatrixView<double> out)>;
/// Rows that are asked for at a time.
inline constexpr Index kKernelBlock = 512;

class KernelFactor {
 public:
  virtual ~KernelFactor() = default;

  /// R at c; false if B is not positive definite in this precision.
  virtual bool factor(double c, const Progress& progress) = 0;
  /// b := B^-1 b with R as it is.
  virtual void solve(MatrixView<double> b) const = 0;
  /// out := (B - c I) x, from the matrix as stored, added up in double.
  virtual void multiply(MatrixView<const double> x, MatrixView<double> out) const = 0;
  /// (B^-k)_ii for rows i (ascending) and k = 1 .. count, at most 3.
  virtual Matrix<double> inverse_diagonals(std::span<const Index> rows, Index count) const = 0;
  /// K of these rows up to a constant for each row and column; rows of positive weight.
  virtual Matrix<double> part(std::span<const Index> rows) const = 0;
  virtual bool is_single() const = 0;

  /// mean(diag A), of rows that count; positive.
  double scale() const { return scale_; }
  /// g; 0 without intercept.
  double shift() const { return shift_; }
  /// b of the dual coefficients x, beyond the mean of the targets.
  double intercept_of(MatrixView<const double> x, Index target) const;

 protected:
  explicit KernelFactor(const WeightedRows& rows) : rows_(rows) {}
  const WeightedRows& rows_;
  std::vector<double> diagonal_;   // of A + g u u^T
  std::vector<double> row_means_;  // S K S u / sqrt(n), up to a multiple of u
  double scale_ = 1, shift_ = 0;
};

/// From K in `matrix` (its lower triangle), which is this object's from now on.
std::unique_ptr<KernelFactor> factor_in_double(MatrixView<double> matrix, const WeightedRows& rows);
/// The same in memory of its own, from rows of K.
std::unique_ptr<KernelFactor> factor_in_double(const KernelRows& kernel, const WeightedRows& rows,
                                               const Progress& progress);
std::unique_ptr<KernelFactor> factor_in_single(const KernelRows& kernel, const WeightedRows& rows,
                                               const Progress& progress);

}  // namespace kerf::detail
