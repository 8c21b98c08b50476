// SPDX-License-Identifier: Apache-2.0
#include "kerf/model/intervals.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/model/model.h"

namespace kerf::detail {
namespace {

/// Decimals such as 0.9 are not numbers of base 2: what is whole but for that is whole.
double whole_up(double number) { return std::ceil(number * (1 - 1e-12)); }

/// ceil((n + 1) level).
Index rank_of(double level, Index rows) {
  return std::max<Index>(1, static_cast<Index>(whole_up(static_cast<double>(rows + 1) * level)));
}

/// Ranks of the scores that are kept of so many.
std::vector<Index> kept_ranks(Index rows) {
  std::vector<Index> ranks;
  const Index tail = ConformalScores::kMostKept / 2, thinned = rows - tail;
  if (rows > ConformalScores::kMostKept)
    for (Index j = 1; j <= tail; ++j) ranks.push_back((thinned * j + tail - 1) / tail);
  for (Index rank = ranks.empty() ? 1 : ranks.back() + 1; rank <= rows; ++rank)
    ranks.push_back(rank);
  return ranks;
}

/// What a target's errors are measured in at a row.
double unit_of(const Model& model, const Matrix<double>& variance, Index row, Index target) {
  // Without noise every variance is 0, and errors are rounding.
  if (!model.variance || !(model.variance->noise[target] > 0)) return 1;
  return std::sqrt(variance(row, target));
}

}  // namespace

ConformalScores ConformalScores::of(Matrix<double> all) {
  ConformalScores kept;
  kept.ranks = kept_ranks(all.rows());
  kept.scores.resize(std::ssize(kept.ranks), all.cols());
  std::vector<double> column(all.rows());
  for (Index t = 0; t < all.cols(); ++t) {
    for (Index i = 0; i < all.rows(); ++i) column[i] = all(i, t);
    std::ranges::sort(column);
    for (std::size_t j = 0; j < kept.ranks.size(); ++j)
      kept.scores(static_cast<Index>(j), t) = column[kept.ranks[j] - 1];
  }
  return kept;
}

bool ConformalScores::reaches(double level) const { return rank_of(level, rows()) <= rows(); }

double ConformalScores::quantile(Index target, double level) const {
  check_level(level);
  KERF_REQUIRE(
      reaches(level), usage,
      "a level of {} needs {} calibration rows, and the model has {}: ask for at most {:.4g}, "
      "or fit with more rows or a larger {}",
      level, rows_needed(level), rows(),
      std::floor(1e4 * static_cast<double>(rows()) / static_cast<double>(rows() + 1)) / 1e4,
      spell("calibration-part"));
  const auto at = std::ranges::lower_bound(ranks, rank_of(level, rows()));
  return scores(at - ranks.begin(), target);
}

void ConformalScores::check(Index targets, double most) const {
  constexpr Index kMostRows = Index{1} << 53;
  const bool ordered = !ranks.empty() && ranks.front() >= 1 && rows() <= kMostRows &&
                       std::ranges::adjacent_find(ranks, std::greater_equal{}) == ranks.end();
  KERF_REQUIRE(ordered, data, "the ranks of its calibration scores are not in order");
  KERF_REQUIRE(scores.rows() == std::ssize(ranks) && scores.cols() == targets, data,
               "{} x {} calibration scores for {} ranks and {} targets", scores.rows(),
               scores.cols(), ranks.size(), targets);
  for (Index t = 0; t < targets; ++t) {
    double before = 0;
    for (Index j = 0; j < scores.rows(); ++j) {
      KERF_REQUIRE(scores(j, t) >= before && scores(j, t) <= most, data,
                   "a calibration score is {} after {}", scores(j, t), before);
      before = scores(j, t);
    }
  }
}

Index rows_needed(double level) { return static_cast<Index>(whole_up(level / (1 - level))); }

void check_level(double level) {
  KERF_REQUIRE(level > 0 && level < 1, usage,
               "the level of an interval is a share between 0 and 1, as in 0.9, not {}", level);
}

double normal_quantile(double level) {
  check_level(level);
  double low = 0, high = 40;
  while (true) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return high;
    const double x =
        middle / std::sqrt(2.0);  // the function whose value is small: it has all digits
    const bool below = level < 0.5 ? std::erf(x) < level : std::erfc(x) > 1 - level;
    (below ? low : high) = middle;
  }
}

IntervalKind interval_kind(const Model& model, bool sets) {
  const bool classes = model.task == Task::classification;
  KERF_REQUIRE(!sets || classes, usage, "this model predicts numbers: sets are of classes");
  KERF_REQUIRE(sets || !classes, usage, "this model predicts classes: intervals are of numbers");
  if (model.conformal) return IntervalKind::conformal;
  KERF_REQUIRE(!classes, usage, "the model was trained without sets of classes: train it with {}",
               spell("intervals", "conformal"));
  KERF_REQUIRE(model.variance.has_value(), usage,
               "the model was trained without intervals: train it with {}, or {}",
               spell("intervals", "conformal"), spell_on("variance"));
  return IntervalKind::normal;
}

void check_interval_level(const Model& model, double level) {
  check_level(level);
  if (model.conformal) model.conformal->quantile(0, level);
}

Matrix<double> half_widths(const Model& model, IntervalKind kind, double level, Index rows,
                           const Matrix<double>& variance) {
  Matrix<double> out(rows, model.outputs());
  for (Index t = 0; t < model.outputs(); ++t) {
    const bool normal = kind == IntervalKind::normal;
    const double factor = normal ? normal_quantile(level) : model.conformal->quantile(t, level);
    for (Index i = 0; i < rows; ++i)
      out(i, t) = factor * (normal ? std::sqrt(variance(i, t)) : unit_of(model, variance, i, t));
  }
  return out;
}

Matrix<double> class_sets(const Model& model, double level, const Matrix<double>& probabilities,
                          std::span<const Index> best) {
  interval_kind(model, true);
  const double most = model.conformal->quantile(0, level);
  Matrix<double> sets(probabilities.rows(), probabilities.cols());
  for (Index i = 0; i < sets.rows(); ++i)
    for (Index c = 0; c < sets.cols(); ++c)
      sets(i, c) = c == best[i] || 1 - probabilities(i, c) <= most ? 1 : 0;
  return sets;
}

Matrix<double> conformal_scores(const Model& model, const Matrix<double>& values,
                                const Matrix<double>& variance, const Matrix<double>& targets,
                                std::span<const Index> best) {
  const bool classes = model.task == Task::classification;
  Matrix<double> out(values.rows(), classes ? 1 : model.outputs());
  for (Index i = 0; i < out.rows(); ++i) {
    if (classes) {
      const auto truth = static_cast<Index>(targets(i, 0));
      out(i, 0) = truth == best[i] ? 0 : 1 - values(i, truth);
      continue;
    }
    for (Index t = 0; t < out.cols(); ++t)
      out(i, t) = std::abs(targets(i, t) - values(i, t)) / unit_of(model, variance, i, t);
  }
  return out;
}

std::string describe_intervals(const Model& model) {
  if (model.conformal)
    return fmt::format("conformal{}, calibrated on {} rows",
                       model.task == Task::classification ? " sets of classes"
                       : model.variance                   ? ", in units of the standard deviation"
                                                          : "",
                       model.conformal->rows());
  return model.variance ? "normal, of the variances" : "";
}

}  // namespace kerf::detail
