// Centres of clusters of rows: k-means by Lloyd's steps, distances seen in a few dimensions.
//
//   begin   m of the s rows, drawn without replacement
//   step    every row joins the centre nearest to it; a centre moves to the mean of its rows
//   nearest by |P x - P c|, P an orthonormal basis of p = 64 dimensions in which the rows vary
//           most (all of them where there are fewer columns)
//
// As Nystroem landmarks centres explain more than rows do: the Nystroem error of a kernel that
// falls with distance is bounded by the rows' squared distances from the landmarks (Zhang & Kwok),
// which is what Lloyd's steps make small.
//
// Unbiased:   not a random estimate; given the key the result does not depend on the threads.
// Cost:       2 s m p flops a step, 2 s d p to project, d a row to move centres; P by two steps of
//             subspace iteration on at most 8,192 rows.
// Reference:  Lloyd, "Least squares quantization in PCM", 1982; Zhang & Kwok, "Clustered Nystroem
//             method for large scale manifold learning and dimension reduction", IEEE TNN 2010;
//             Halko, Martinsson & Tropp, SIAM Review 53(2), 2011 (the basis).
// Differs:    assignment in p dimensions, and three steps: more gain nothing as landmarks.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/random/random.h"
#include "kerf/core/rows/matrix.h"

namespace kerf::detail {

/// m centres of the rows; the rows themselves where there are no more than m.
Matrix<float> cluster_centres(Matrix<float> rows, Index m, rng::Key key);

}  // namespace kerf::detail
