// What a page shows of rows with targets that a model has not seen: how good it is there, which classes
// are confused, what intervals hold, the worst rows.  Of a fit's page, and the page of `kerf score`.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

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

/// "91.67 % of 120 rows right (test.csv)".
std::string test_headline(const TestView& test);
/// The sections.
std::string test_sections(const Model& model, const TestView& test);

/// The page of a score.  `command`: makes it again.
std::string score_report(const Model& model, const TestView& test, const std::string& command);

}  // namespace kerf::detail
