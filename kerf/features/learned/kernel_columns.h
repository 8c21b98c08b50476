// The kernel of a row with fixed rows, as features: f_j(x) = k(x, y_j).
//
// Kernels of an angle or of a Euclidean distance go through one Projection and the kernel's
// function of |p - q|^2 = |p|^2 + |q|^2 - 2 <p, q>, prepared and repaired near 0 as in
// kernels/gram.h, so that a row's bits do not depend on the rows around it (a Gram block's do). The
// others are Gram blocks, entry by entry.
//
// Error:      as Gram in single precision.
// Cost:       2 d flops a value and the kernel's function.  Memory: 2 d floats a fixed row.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/features/feature_map.h"
#include "kerf/linalg/projection.h"

namespace kerf::detail {

class KernelColumns final : public FeatureMap {
 public:
  /// `rows`: the fixed rows.
  KernelColumns(std::unique_ptr<Kernel> kernel, Matrix<float> rows);

 private:
  void transform_rows(const RowsView& x, MatrixView<float> out) const override;
  /// Kernel values of row i from the products <p, q_j>, j = first, first + 1, ...
  void finish(const RowsView& x, Index i, double factor, float square, Index first,
              std::span<float> products, std::span<float> out) const;
  void redo(const RowsView& x, Index i, double factor, Index j, float& number, float& other) const;
  /// Fills packed rows; factors of angles.
  void pack(const RowsView& x, Matrix<float>& packed, std::vector<double>& factors) const;

  std::unique_ptr<Kernel> kernel_;
  PairForm form_;
  bool product_;  // the first of the two ways
  Matrix<float> rows_;
  std::vector<float> centre_;
  std::vector<double> factors_;  // angle: 1 / |y_j|, 0 for a zero row
  std::vector<float> scales_;    // angle: |y_j|, or 1 (0 for a zero row)
  std::vector<float> squares_;   // |q_j|^2
  Projection products_;
};

}  // namespace kerf::detail
