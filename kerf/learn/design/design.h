// Optimal design: which rows to have labelled, given all rows and their features.
//
//   minimise J(S) = -tr K_{:S} (K_SS + c I)^-1 K_{S:},   K = Z Z^T,   |S| = k,   c = k lambda
//
// (the sum over rows of what is explained by the chosen ones: n minus the posterior variances of a
// Gaussian process, for unit rows; lambda as in the fit to come, which has k rows).  Greedy: with
// M = I, C = G = Z^T Z, a_j = z_j^T M z_j, b_j = z_j^T C z_j take the row j with the largest gain
// b_j / (a_j + c), then with u = M z_j, w = C z_j, s = c + <z_j, u>, p = Z u, r = Z w:
//     a -= p^2/s,   b += -2 p r/s + b_j p^2/s^2,   M -= u u^T/s,   C = M G M
// M is kept as an orthonormal basis of the rows chosen (chosen_span.h).  Steps are taken among the
// best few rows, up to 32 of them, then p and r of all rows come from one read of Z, a matrix
// product; steps at which a row outside had a larger gain are taken back.  So the rows are those of
// a look at all rows after each step, at a fraction of its memory traffic.
// Beside it, for comparison: rows at random, and k-means++ seeding in the space of the features.
//
// Exact:      the rows that evaluating J for every candidate in double would choose; of gains that
//             agree to 1e-8 the first row's.  All is in double, and when the updates of a and b have
//             left rounding that matters beside the largest gain (copies of rows at a small c, more
//             steps than the rank), both are measured afresh from the features.  A c below 1e-12 of
//             the largest z_j^T z_j is taken as that; once no gain is above 1e-15 of tr K, the other
//             rows follow in their order and gain 0.
// Cost:       2 n m^2 + k (4 n m + 2 m^2 + 12 k m) flops, Z read k/32 times or a few times more;
//             n m (m + 4 k) flops each time that all is measured afresh (seldom more than once).
//             4 n m + 8 m^2 + 8 k (m + k) + 560 n + 2048 m (threads + 1) bytes.
// Reference:  Zandieh et al., "Scaling neural tangent kernels via sketching and random features",
//             NeurIPS 2021 (active learning, figure 3); Arthur & Vassilvitskii, SODA 2007
//             (k-means++).
// Differs:    the paper states O(n m (k^3 + m)); the updates above are ours: O(n m) a step.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "kerf/core/names.h"
#include "kerf/core/progress.h"
#include "kerf/core/random/random.h"
#include "kerf/core/rows/matrix.h"

namespace kerf::detail {

enum class DesignMethod { greedy, random, kmeans };
constexpr auto names_of(DesignMethod) { return std::array{"greedy", "random", "kmeans++"}; }

struct Design {
  std::vector<Index> rows;    ///< in the order in which they were chosen
  std::vector<double> gains;  ///< greedy: how much each lowered J
  double total = 0;           ///< greedy: tr K, which the gains cannot exceed together
  double ridge = 0;           ///< greedy: c
};

/// z is read only.  `candidates`: rows among which steps are tried; the design does not depend on
/// it.
Design greedy_design(MatrixView<const float> z, Index budget, double c,
                     const Progress& progress = {}, Index candidates = 1024);
Design random_design(Index rows, Index budget, rng::Key key);
Design kmeans_design(MatrixView<const float> z, Index budget, rng::Key key,
                     const Progress& progress = {});

/// c of a design without a lambda, as a part of tr K / n: about the best on five real sets, where
/// all from 1e-2 down do nearly as well (docs/results/design_ridge.md).  It is the same for every budget, so that a design begins
/// with that of a smaller budget.
inline constexpr double kAutomaticRidge = 1e-3;

/// By any method; lambda as in fit, so that c = budget lambda; none: kAutomaticRidge.
Design select_rows(DesignMethod method, MatrixView<const float> z, Index budget,
                   std::optional<double> lambda, rng::Key key, const Progress& progress = {});

/// Memory of a greedy design, its features included.
Index design_bytes(Index rows, Index features, Index budget);

}  // namespace kerf::detail
