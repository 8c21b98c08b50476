// Inner products of all pairs of rows of features, in double.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/rows/matrix.h"

namespace kerf::detail {

/// gram (rows x rows) = z z^T, symmetric to the last bit; by tiles, half of them mirrored.
void feature_gram(MatrixView<const float> z, MatrixView<double> gram);
Matrix<double> feature_gram(MatrixView<const float> z);

}  // namespace kerf::detail
