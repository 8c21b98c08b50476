// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/lambda_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kerf/core/error.h"
#include "kerf/core/options.h"
#include "kerf/core/require.h"
#include "kerf/learn/fold_path.h"

namespace kerf {
namespace {

constexpr int kStartStep = -2;  // of the automatic grid, where the walk begins

constexpr double kSettled = 3e-4;  // relative change of an error that stands still
constexpr Index kMostLevels = 12;  // of a pole

using Errors = std::vector<double>;  // of each target

/// Fills the table: all of it, or downhill from `start`, in decades, then in half decades; larger
/// lambdas first, which take fewer levels and are never singular.
void fill(LambdaTable& table, bool all, std::size_t start, const Progress& progress,
          const std::function<Errors(double lambda)>& errors_of) {
  const auto error_at = [&](std::size_t k) {
    if (table.errors[k].empty()) {
      report(progress, "choosing lambda", static_cast<Index>(k), 0);
      table.errors[k] = errors_of(table.lambdas[k]);
    }
    return table.total(k);
  };
  if (all) {
    for (std::size_t k = 0; k < table.lambdas.size(); ++k) error_at(k);
    return;
  }
  auto best = static_cast<std::ptrdiff_t>(start);
  const auto last = static_cast<std::ptrdiff_t>(table.lambdas.size()) - 1;
  for (const std::ptrdiff_t stride : {2, 1})
    for (const std::ptrdiff_t direction : {stride, -stride})
      for (std::ptrdiff_t next = best + direction;
           next >= 0 && next <= last &&
           error_at(static_cast<std::size_t>(next)) < error_at(static_cast<std::size_t>(best));
           next += direction)
        best = next;
}

/// One Cholesky for each fold and lambda.
void fill_directly(std::span<const NormalEquations> folds, bool all, std::size_t start,
                   const Progress& progress, LambdaTable& table) {
  fill(table, all, start, progress,
       [&](double lambda) { return cross_validation_errors(folds, lambda); });
}

/// Whether the errors of three levels have come to a standstill: what further levels would add, at
/// the rate at which their changes fall, is little.
bool is_settled(const Errors& first, const Errors& second, const Errors& third) {
  for (std::size_t t = 0; t < third.size(); ++t) {
    if (t >= first.size() || !std::isfinite(third[t])) return false;
    const double before = std::abs(second[t] - first[t]), change = std::abs(third[t] - second[t]);
    const double rate = change < before ? change / before : 1;
    if (!(change * rate <= kSettled * (1 - rate) * std::abs(third[t])) && change > 0) return false;
  }
  return true;
}

/// One Cholesky for each lambda.  False if errors did not come to a standstill while the spaces
/// were small: they must not choose then.
bool fill_by_path(FoldPath& path, bool all, std::size_t start, Index features, Index targets,
                  const Progress& progress, LambdaTable& table) {
  const auto none = [&] {
    return Errors(static_cast<std::size_t>(targets), std::numeric_limits<double>::infinity());
  };
  bool good = true;
  fill(table, all, start, progress, [&](double lambda) {
    if (!good || !path.set_pole(lambda)) return none();  // singular: no lambda to choose
    Errors first, second, third;
    for (Index level = 0; level < kMostLevels && path.dimension() + targets <= features / 2;
         ++level) {
      path.extend();
      first = std::exchange(second, std::move(third));
      third = path.errors();
      if (is_settled(first, second, third)) return third;
    }
    good = false;
    return none();
  });
  return good;
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
  const double first = unit * std::pow(10.0, kStartStep / 2.0);
  const auto away = [&](double lambda) {
    return lambda > 0 ? std::abs(std::log10(lambda / first)) : std::numeric_limits<double>::max();
  };
  const auto start = static_cast<std::size_t>(std::ranges::min_element(table.lambdas, {}, away) -
                                              table.lambdas.begin());
  // With few rows for the features a fold's sums are unlike the others', and the path's spaces
  // would have to grow large; with fewer than features they do not see where rounding takes over.
  Index rows = 0;
  for (const auto& fold : folds) rows += fold.rows();
  if (FoldPath::pays(features, targets) && rows >= 4 * features) {
    const bool is_filled = [&] {
      FoldPath path(folds);
      return fill_by_path(path, search.per_target, start, features, targets, progress, table);
    }();
    if (is_filled) {
      report(progress, "solving", 0, 0);
      return solve_chosen(all, table, search.per_target);
    }
    table = empty_table(search.grid, unit);
  }
  fill_directly(folds, !search.grid.empty() || search.per_target, start, progress, table);
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
