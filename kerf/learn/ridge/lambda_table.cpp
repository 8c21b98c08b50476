// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/ridge/lambda_table.h"

#include <cmath>
#include <limits>

#include "kerf/core/require.h"

namespace kerf::detail {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

double finite_or_infinite(double error) { return std::isfinite(error) ? error : kInfinite; }

}  // namespace

double LambdaTable::total(std::size_t k) const {
  double sum = 0;
  for (const double error : errors[k]) sum += error;
  return errors[k].empty() ? kInfinite
                           : finite_or_infinite(sum / static_cast<double>(errors[k].size()));
}

double LambdaTable::of(std::size_t k, std::size_t target) const {
  return errors[k].empty() ? kInfinite : finite_or_infinite(errors[k][target]);
}

std::size_t LambdaTable::best() const {
  std::size_t least = 0;
  for (std::size_t k = 1; k < lambdas.size(); ++k)
    if (total(k) <= total(least)) least = k;
  return least;
}

std::size_t LambdaTable::best_for(std::size_t target) const {
  std::size_t least = 0;
  for (std::size_t k = 1; k < lambdas.size(); ++k)
    if (of(k, target) <= of(least, target)) least = k;
  return least;
}

LambdaChoice LambdaTable::choice(bool per_target) const {
  KERF_REQUIRE(std::isfinite(total(best())), numeric,
               "no lambda between {:.2g} and {:.2g} gives a finite cross-validation error",
               lambdas.front(), lambdas.back());
  LambdaChoice chosen{lambdas[best()], total(best()), {}, {}, errors[best()]};
  for (std::size_t k = 0; k < lambdas.size(); ++k)
    if (!errors[k].empty()) chosen.path.push_back({lambdas[k], total(k)});
  if (!per_target) return chosen;
  double error = 0;
  const std::size_t targets = errors[best()].size();
  for (std::size_t t = 0; t < targets; ++t) {
    chosen.per_target.push_back(lambdas[best_for(t)]);
    chosen.target_errors[t] = of(best_for(t), t);
    error += of(best_for(t), t) / static_cast<double>(targets);
  }
  chosen.cv_error = error;
  return chosen;
}

LambdaTable empty_table(const std::vector<double>& asked, double unit) {
  LambdaTable table{asked, {}};
  for (int step = kFirstGridStep; asked.empty() && step <= kLastGridStep; ++step)
    table.lambdas.push_back(unit * std::pow(10.0, step / 2.0));
  table.errors.resize(table.lambdas.size());
  return table;
}

}  // namespace kerf::detail
