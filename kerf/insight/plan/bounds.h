// How many features theory asks for: published sufficient sizes with their constants, and one that
// holds for every map with a stated variance.
//
//   K on n rows, s = n lambda, e = epsilon, p = delta (chance of failure), s_l = statistical dim.
//   a map's own     its entry's bounds() (features/feature_bound.h)
//   any map         Var <z(x), z(y)> <= (V/m) k(x, x) k(y, y) gives E|Ka - K|_F^2 <= V (tr K)^2/m,
//                   so m >= V (tr K)^2/(p e^2 |K|_F^2) for a relative error e of K, and
//                   m >= V (tr K)^2/(p e^2 s^2) for epsilon (Markov's inequality)
//
// They hold for the worst matrix with these numbers, and are pessimistic for any other: what is
// measured (plan.h) is ten to several thousand times less on the shipped sets.
//
// Reference:  Rudi & Rosasco, NeurIPS 2017 (validation error).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "kerf/core/view.h"
#include "kerf/features/feature_bound.h"

namespace kerf::detail {

std::vector<FeatureBound> published_bounds(const BoundInputs& inputs);

/// |X|_2^2 with a column `bias` appended.
double squared_norm_of_rows(const RowsView& rows, double bias);

}  // namespace kerf::detail
