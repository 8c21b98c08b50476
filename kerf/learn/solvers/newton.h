// Newton's method for linear classifiers on features: few passes, any number of rows.
//
//   minimise F(W, b) = (1/n) sum_i w_i loss(y_i, W z_i + b) + lambda |W|^2,    b unpenalised
//   step d:  H d = -g by conjugate gradients, preconditioned by the sketched Gram matrix:
//            H is close to (a/n) (Zc^T Zc + (2 n lambda / a) I), a: the mean curvature of the loss;
//            with few features by the blocks of H itself (curvature_blocks.h)
//
// Scores are linear in (W, b), so that the line search needs no pass at all: they are kept.  The
// squared hinge of one score knows nothing of the others': each has its own line search and
// conjugate gradients, and rests once it is minimised.
//
// Error:      stops when half the squared Newton decrement, which estimates F - min F, is below a
//             given part of F.
// Cost:       a Newton step: one pass for the gradient, one for the scores of the step, one for
//             each step of conjugate gradients (4 n m k flops, k scores); n k numbers kept.
// Reference:  Lin, Weng & Keerthi, "Trust region Newton method for large-scale logistic
// regression",
//             JMLR 2008; Keerthi & DeCoste, "A modified finite Newton method for fast solution of
//             large scale linear SVMs", JMLR 2005.
// Differs:    a line search instead of a trust region; preconditioned; multinomial logistic loss.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <numeric>
#include <optional>

#include "kerf/learn/quality/classification_loss.h"
#include "kerf/learn/quality/temperature.h"
#include "kerf/learn/solvers/curvature_blocks.h"
#include "kerf/learn/solvers/sketched_gram.h"

namespace kerf::detail {

class Newton {
 public:
  /// Weights around the origin of the features: a score's in each row.
  struct Point {
    Matrix<double> weights;
    std::vector<double> intercept;
  };

  /// `scores`: classes, or 1 for two classes.  All must outlive it.
  Newton(FeatureCache& cache, const SketchedGram& gram, Loss loss, Index scores,
         const Progress& progress);

  /// Minimises F over the rows of all folds but `without` (-1: all), starting from `point`.
  /// Returns the estimate of F - min F, divided by F.  after_step sees the point on the way.
  double minimise(double lambda, Index without, double tolerance, Point& point,
                  const std::function<void(const Point&)>& after_step = {});

  /// Of the rows of a fold, at the point that was minimised last: their mean loss, which must have
  /// some weight, and their scores.
  double held_out_loss(Index fold) const;
  LeftOutScores held_out_scores(Index fold) const;

  Point zero() const;
  Index passes() const { return passes_; }

  static Index bytes(Index rows, Index features, Index scores);

 private:
  using PerGroup = std::vector<double>;  // of the loss's groups of scores
  struct Value {
    PerGroup loss;
    double curvature = 0;  // mean over rows and scores
    double total() const { return std::accumulate(loss.begin(), loss.end(), 0.0); }
  };
  struct Step {
    Point point;
    PerGroup length;
    Value value;
  };
  std::size_t group_of(Index score) const {
    return groups_ == 1 ? 0 : static_cast<std::size_t>(score);
  }
  PerGroup inner(const Point& a, const Point& b) const;
  /// to += factor from, with a factor for each group.
  void add(Point& to, const PerGroup& factor, const Point& from) const;
  /// Of a row, and of one in training: 0 for the fold held out.
  double full_weight_of(Index row) const { return cache_.weights()[row]; }
  double weight_of(Index row) const { return fold_[row] == without_ ? 0 : full_weight_of(row); }
  Matrix<double> scores_of(const Point& point);
  /// (1/n) sum w_i q_i z_i + 2 lambda v, where q_i comes from `rows_of`; and sums of w_i q_i.
  using RowFunction = std::function<void(Index row, std::span<double> products)>;
  Point summed(const Point* v, double lambda, const RowFunction& f);
  Value value(double lambda, const Point& point, const Matrix<double>* step,
              const PerGroup& length) const;
  /// Makes the preconditioner of the scores kept, where groups are at work.
  void prepare(double lambda, double curvature, const PerGroup& at_work);
  void precondition(Point& p) const;
  /// For groups whose tolerance is below 1; nothing for the others.
  Point direction(const Point& gradient, double lambda, const PerGroup& tolerance);
  /// Along d from `point`, of value `now` and slopes `slope`; length 0 where no step goes down.
  Step line_search(double lambda, const Point& point, const Point& d, const Matrix<double>& scores,
                   const Value& now, const PerGroup& slope) const;

  FeatureCache& cache_;
  const SketchedGram& gram_;
  Loss loss_;
  Index count_, groups_;
  const Progress& progress_;
  std::vector<Index> label_, fold_;
  Matrix<double> scores_;
  std::optional<CurvatureBlocks> blocks_;  // with few features; else:
  Matrix<double> factor_;
  double curvature_ = 0;  // that the factor was made for
  double factor_lambda_ = -1;
  double n_ = 0;
  Index without_ = -1;
  Index passes_ = 0;
};

}  // namespace kerf::detail
