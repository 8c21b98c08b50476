// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/sgd_state.h"

#include "kerf/core/require.h"

namespace kerf {

SgdState::SgdState(Index scores, Index features)
    : weights(scores, features),
      squares(scores, features),
      intercept(static_cast<std::size_t>(scores), 0.0),
      intercept_squares(static_cast<std::size_t>(scores), 0.0) {
  weights.fill(0);
  squares.fill(0);
}

void SgdState::save(ArrayWriter& arrays, const std::string& prefix) const {
  arrays.add((prefix + "weights").c_str(), weights.view());
  arrays.add((prefix + "squares").c_str(), squares.view());
  arrays.add((prefix + "intercept").c_str(), std::span<const double>(intercept));
  arrays.add((prefix + "intercept-squares").c_str(), std::span<const double>(intercept_squares));
}

void SgdState::load(ArrayReader& arrays, const std::string& prefix) {
  const Index scores = weights.rows(), features = weights.cols();
  weights = arrays.matrix<float>((prefix + "weights").c_str());
  squares = arrays.matrix<float>((prefix + "squares").c_str());
  intercept = arrays.vector<double>((prefix + "intercept").c_str());
  intercept_squares = arrays.vector<double>((prefix + "intercept-squares").c_str());
  KERF_REQUIRE(weights.rows() == scores && weights.cols() == features && squares.rows() == scores &&
                   squares.cols() == features && std::ssize(intercept) == scores &&
                   std::ssize(intercept_squares) == scores,
               data, "the checkpoint is of {} x {} weights, the fit has {} x {}", weights.rows(),
               weights.cols(), scores, features);
}

void SgdProgress::save(ArrayWriter& arrays, std::vector<double>& numbers) const {
  numbers = {static_cast<double>(next), best, static_cast<double>(waited), rate};
  arrays.add("numbers", std::span<const double>(numbers));
  arrays.add("origin", std::span<const float>(origin.features));
  arrays.add("targets", std::span<const double>(origin.targets));
  arrays.add("scales", std::span<const double>(target_scale));
}

void SgdProgress::load(ArrayReader& arrays, Index features, Index outputs) {
  const auto numbers = arrays.vector<double>("numbers");
  KERF_REQUIRE(numbers.size() == 4 && numbers[0] >= 0 && numbers[2] >= 0, data,
               "the checkpoint's numbers make no sense");
  next = static_cast<Index>(numbers.at(0));
  best = numbers.at(1);
  waited = static_cast<Index>(numbers.at(2));
  rate = numbers.at(3);
  origin.features = arrays.vector<float>("origin");
  origin.targets = arrays.vector<double>("targets");
  target_scale = arrays.vector<double>("scales");
  KERF_REQUIRE(std::ssize(origin.features) == features &&
                   origin.targets.size() == target_scale.size() &&
                   std::ssize(target_scale) == outputs,
               data, "the checkpoint is of {} features and {} outputs, the fit has {} and {}",
               origin.features.size(), target_scale.size(), features, outputs);
}

}  // namespace kerf
