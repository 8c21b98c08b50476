// The choice of lambda by k-fold cross-validation, from sums over each fold.
//
// The automatic grid: half decades of the mean diagonal of the centred G/n, from 1e-6 to 1e5 times
// it, walked downhill from a tenth of the unit in decades, then in half decades.  Many features:
// fold_path.h gives the errors of all folds at one lambda from one Cholesky.  Few features, very
// many targets, fewer rows than features, or lambdas so small that errors do not come to a
// standstill in small spaces: one Cholesky for each fold; of a given grid all lambdas.
//
// Error:      fold_path: 3e-5 (median), at most 2e-2 in 90 fits of 12 real sets with 1 to 16 rows a
//             feature, its lambda always the best of those it tried (bench/lambda_folds.py).
//             kStill and kAlike were set on most of the same sets.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>

#include "kerf/core/progress.h"
#include "kerf/learn/lambda/spectral_path.h"
#include "kerf/learn/options/fit_options.h"
#include "kerf/learn/ridge/lambda_table.h"
#include "kerf/learn/ridge/ridge.h"

namespace kerf::detail {

struct LambdaSearch {
  std::vector<double> grid;  ///< lambdas to choose from; empty: the automatic grid
  bool per_target = false;   ///< one for each target
};

/// "1e-6,1e-5,0.1" to numbers; "" to none.  Error (usage) on anything else.
std::vector<double> parse_lambda_grid(const std::string& text);

/// The lambda given, or the grid given, or nothing: the automatic grid.
std::vector<double> lambdas_asked(const FitOptions& options);

struct ChosenModel {
  LambdaChoice choice;
  LinearModel model;           ///< trained on all folds with that choice
  Matrix<double> factor = {};  ///< of its system (ridge.h)
};

ChosenModel choose_lambda(std::span<const NormalEquations> folds, const LambdaSearch& search,
                          const Progress& progress);

/// The same with errors of another kind: `fill` enters them for every lambda of the table.
ChosenModel choose_lambda_by_spectrum(
    std::span<const NormalEquations> parts, const LambdaSearch& search,
    const std::function<void(const SpectralPath&, LambdaTable&)>& fill);

/// Memory besides the folds' sums.
Index lambda_choice_bytes(Index features, Index targets, Index folds);

}  // namespace kerf::detail
