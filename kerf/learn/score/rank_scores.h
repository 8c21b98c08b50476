// How well scores rank rows of two classes: area under the ROC curve and average precision.
//
//   auc = P(s+ > s-) + P(s+ = s-) / 2 over pairs of a row of each class, weighted
//   average precision = sum_k (R_k - R_{k-1}) P_k over thresholds from the largest score down, where
//   rows of equal scores stand at one threshold
//
// Cost:       a sort of the rows.
// Reference:  Fawcett, "An introduction to ROC analysis", 2006; average precision as in scikit-learn.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "kerf/api/score.h"

namespace kerf::detail {

struct RankedRow {
  double score = 0;
  double weight = 1;
  bool positive = false;
};

/// A class without rows: auc 0.5, average precision its share.
RankScore rank_score(std::vector<RankedRow> rows);

}  // namespace kerf::detail
