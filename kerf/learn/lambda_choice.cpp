// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/lambda_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "kerf/core/error.h"
#include "kerf/core/options.h"
#include "kerf/core/require.h"
#include "kerf/learn/fold_path.h"

namespace kerf {
namespace {

/// Steps of the automatic grid where the walk and the path begin.
constexpr int kStartStep = -2, kFirstPole = -4;

constexpr double kSettled = 1e-4;   // relative change of an error that stands still
constexpr double kPoleReach = 0.6;  // decades from a pole to a lambda that it serves well
constexpr Index kLeastLevels = 3;   // of a pole, before its errors are looked at
constexpr Index kMostLevels = 40;

/// One Cholesky for each fold and lambda.
void fill_directly(std::span<const NormalEquations> folds, bool all, std::size_t start,
                   const Progress& progress, LambdaTable& table) {
  const auto error_at = [&](std::size_t k) {
    if (table.errors[k].empty()) {
      report(progress, "choosing lambda", static_cast<Index>(k), 0);
      table.errors[k] = cross_validation_errors(folds, table.lambdas[k]);
    }
    return table.total(k);
  };
  if (all) {
    for (std::size_t k = 0; k < table.lambdas.size(); ++k) error_at(k);
    return;
  }
  auto best = static_cast<std::ptrdiff_t>(start);
  const auto last = static_cast<std::ptrdiff_t>(table.lambdas.size()) - 1;
  for (const std::ptrdiff_t stride : {2, 1})  // decades downhill, then half decades around the best
    for (const std::ptrdiff_t direction : {-stride, stride})
      for (std::ptrdiff_t next = best + direction;
           next >= 0 && next <= last &&
           error_at(static_cast<std::size_t>(next)) < error_at(static_cast<std::size_t>(best));
           next += direction)
        best = next;
}

/// The lambdas whose errors decide: the best (of each target) and their neighbours.
std::vector<std::size_t> deciding(const LambdaTable& table, bool per_target) {
  std::vector<std::size_t> best = {table.best()};
  for (std::size_t t = 0; per_target && t < table.errors[best[0]].size(); ++t)
    best.push_back(table.best_for(t));
  std::vector<std::size_t> all;
  for (const std::size_t k : best)
    for (std::size_t near = k == 0 ? 0 : k - 1; near <= k + 1 && near < table.lambdas.size();
         ++near)
      all.push_back(near);
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());  // clang 14 has no ranges::unique
  return all;
}

/// A pole at this lambda, or at the least larger one that is not singular.
double place_pole(FoldPath& path, double lambda, double unit) {
  lambda = std::max(lambda, 1e-12 * unit);
  for (int attempt = 0; attempt < 12; ++attempt, lambda *= 10)
    if (path.set_pole(lambda)) return lambda;
  fail(ErrorKind::numeric, "the ridge system is singular even at lambda = {:.3g}", lambda);
}

bool settled(const LambdaTable& before, const LambdaTable& now, std::size_t k, bool per_target) {
  if (before.errors[k].empty()) return false;
  for (std::size_t t = 0; t < now.errors[k].size(); ++t) {
    const double error = per_target ? now.of(k, t) : now.total(k);
    const double change = error - (per_target ? before.of(k, t) : before.total(k));
    if (!(std::abs(change) <= kSettled * error)) return false;
    if (!per_target) break;
  }
  return true;
}

/// The whole grid from a few factors: at the lambda where the best one usually is, and wherever a
/// lambda that decides is far from all poles.  Such a lambda's error may stand still and be wrong.
/// False if the errors did not come to a standstill: they must not choose then.
bool fill_by_path(FoldPath& path, double unit, Index features, Index targets,
                  const LambdaSearch& search, const Progress& progress, LambdaTable& table) {
  const double least = 1e-12 * unit;
  const auto decades = [&](double a, double b) {
    return std::abs(std::log10(std::max(a, least) / std::max(b, least)));
  };
  std::vector<double> poles;  // as asked for: where that is singular a larger one serves
  Index levels = 0;           // of the last one
  const auto place = [&](double lambda) {
    place_pole(path, lambda, unit);
    poles.push_back(lambda);
    levels = 0;
  };
  const auto is_served = [&](double lambda) {
    return std::ranges::any_of(poles, [&](double p) { return decades(lambda, p) <= kPoleReach; });
  };
  const double start = unit * std::pow(10.0, kFirstPole / 2.0);
  place(*std::ranges::min_element(table.lambdas, {}, [&](double l) { return decades(l, start); }));
  for (Index level = 0; level < kMostLevels; ++level) {
    if (path.dimension() + targets > features / 2) return false;
    report(progress, "choosing lambda", level, 0);
    path.extend();
    const LambdaTable before = table;
    for (std::size_t k = 0; k < table.lambdas.size(); ++k)
      table.errors[k] = path.errors(table.lambdas[k]);
    if (++levels < kLeastLevels) continue;
    const std::vector<std::size_t> all = deciding(table, search.per_target);
    if (!is_served(table.lambdas[table.best()])) {
      place(table.lambdas[table.best()]);
      continue;
    }
    const auto lambda_of = [&](std::size_t k) { return table.lambdas[k]; };
    if (!std::ranges::all_of(all, [&](std::size_t k) {
          return !is_served(lambda_of(k)) || settled(before, table, k, search.per_target);
        }))
      continue;
    const auto unserved =
        std::ranges::find_if(all, [&](std::size_t k) { return !is_served(lambda_of(k)); });
    if (unserved == all.end()) return true;
    place(lambda_of(*unserved));
  }
  return false;
}

/// The model of the best lambda.  Where errors stand still for ever smaller lambdas the best may be
/// so small that rounding makes the system singular: then the best of the larger ones.
ChosenModel solve_chosen(std::span<const NormalEquations* const> all, LambdaTable& table,
                         bool per_target) {
  for (;;) {
    ChosenModel result{table.choice(per_target), {}};
    try {
      result.model = solve_ridge(all, result.choice);
      return result;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::numeric) throw;
      const auto& each = result.choice.per_target;
      const double singular = each.empty() ? result.choice.lambda : std::ranges::min(each);
      const auto larger = std::ranges::upper_bound(table.lambdas, singular);
      const auto out = larger - table.lambdas.begin();
      if (larger == table.lambdas.end()) throw;
      table.lambdas.erase(table.lambdas.begin(), larger);
      table.errors.erase(table.errors.begin(), table.errors.begin() + out);
    }
  }
}

}  // namespace

std::vector<double> parse_lambda_grid(const std::string& text) {
  std::vector<double> grid;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const auto value = parse_number(text.substr(at, comma - at));
    KERF_REQUIRE(value && *value >= 0 && std::isfinite(*value), usage,
                 "'{}' is not a list of lambdas: write for example 1e-6,1e-5,1e-4", text);
    grid.push_back(*value);
    at = comma + 1;
  }
  std::ranges::sort(grid);
  return grid;
}

std::vector<double> lambdas_asked(const FitOptions& options) {
  return options.lambda ? std::vector{*options.lambda} : parse_lambda_grid(options.lambda_grid);
}

ChosenModel choose_lambda(std::span<const NormalEquations> folds, const LambdaSearch& search,
                          const Progress& progress) {
  std::vector<const NormalEquations*> all;
  for (const auto& fold : folds) all.push_back(&fold);
  const double unit = lambda_unit(all);
  LambdaTable table = empty_table(search.grid, unit);
  const Index features = folds.front().features(), targets = folds.front().targets();
  // With few rows for the features a fold's sums are unlike the others', and the path's spaces
  // would have to grow large; with fewer than features they do not see where rounding takes over.
  Index rows = 0;
  for (const auto& fold : folds) rows += fold.rows();
  if (!FoldPath::pays(features, targets) || rows < 4 * features) {
    fill_directly(folds, !search.grid.empty() || search.per_target, kStartStep - kFirstGridStep,
                  progress, table);
    return solve_chosen(all, table, search.per_target);
  }
  ChosenModel result;
  {
    FoldPath path(folds);
    if (fill_by_path(path, unit, features, targets, search, progress, table)) {
      result.choice = table.choice(search.per_target);
      report(progress, "solving", 0, 0);
      if (result.choice.per_target.empty())
        if (auto model = path.solve(result.choice.lambda)) {
          result.model = std::move(*model);
          return result;
        }
    }
  }
  if (result.choice.path.empty()) {
    const std::size_t start = table.best();  // by upper estimates
    std::ranges::fill(table.errors, std::vector<double>());
    fill_directly(folds, search.per_target, start, progress, table);
    result.choice = table.choice(search.per_target);
  }
  return solve_chosen(all, table, search.per_target);
}

ChosenModel choose_lambda_by_spectrum(
    std::span<const NormalEquations> parts, const LambdaSearch& search,
    const std::function<void(const SpectralPath&, LambdaTable&)>& fill) {
  std::vector<const NormalEquations*> all;
  for (const auto& part : parts) all.push_back(&part);
  LambdaTable table = empty_table(search.grid, lambda_unit(all));
  fill(SpectralPath(parts), table);
  return solve_chosen(all, table, search.per_target);
}

Index lambda_choice_bytes(Index features, Index targets, Index folds) {
  return FoldPath::pays(features, targets) ? FoldPath::bytes(features, targets, folds)
                                           : ridge_bytes(features, targets);
}

}  // namespace kerf
