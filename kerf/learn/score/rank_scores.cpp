// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/score/rank_scores.h"

#include <algorithm>
#include <functional>

namespace kerf::detail {

RankScore rank_score(std::vector<RankedRow> rows) {
  std::ranges::sort(rows, std::greater{}, &RankedRow::score);
  double positives = 0, negatives = 0;
  for (const RankedRow& row : rows) (row.positive ? positives : negatives) += row.weight;
  RankScore out;
  if (positives + negatives > 0) out.share = positives / (positives + negatives);
  if (!(positives > 0) || !(negatives > 0)) {
    out.average_precision = out.share;
    return out;
  }
  double hits = 0, misses = 0, area = 0, precision = 0;  // above and at the threshold
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    double new_hits = 0, new_misses = 0;
    for (; end < rows.size() && rows[end].score == rows[begin].score; ++end)
      (rows[end].positive ? new_hits : new_misses) += rows[end].weight;
    area += new_misses * (hits + new_hits / 2);
    hits += new_hits;
    misses += new_misses;
    if (new_hits > 0) precision += new_hits * hits / (hits + misses);
  }
  out.auc = area / (positives * negatives);
  out.average_precision = precision / positives;
  return out;
}

}  // namespace kerf::detail
