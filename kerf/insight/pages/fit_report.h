// One model as one HTML page: what it is, how it was chosen, how good it is, how to make it again.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "kerf/learn/fit/trainer.h"
#include "kerf/learn/score/evaluate.h"

namespace kerf::detail {

/// What the page shows of rows that the model has not seen.
struct TestView {
  Score score;
  std::string where;  ///< "test.csv" or "20 % held out"
  struct Pair {
    double target, predicted;
  };
  std::vector<Pair> pairs;           ///< regression: of a sample of rows, first target
  std::vector<RowBlock> worst_rows;  ///< of score.worst, in its order, when the rows are images
};

/// Reads `source` once more (with images twice) for pairs and pictures.
TestView look_at_test(const Model& model, RowSource& source, Score score, std::string where,
                      Index memory_limit = 0);

/// The page.  `test` may be nullptr: no rows were held out.
std::string fit_report(const FitResult& result, const DataSummary& summary, const TestView* test);

}  // namespace kerf::detail
