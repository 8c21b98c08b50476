// Ridge regression on features when there are fewer rows than features: solved among the rows.
//
//   K = Z Z^T (n x n);  a from exact_ridge.h on K;  W = Z^T a,  b as there
//
// The same minimiser as ridge.h (the weights lie in the span of the rows), at n^3 instead of m^3,
// and lambda is chosen by exact leave-one-out instead of folds.
//
// Cost:       n^2 m + 9 n^3 flops; 4 n m + 24 n^2 bytes.  More than kEigenRows: n^2 m + n^3; 4 n m + 8 n^2.
// Reference:  Saunders, Gammerman & Vovk, ICML 1998 (the dual); see exact_ridge.h.
// Differs:    nothing.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/core/progress.h"
#include "kerf/learn/ridge/exact_ridge.h"

namespace kerf::detail {

/// z: rows x features.  No weights: all 1.  lambdas: one, or several to choose from (zeros are
/// passed over: among rows there is no solution); none: the automatic grid.  copies: of exact_ridge.h.
DualSolution fit_dual_ridge(MatrixView<const float> z, MatrixView<const double> targets,
                            WeightsView weights, std::vector<double> lambdas, Index copies,
                            const Progress& progress);

/// Memory besides z; `lambdas`: to choose from, 0 for the automatic grid.
Index dual_ridge_bytes(Index rows, Index features, Index targets, std::size_t lambdas);

}  // namespace kerf::detail
