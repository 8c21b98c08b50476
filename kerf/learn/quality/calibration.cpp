// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/quality/calibration.h"

#include <algorithm>

#include "kerf/api/error.h"
#include "kerf/core/require.h"

namespace kerf::detail {

std::optional<LinearModel> model_without(std::span<const NormalEquations> sums, Index fold,
                                         const FitReport& outcome, const Matrix<float>* penalty) {
  std::vector<const NormalEquations*> others;
  double weight = 0;
  for (Index f = 0; f < std::ssize(sums); ++f)
    if (f != fold) {
      others.push_back(&sums[f]);
      weight += others.back()->weight();
    }
  if (!(weight > 0) || !(sums[fold].weight() > 0)) return std::nullopt;
  try {
    if (penalty != nullptr) return solve_ridge(others, outcome.lambda, penalty);
    return solve_ridge(others, LambdaChoice{outcome.lambda, 0, {}, outcome.lambda_per_target});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::numeric) throw;
    return std::nullopt;  // lambda is 0, or next to it, and all rows together just suffice
  }
}

void LeftOutRows::add(MatrixView<const float> z, MatrixView<const double> y, WeightsView weights) {
  features_ = z.cols;
  outputs_ = y.cols;
  for (Index i = 0; i < z.rows && std::ssize(weights_) < kMost; ++i) {
    z_.insert(z_.end(), z.row(i).begin(), z.row(i).end());
    y_.insert(y_.end(), y.row(i).begin(), y.row(i).end());
    weights_.push_back(weights[i]);
  }
}

LeftOutScores LeftOutRows::scores(const LinearModel& model) const {
  Matrix<double> scores(rows(), outputs_);
  linear_scores(model, z(), scores.view());
  LeftOutScores left_out;
  left_out.add(scores.view(), y(), weights_);
  return left_out;
}

void LeftOutRows::save(ArrayWriter& arrays) const {
  arrays.add("z", z());
  arrays.add("y", y());
  arrays.add("weights", std::span<const double>(weights_));
}

LeftOutRows LeftOutRows::load(ArrayReader& arrays) {
  const Matrix<float> z = arrays.matrix<float>("z");
  const Matrix<double> y = arrays.matrix<double>("y");
  const auto weights = arrays.vector<double>("weights");
  KERF_REQUIRE(z.rows() == y.rows() && z.rows() == std::ssize(weights) &&
                   std::ranges::all_of(weights, [](double w) { return w >= 0; }),
               data, "the rows kept for probabilities are damaged");
  LeftOutRows rows;
  rows.add(z.view(), y.view(), weights);
  return rows;
}

}  // namespace kerf::detail
