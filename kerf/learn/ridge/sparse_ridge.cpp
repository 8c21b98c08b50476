// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/ridge/sparse_ridge.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/parallel.h"
#include "kerf/learn/ridge/lambda_table.h"
#include "kerf/linalg/dot.h"

namespace kerf::detail {
namespace {

constexpr double kTolerance = 1e-6;
constexpr double kChoiceTolerance = 30 * kTolerance;
constexpr int kMostSteps = 1000;

using Vector = std::vector<double>;

double row_product(const SparseRow& row, const Vector& w) {
  double sum = 0;
  for (std::size_t k = 0; k < row.values.size(); ++k) sum += row.values[k] * w[row.columns[k]];
  return sum;
}

void add_row(const SparseRow& row, double factor, Vector& to) {
  for (std::size_t k = 0; k < row.values.size(); ++k) to[row.columns[k]] += factor * row.values[k];
}

/// The system of all folds but one.
class System {
 public:
  System(const SparseRidgeProblem& problem, Index without)
      : x_(problem.x), y_(problem.y), mean_(problem.x.cols, 0.0) {
    diagonal_ = mean_;
    for (Index i = 0; i < x_.rows; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const bool in = without < 0 || problem.fold[at] != without;
      weights_.push_back(in ? problem.weights[i] : 0);
      n_ += weights_.back();
      const SparseRow row = x_.row(i);
      add_row(row, weights_.back(), mean_);
      for (std::size_t k = 0; k < row.values.size(); ++k)
        diagonal_[row.columns[k]] += weights_.back() * row.values[k] * row.values[k];
    }
    for (std::size_t j = 0; j < mean_.size() && n_ > 0; ++j) {
      mean_[j] /= n_;
      diagonal_[j] = std::max(0.0, diagonal_[j] - n_ * mean_[j] * mean_[j]);
    }
  }

  double weight() const { return n_; }
  /// Mean of the diagonal over n: the unit of lambda.
  double unit() const {
    const double sum = std::accumulate(diagonal_.begin(), diagonal_.end(), 0.0);
    return sum > 0 ? sum / static_cast<double>(diagonal_.size()) / n_ : 1;
  }

  /// The weights of target t; b is their intercept.  The residual left, relative.
  double solve(Index t, double lambda, double tolerance, Vector& w, double& b) const {
    double mean = 0;
    for (Index i = 0; i < x_.rows; ++i) mean += weights_[i] * y_(i, t);
    mean /= n_;
    w.assign(mean_.size(), 0.0);
    b = mean;
    Vector r(mean_.size(), 0.0), p(mean_.size()), product(mean_.size());
    for (Index i = 0; i < x_.rows; ++i) add_row(x_.row(i), weights_[i] * (y_(i, t) - mean), r);
    const double start = std::sqrt(dot_in_order(r, r));
    if (!(start > 0)) return 0;
    const double shift = n_ * lambda;
    double energy = 0, left = 1;
    for (int step = 0; step < kMostSteps && left > tolerance; ++step) {
      const double before = energy;
      energy = 0;
      for (std::size_t j = 0; j < r.size(); ++j) energy += r[j] * r[j] / scale(j, shift);
      const double along = step == 0 ? 0 : energy / before;
      for (std::size_t j = 0; j < r.size(); ++j) p[j] = r[j] / scale(j, shift) + along * p[j];
      multiply(p, shift, product);
      const double length = energy / dot_in_order(p, product);
      if (!std::isfinite(length)) break;
      for (std::size_t j = 0; j < r.size(); ++j) {
        w[j] += length * p[j];
        r[j] -= length * product[j];
      }
      left = std::sqrt(dot_in_order(r, r)) / start;
    }
    b = mean - dot_in_order(mean_, w);
    return left;
  }

 private:
  double scale(std::size_t j, double shift) const {
    const double value = diagonal_[j] + shift;
    return value > 0 ? value : 1;
  }
  void multiply(const Vector& v, double shift, Vector& out) const {
    const double centre = dot_in_order(mean_, v);
    for (std::size_t j = 0; j < v.size(); ++j) out[j] = shift * v[j];
    for (Index i = 0; i < x_.rows; ++i) {
      const double weight = weights_[i];
      if (weight == 0) continue;
      const SparseRow row = x_.row(i);
      add_row(row, weight * (row_product(row, v) - centre), out);
    }
  }

  CsrView x_;
  MatrixView<const double> y_;
  Vector weights_, mean_, diagonal_;
  double n_ = 0;
};

/// Targets that are solved for.
Index solved_targets(const SparseRidgeProblem& problem) {
  return problem.mirrored ? 1 : problem.y.cols;
}

/// Errors by target of rows left out, and what is predicted for them.
Vector cross_validate(const SparseRidgeProblem& problem, const std::vector<System>& folds,
                      double lambda, Matrix<double>& scores) {
  const Index targets = solved_targets(problem);
  scores.resize(problem.x.rows, problem.y.cols);
  parallel_for(problem.folds * targets, 1, [&](Index begin, Index end) {
    Vector w;
    double b = 0;
    for (Index task = begin; task < end; ++task) {
      const Index fold = task / targets, t = task % targets;
      folds[fold].solve(t, lambda, kChoiceTolerance, w, b);
      for (Index i = 0; i < problem.x.rows; ++i)
        if (problem.fold[i] == fold) scores(i, t) = b + row_product(problem.x.row(i), w);
    }
  });
  Vector errors(problem.y.cols, 0.0);
  double weight = 0;
  for (Index i = 0; i < problem.x.rows; ++i) {
    if (problem.mirrored) scores(i, 1) = -scores(i, 0);
    const double w = problem.weights[i];
    weight += w;
    for (Index t = 0; t < problem.y.cols; ++t)
      errors[t] += w * std::pow(problem.y(i, t) - scores(i, t), 2);
  }
  for (double& error : errors) error /= weight;
  return errors;
}

/// One system for each fold, of the other folds' rows; none if all that weighs something is in one.
std::vector<System> fold_systems(const SparseRidgeProblem& problem) {
  std::vector<System> folds;
  for (Index f = 0; f < problem.folds; ++f) {
    folds.emplace_back(problem, f);
    if (!(folds.back().weight() > 0)) return {};
  }
  return folds;
}

/// Downhill from the unit, in decades, then in half decades.
LambdaChoice choose(const SparseRidgeProblem& problem, const std::vector<System>& folds,
                    const std::vector<double>& asked, double unit, Matrix<double>& left_out,
                    const Progress& progress) {
  KERF_REQUIRE(!folds.empty(), data,
               "all rows that weigh something are in one of {} folds, so that lambda cannot be "
               "chosen: give {}",
               problem.folds, spell("lambda"));
  LambdaTable table = empty_table(asked, unit);
  const auto last = std::ssize(table.lambdas) - 1;
  double least = 0;
  Index tried = 0;
  Matrix<double> scores;
  const auto error_at = [&](std::ptrdiff_t k) {
    auto& errors = table.errors[k];
    if (errors.empty()) {
      report(progress, "choosing lambda", tried++, std::ssize(asked), "lambdas");
      errors = cross_validate(problem, folds, table.lambdas[k], scores);
      const double error = table.total(k);
      if (left_out.rows() == 0 || error < least) least = error, std::swap(left_out, scores);
    }
    return table.total(k);
  };
  if (!asked.empty()) {
    for (std::ptrdiff_t k = 0; k <= last; ++k) error_at(k);
    return table.choice(false);
  }
  std::ptrdiff_t best = -kFirstGridStep;  // the unit
  for (const std::ptrdiff_t stride : {2, 1})
    for (const std::ptrdiff_t direction : {stride, -stride})
      for (std::ptrdiff_t next = best + direction;
           next >= 0 && next <= last && error_at(next) < error_at(best); next += direction)
        best = next;
  return table.choice(false);
}

}  // namespace

SparseRidgeFit fit_sparse_ridge(const SparseRidgeProblem& problem,
                                const std::vector<double>& lambdas, const Progress& progress) {
  SparseRidgeFit fit;
  const System all(problem, -1);
  const std::vector<System> folds = fold_systems(problem);
  if (lambdas.size() != 1) {
    fit.choice = choose(problem, folds, lambdas, all.unit(), fit.left_out, progress);
  } else {
    fit.choice.lambda = lambdas[0];
    if (!folds.empty()) cross_validate(problem, folds, lambdas[0], fit.left_out);
  }
  report(progress, "solving", 0, 0, "");
  const Index targets = problem.y.cols, solved = solved_targets(problem);
  fit.model = {Matrix<double>(problem.x.cols, targets), std::vector<double>(targets, 0.0)};
  Vector residuals(solved);
  parallel_for(solved, 1, [&](Index begin, Index end) {
    Vector w;
    for (Index t = begin; t < end; ++t) {
      double& b = fit.model.intercept[t];
      residuals[t] = all.solve(t, fit.choice.lambda, kTolerance, w, b);
      for (Index j = 0; j < problem.x.cols; ++j) fit.model.weights(j, t) = w[j];
    }
  });
  fit.residual = std::ranges::max(residuals);
  if (problem.mirrored) {
    fit.model.intercept[1] = -fit.model.intercept[0];
    for (Index j = 0; j < problem.x.cols; ++j) fit.model.weights(j, 1) = -fit.model.weights(j, 0);
  }
  return fit;
}

Index sparse_ridge_bytes(Index rows, Index columns, Index targets) {
  constexpr Index kMostFolds = 100;
  // Means and diagonals of each fold, vectors of each thread, weights; scores twice.
  return 8 * columns * (2 * std::min<Index>(kMostFolds, 6) + 4 * threads() + targets) +
         8 * rows * (2 * targets + 8);
}

}  // namespace kerf::detail
