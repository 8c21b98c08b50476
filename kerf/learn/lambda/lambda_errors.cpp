// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/lambda/lambda_errors.h"

#include <algorithm>

#include "kerf/core/require.h"

namespace kerf::detail {

std::size_t LambdaErrors::place_of(double lambda) const {
  return static_cast<std::size_t>(std::ranges::find(lambdas_, lambda) - lambdas_.begin());
}

std::optional<double> LambdaErrors::ask(double lambda) {
  const std::size_t at = place_of(lambda);
  if (at == lambdas_.size()) return std::nullopt;
  asked_[at] = true;
  return errors_[at];
}

void LambdaErrors::enter(double lambda, double error) {
  forget(lambda);
  lambdas_.push_back(lambda);
  errors_.push_back(error);
  asked_.push_back(true);
}

void LambdaErrors::forget(double lambda) {
  const auto at = static_cast<std::ptrdiff_t>(place_of(lambda));
  if (at == std::ssize(lambdas_)) return;
  lambdas_.erase(lambdas_.begin() + at);
  errors_.erase(errors_.begin() + at);
  asked_.erase(asked_.begin() + at);
}

std::vector<LambdaChoice::Point> LambdaErrors::path() const {
  std::vector<LambdaChoice::Point> points;
  for (std::size_t k = 0; k < lambdas_.size(); ++k)
    if (asked_[k]) points.push_back({lambdas_[k], errors_[k]});
  std::ranges::sort(points, {}, &LambdaChoice::Point::lambda);
  return points;
}

double LambdaErrors::best() const {
  const auto points = path();
  KERF_REQUIRE(!points.empty(), numeric, "no lambda was tried");
  return std::ranges::min_element(points, {}, &LambdaChoice::Point::cv_error)->lambda;
}

double LambdaErrors::least_error() const { return errors_[place_of(best())]; }

void LambdaErrors::save(ArrayWriter& arrays) const {
  arrays.add("lambdas", std::span<const double>(lambdas_));
  arrays.add("errors", std::span<const double>(errors_));
}

void LambdaErrors::load(ArrayReader& arrays) {
  lambdas_ = arrays.vector<double>("lambdas");
  errors_ = arrays.vector<double>("errors");
  KERF_REQUIRE(lambdas_.size() == errors_.size(), data, "{} errors for {} lambdas", errors_.size(),
               lambdas_.size());
  asked_.assign(lambdas_.size(), false);
}

}  // namespace kerf::detail
