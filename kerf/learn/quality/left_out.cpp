// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/quality/left_out.h"

#include "kerf/learn/quality/fit_quality.h"
#include "kerf/learn/quality/temperature.h"

namespace kerf::detail {

LinearModel take_left_out(DualSolution solved, MatrixView<const double> y, WeightsView weights,
                          Index copies, bool classification, const FitOptions& options,
                          FitReport& outcome) {
  constexpr const char* kHow = "leave-one-out";
  outcome.lambda = solved.choice.lambda;
  if (classification) {
    LeftOutScores scores;
    scores.add(solved.left_out.view(), solved.left_out_rows, y, weights);
    outcome.temperature = scores.temperature();
    outcome.quality = accuracy(scores, kHow);
  } else {
    outcome.quality =
        explained_left_out(solved.left_out.view(), solved.left_out_rows, y, weights, copies, kHow);
  }
  if (!options.lambda) {
    outcome.take(std::move(solved.choice));
    outcome.validation = kHow;
  }
  return std::move(solved.model);
}

}  // namespace kerf::detail
