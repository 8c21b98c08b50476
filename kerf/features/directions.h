// Random directions for arc-cosine features.
//
//   gaussian     rows ~ N(0, I)
//   sphere       rows uniform on the unit sphere: the exact leverage-score distribution of order 1
//                (density ~ |w|^2 exp(-|w|^2/2), of which the feature uses only w/|w|)
//   orthogonal   rows of independent Haar orthogonal matrices, in_dim at a time: every row is
//   uniform
//                on the sphere, rows of one matrix are orthogonal, which lowers the variance
//
// Cost:       in_dim x count draws; orthogonal adds a QR decomposition, 2 in_dim^2 count flops.
// Reference:  Zandieh et al., "Scaling neural tangent kernels via sketching and random features",
//             NeurIPS 2021 (leverage scores); Yu et al., "Orthogonal random features", NIPS 2016;
//             Mezzadri 2007 (Haar: the signs of R's diagonal must be taken out).
// Differs:    the paper samples leverage directions by Gibbs sweeps; the exact law needs none.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/projection.h"
#include "kerf/core/random.h"

namespace kerf {

enum class Directions { gaussian, sphere, orthogonal };
inline constexpr const char* kDirectionNames[] = {"gaussian", "sphere", "orthogonal"};

/// Inner products of rows (x, bias) with `count` directions; the coordinate `bias` is appended to
/// every row unless it is 0.
Projection draw_directions(Directions kind, Index in_dim, double bias, Index count, rng::Key key);

/// Dimension in which those directions live: in_dim, or one more with a bias.
inline Index direction_dim(Index in_dim, double bias) { return bias == 0 ? in_dim : in_dim + 1; }

/// count x dim, row-major: rows orthonormal in groups of dim (the last group may be smaller).
Matrix<float> orthogonal_directions(Index dim, Index count, rng::Key key);

}  // namespace kerf
