// Features that are a linear function of other features, learned from data: z(x) = A^T f(x).
//
// How data-dependent maps are used, so that A is applied in training only:
//   fit       state = arrays that f needs, and A (array `compression`, D x r, r <= features)
//   train     on z(x); features beyond r are zero
//   predict   w' = A w once, then <w', f(x)>: neither A nor z are needed any more
//
// Another way to the same weights, when A is square and gentle: train on f(x) itself with the penalty
//   w'^T (A A^T)^-1 w' in place of |w|^2 (array `penalty`).  A is then applied to no row.
//
// Cost:       2 D r flops a row besides f; half of it for a triangular A (zeros below the diagonal
//             are found by looking).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/features/feature_map.h"
#include "kerf/linalg/projection.h"

namespace kerf::detail {

class CompressedFeatures final : public FeatureMap {
 public:
  /// Error (data) unless `a` has inner.out_dim() rows and at most out_dim columns.
  CompressedFeatures(std::unique_ptr<FeatureMap> inner, const Matrix<float>& a, Index out_dim);

 private:
  void transform_rows(const RowsView& x, MatrixView<float> out) const override;

  /// Some columns of A down to their last number that is not zero.
  struct Part {
    Index first;
    Projection columns;
  };
  std::unique_ptr<FeatureMap> inner_;
  Index rank_;
  std::vector<Part> parts_;
};

/// weights := A weights, and A leaves the state; nothing is done to a state without A.
void fold_compression(MapState& state, Matrix<double>& weights);

/// The penalty, taken out of the state together with A; empty if there is none.
Matrix<float> take_penalty(MapState& state);

/// Of all arrays.
Index state_bytes(const MapState& state);

/// The array of that name if it has `cols` columns and at most `max_rows` rows (one at least) of
/// finite numbers; else Error (data).
const Matrix<float>& checked_array(const MapState& state, const char* name, Index max_rows,
                                   Index cols);

}  // namespace kerf::detail
