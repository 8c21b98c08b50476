// Inner products of all pairs of rows of features, in double.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/rows/matrix.h"

namespace kerf::detail {

/// gram (rows x rows) = z z^T, by tiles; (i, j) and (j, i) may differ in the last bit.
void feature_gram(MatrixView<const float> z, MatrixView<double> gram);
/// The same, symmetric to the last bit, in half of the work: one triangle is the other's mirror
/// image.  Fits use the first one, so that their bits stay what they were.
Matrix<double> symmetric_feature_gram(MatrixView<const float> z);

}  // namespace kerf::detail
