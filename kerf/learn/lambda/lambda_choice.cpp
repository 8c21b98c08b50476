// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/lambda/lambda_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kerf/api/error.h"
#include "kerf/core/options.h"
#include "kerf/core/require.h"
#include "kerf/learn/lambda/fold_path.h"

namespace kerf::detail {
namespace {

constexpr int kStartStep = -2;  // of the automatic grid, where the walk begins

// Errors stand still where this many levels in a row are alike but for this part of them.  Fewer
// would do but for turning points: an error may fall for some levels and then rise.
constexpr std::size_t kStill = 4;
constexpr double kAlike = 3e-4;

using Errors = std::vector<double>;  // of each target

/// Fills the table: all of it, or downhill from `start`, in decades, then in half decades; larger
/// lambdas first, which take fewer levels and are never singular.
void fill(LambdaTable& table, bool all, std::size_t start, const Progress& progress,
          const std::function<Errors(double lambda)>& errors_of) {
  Index tried = 0;
  const Index known = all ? std::ssize(table.lambdas) : 0;
  const auto error_at = [&](std::size_t k) {
    if (table.errors[k].empty()) {
      report(progress, "choosing lambda", tried++, known, "lambdas");
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
           next >= 0 && next <= last && error_at(next) < error_at(best); next += direction)
        best = next;
}

bool are_alike(std::span<const FoldPath::Level> levels, Errors FoldPath::Level::*numbers) {
  for (std::size_t t = 0; t < (levels.front().*numbers).size(); ++t) {
    const auto of_target = [&](const FoldPath::Level& level) { return (level.*numbers)[t]; };
    const double least = of_target(std::ranges::min(levels, {}, of_target));
    const double most = of_target(std::ranges::max(levels, {}, of_target));
    if (!(most - least <= kAlike * most)) return false;  // also if one is not finite
  }
  return true;
}

/// Whether the last levels stand still.
bool is_settled(std::span<const FoldPath::Level> levels) {
  if (levels.size() < kStill) return false;
  const auto last = levels.last(kStill);
  return are_alike(last, &FoldPath::Level::errors) && are_alike(last, &FoldPath::Level::objectives);
}

/// Errors at one lambda after another: from one Cholesky each while the spaces of fold_path.h are
/// small, and from one for each fold at lambdas as small as one at which they were not.
class ErrorsByPath {
 public:
  explicit ErrorsByPath(std::span<const NormalEquations> folds) : folds_(folds), path_(folds) {}

  Errors operator()(double lambda) {
    if (lambda > too_small_) {
      if (!path_.set_pole(lambda)) return singular();
      std::vector<FoldPath::Level> levels;
      while (!path_.is_full()) {
        path_.extend();
        levels.push_back(path_.level());
        if (is_settled(levels)) return levels.back().errors;
      }
      too_small_ = lambda;
    }
    path_.clear();
    return cross_validation_errors(folds_, lambda);
  }

 private:
  Errors singular() const {  // no lambda to choose
    return Errors(folds_.front().targets(), std::numeric_limits<double>::infinity());
  }

  std::span<const NormalEquations> folds_;
  FoldPath path_;
  double too_small_ = -1;
};

/// The model of the best lambda.  Where errors stand still for ever smaller lambdas the best may be
/// so small that rounding makes the system singular: then the best of the larger ones.
ChosenModel solve_chosen(std::span<const NormalEquations* const> all, LambdaTable& table,
                         bool per_target) {
  for (;;) {
    ChosenModel result{table.choice(per_target), {}, {}};
    try {
      result.model = solve_ridge(all, result.choice, &result.factor);
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
  Index rows = 0;
  for (const auto& fold : folds) rows += fold.rows();
  // With fewer rows than features a path's spaces do not see where rounding takes over.
  if (FoldPath::pays(features, targets) && rows >= features) {
    ErrorsByPath errors(folds);
    fill(table, search.per_target, start, progress, std::ref(errors));
  } else {
    fill(table, !search.grid.empty() || search.per_target, start, progress,
         [&](double lambda) { return cross_validation_errors(folds, lambda); });
  }
  report(progress, "solving", 0, 0, "");
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
  const Index solve = ridge_bytes(features, targets);
  if (!FoldPath::pays(features, targets)) return solve;
  return std::max(FoldPath::bytes(features, targets, folds),
                  NormalEquations::bytes(features, targets) + solve);
}

}  // namespace kerf::detail
