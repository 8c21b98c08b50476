// Intervals around predictions, and sets of classes, at any level.
//
//   normal     prediction +- z sqrt(variance), with what `fit --variance` keeps: right where the noise
//              is Gaussian and of one size
//   conformal  rows that were left out of the fit say how large errors are.  Of a row with target y
//                regression  s = |y - f| / v,  v = sqrt(variance), or 1 in a model without variances
//                classes     s = 0 if y is the class predicted, else 1 - probability of y
//              and q = the k-th smallest s of the n calibration rows, k = ceil((n + 1) level).  The
//              interval is f +- q v; the set holds the classes with s <= q, never none.
//
// Guarantee:  of the conformal ones: if a new row and the calibration rows are exchangeable (drawn alike,
//             in any order), P(target inside) >= level, for any model and any noise; and less than
//             level + 1/(n + 1) where no two scores are equal.  On average over rows and over draws of
//             the calibration rows, not for each row; given those, the share covered is distributed as
//             Beta(k, n + 1 - k).  Rows far from the training rows are not exchangeable with them:
//             nothing is promised there.
// Cost:       n scores, sorted; the model keeps at most 4,096 of them for each target.
// Reference:  Vovk, Gammerman & Shafer, "Algorithmic learning in a random world", 2005; Lei, G'Sell,
//             Rinaldo, Tibshirani & Wasserman, JASA 2018 (split conformal, and scaled by a spread);
//             Sadinle, Lei & Wasserman, JASA 2019 (classes by their probability: the smallest sets on
//             average; the adaptive sets of Romano, Sesia & Candes, NeurIPS 2020, are larger);
//             Angelopoulos & Bates 2021.
// Differs:    the class predicted always belongs to its set (s = 0), which those of 2019 may leave empty:
//             the guarantee is that of this s; at levels below the accuracy every set is one class.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <span>
#include <string>
#include <vector>

#include "kerf/core/rows/matrix.h"

namespace kerf::detail {

struct Model;

/// Sorted scores of calibration rows.  Of many only some are kept: the largest ones all, of the others
/// evenly many; what lies between two counts as the larger one, so that intervals only grow.
struct ConformalScores {
  static constexpr Index kMostKept = 4096;

  std::vector<Index>
      ranks;  ///< of the scores kept, from 1, increasing; the last is the number of rows
  Matrix<double> scores;  ///< kept x targets (classes: x 1), each column in order

  /// Of the scores of all rows: rows x targets, each column is sorted in place.
  static ConformalScores of(Matrix<double> all);

  Index rows() const { return ranks.empty() ? 0 : ranks.back(); }
  /// Whether there are rows enough for that level.
  bool reaches(double level) const;
  /// q of a target; Error (usage) if the level needs more rows.
  double quantile(Index target, double level) const;
  /// Error (data) if this cannot come from calibration rows: a file may hold anything.
  void check(Index targets, double most) const;
};

/// Fewest calibration rows that such a level needs.
Index rows_needed(double level);
/// Error (usage) unless 0 < level < 1.
void check_level(double level);
/// z with P(|N(0, 1)| <= z) = level.
double normal_quantile(double level);

enum class IntervalKind { normal, conformal };
constexpr auto names_of(IntervalKind) { return std::array{"normal", "conformal"}; }

/// What the model can say: conformal if it was calibrated, else normal; Error (usage) if neither, or if
/// it is of classes (`sets`: of numbers).
IntervalKind interval_kind(const Model& model, bool sets = false);

/// Error (usage) for a level that is none, or for which the model was calibrated on too few rows.
void check_interval_level(const Model& model, double level);

/// How far each interval reaches from its prediction, rows x targets; `variance` of the same shape where
/// the model has it, else without rows.
Matrix<double> half_widths(const Model& model, IntervalKind kind, double level, Index rows,
                           const Matrix<double>& variance);

/// 1 for each class in the set of a row, else 0; `best`: the class predicted for each.
Matrix<double> class_sets(const Model& model, double level, const Matrix<double>& probabilities,
                          std::span<const Index> best);

/// s of each row and target; classes: of the right class, values are probabilities.
Matrix<double> conformal_scores(const Model& model, const Matrix<double>& values,
                                const Matrix<double>& variance, const Matrix<double>& targets,
                                std::span<const Index> best);

/// "conformal, calibrated on 88 rows"; "": the model has none.
std::string describe_intervals(const Model& model);

}  // namespace kerf::detail
