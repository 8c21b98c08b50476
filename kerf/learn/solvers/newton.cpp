// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/solvers/newton.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kerf/core/system/parallel.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

constexpr int kMostSteps = 60, kMostInner = 60;
constexpr double kArmijo = 1e-4;        // part of the promised decrease that a step must bring
constexpr double kCurvatureChange = 5;  // of the mean curvature, before the factor is made anew

Newton::Point copy(const Newton::Point& from) { return {from.weights.copy(), from.intercept}; }

}  // namespace

Newton::Newton(FeatureCache& cache, const SketchedGram& gram, Loss loss, Index scores,
               const Progress& progress)
    : cache_(cache),
      gram_(gram),
      loss_(loss),
      count_(scores),
      groups_(loss_groups(loss, scores)),
      progress_(progress) {
  for (Index i = 0; i < cache.rows(); ++i) {
    const auto row = cache.targets().row(i);
    label_.push_back(std::ranges::max_element(row) - row.begin());
  }
  fold_ = cache.fold_of_rows();
}

Newton::Point Newton::zero() const {
  Point point{Matrix<double>(count_, cache_.features()), std::vector<double>(count_, 0.0)};
  point.weights.fill(0);
  return point;
}

Newton::PerGroup Newton::inner(const Point& a, const Point& b) const {
  PerGroup sums(groups_, 0.0);
  for (Index k = 0; k < count_; ++k) {
    const auto i = static_cast<std::size_t>(k);
    sums[group_of(k)] += a.intercept[i] * b.intercept[i];
    for (Index j = 0; j < a.weights.cols(); ++j)
      sums[group_of(k)] += a.weights(k, j) * b.weights(k, j);
  }
  return sums;
}

void Newton::add(Point& to, const PerGroup& factor, const Point& from) const {
  for (Index k = 0; k < count_; ++k) {
    const auto i = static_cast<std::size_t>(k);
    const double f = factor[group_of(k)];
    to.intercept[i] += f * from.intercept[i];
    for (Index j = 0; j < to.weights.cols(); ++j) to.weights(k, j) += f * from.weights(k, j);
  }
}

Matrix<double> Newton::scores_of(const Point& point) {
  ++passes_;
  Matrix<double> scores(cache_.rows(), count_);
  const auto keep = [&](const FeatureCache::Piece& piece, MatrixView<double> products) {
    for (Index i = 0; i < products.rows; ++i) {
      // Rows are kept as sqrt(w) (z - c).
      const double w = full_weight_of(piece.first + i);
      const double factor = w > 0 ? 1 / std::sqrt(w) : 0.0;
      for (Index k = 0; k < count_; ++k)
        scores(piece.first + i, k) = products(i, k) * factor + point.intercept[k];
    }
  };
  product_with_rows(cache_, point.weights.view(), keep, {.sums = false});
  return scores;
}

Newton::Point Newton::summed(const Point* v, double lambda, const RowFunction& f) {
  ++passes_;
  const auto size = static_cast<std::size_t>(count_);
  std::vector<double> lane_sums(FeatureCache::kLanes * size, 0.0);
  const auto change = [&](const FeatureCache::Piece& piece, MatrixView<double> products) {
    for (Index i = 0; i < products.rows; ++i) {
      const Index row = piece.first + i;
      const double w = weight_of(row), root = std::sqrt(w);
      const auto values = products.row(i);
      if (w == 0) {
        std::ranges::fill(values, 0.0);
        continue;
      }
      for (std::size_t k = 0; v && k < size; ++k) values[k] = values[k] / root + v->intercept[k];
      f(row, values);
      for (std::size_t k = 0; k < size; ++k) {
        lane_sums[static_cast<std::size_t>(piece.lane) * size + k] += w * values[k];
        values[k] *= root;
      }
    }
  };
  const Matrix<double> none(count_, cache_.features());
  Point out{product_with_rows(cache_, v ? v->weights.view() : none.view(), change,
                              {.products = v != nullptr}),
            std::vector<double>(size, 0.0)};
  for (std::size_t k = 0; k < lane_sums.size(); ++k) out.intercept[k % size] += lane_sums[k] / n_;
  for (Index k = 0; k < count_ * cache_.features(); ++k) {
    out.weights.data()[k] /= n_;
    if (v) out.weights.data()[k] += 2 * lambda * v->weights.data()[k];
  }
  return out;
}

/// F at the scores kept plus lengths times those of a step (`point` is that place, for |W|^2).
Newton::Value Newton::value(double lambda, const Point& point, const Matrix<double>* step,
                            const PerGroup& length) const {
  constexpr Index kRows = 1024;
  const Index pieces = (cache_.rows() + kRows - 1) / kRows;
  const PerGroup zeros(groups_, 0.0);
  std::vector<Value> sums(pieces, Value{zeros, 0});
  parallel_for(pieces, 1, [&](Index piece, Index) {
    std::vector<double> scores(count_), curvatures(scores.size());
    PerGroup losses(zeros);
    Value& sum = sums[piece];
    for (Index i = piece * kRows; i < std::min((piece + 1) * kRows, cache_.rows()); ++i) {
      const double w = weight_of(i);
      if (w == 0) continue;
      for (Index k = 0; k < count_; ++k)
        scores[k] = scores_(i, k) + (step ? length[group_of(k)] * (*step)(i, k) : 0.0);
      const Index label = label_[i];
      group_losses(loss_, label, scores, losses);
      for (std::size_t g = 0; g < losses.size(); ++g) sum.loss[g] += w * losses[g];
      if (step) continue;
      curvature_diagonal(loss_, label, scores, curvatures);
      for (const double h : curvatures) sum.curvature += w * h / static_cast<double>(count_);
    }
  });
  Value total{zeros, 0};
  for (const Value& sum : sums) {
    for (std::size_t g = 0; g < zeros.size(); ++g) total.loss[g] += sum.loss[g] / n_;
    total.curvature += sum.curvature / n_;
  }
  for (Index k = 0; k < count_; ++k)
    for (const double w : point.weights.row(k)) total.loss[group_of(k)] += lambda * w * w;
  return total;
}

void Newton::prepare(double lambda, double curvature, const PerGroup& at_work) {
  if (CurvatureBlocks::worthwhile(cache_)) {
    Matrix<double> curvatures(scores_.rows(), count_);
    for (Index i = 0; i < scores_.rows(); ++i) {
      const auto row = curvatures.row(i);
      curvature_diagonal(loss_, label_[i], scores_.row(i), row);
      for (double& h : row) h *= weight_of(i);
    }
    if (!blocks_) blocks_.emplace(count_);
    for (Index k = 0; k < count_; ++k)
      if (at_work[group_of(k)] > 0) blocks_->make(k, cache_, curvatures, n_, lambda);
    return;
  }
  const double a = std::max(curvature, 1e-6);
  if (factor_lambda_ == lambda && a <= kCurvatureChange * curvature_ &&
      curvature_ <= kCurvatureChange * a)
    return;
  curvature_ = a;
  factor_lambda_ = lambda;
  factor_ = gram_.factor(2 * n_ * lambda / a);
}

/// p := M^-1 p with the blocks, or M = (a/n) R^T R for weights and a for intercepts.
void Newton::precondition(Point& p) const {
  if (blocks_) {
    std::vector<double> v(cache_.features() + 1);
    for (Index k = 0; k < count_; ++k) {
      std::ranges::copy(p.weights.row(k), v.begin());
      v.back() = p.intercept[k];
      blocks_->solve(k, v);
      std::copy_n(v.begin(), cache_.features(), p.weights.row(k).begin());
      p.intercept[k] = v.back();
    }
    return;
  }
  blas::triangular_solve_rows(factor_.view(), false, p.weights.view());
  blas::triangular_solve_rows(factor_.view(), true, p.weights.view());
  for (Index k = 0; k < count_ * cache_.features(); ++k) p.weights.data()[k] *= n_ / curvature_;
  for (double& b : p.intercept) b /= curvature_;
}

/// Conjugate gradients for H d = -g until the residual is `tolerance` of the gradient.
Newton::Point Newton::direction(const Point& gradient, double lambda, const PerGroup& tolerance) {
  const auto hessian_times = [&](const Point& v) {
    return summed(&v, lambda, [&](Index row, std::span<double> u) {
      double few[64];
      std::vector<double> many(u.size() > 64 ? u.size() : 0);
      const std::span<double> out(many.empty() ? few : many.data(), u.size());
      loss_curvature(loss_, label_[row], scores_.row(row), u, out);
      std::ranges::copy(out, u.begin());
    });
  };
  const std::size_t groups = tolerance.size();
  Point d = zero(), residual = zero(), p = zero();
  add(residual, PerGroup(groups, -1.0), gradient);
  Point z = copy(residual);
  precondition(z);
  PerGroup rho = inner(residual, z), goal(groups), length(groups, 0.0), beta(groups, 0.0);
  for (std::size_t g = 0; g < groups; ++g) goal[g] = tolerance[g] * tolerance[g] * rho[g];
  for (int step = 0; step < kMostInner; ++step) {
    PerGroup going(groups, 0.0);
    for (std::size_t g = 0; g < groups; ++g) going[g] = rho[g] > goal[g] ? 1 : 0;
    if (std::ranges::all_of(going, [](double v) { return v == 0; })) break;
    Point next = zero();  // p := z + beta p, where the residual is not small enough
    for (std::size_t g = 0; g < groups; ++g) beta[g] *= going[g];
    add(next, going, z);
    add(next, beta, p);
    p = std::move(next);
    const Point q = hessian_times(p);
    const PerGroup energy = inner(p, q);
    for (std::size_t g = 0; g < groups; ++g) {
      if (!(energy[g] > 0)) goal[g] = rho[g] = 0;
      length[g] = energy[g] > 0 ? rho[g] / energy[g] : 0;
    }
    add(d, length, p);
    for (double& v : length) v = -v;
    add(residual, length, q);
    z = copy(residual);
    precondition(z);
    const PerGroup now = inner(residual, z);
    for (std::size_t g = 0; g < groups; ++g) {
      beta[g] = rho[g] > 0 ? now[g] / rho[g] : 0;
      if (length[g] != 0) rho[g] = now[g];
    }
  }
  return d;
}

Newton::Step Newton::line_search(double lambda, const Point& point, const Point& d,
                                 const Matrix<double>& scores, const Value& now,
                                 const PerGroup& slope) const {
  const std::size_t groups = slope.size();
  Step step{{}, PerGroup(groups, 1.0), {}};
  for (int halving = 0; halving < 30; ++halving) {
    step.point = copy(point);
    add(step.point, step.length, d);
    step.value = value(lambda, step.point, &scores, step.length);
    bool enough = true;
    for (std::size_t g = 0; g < groups; ++g) {
      if (step.value.loss[g] <= now.loss[g] + kArmijo * step.length[g] * slope[g]) continue;
      step.length[g] /= 2;
      enough = false;
    }
    if (enough) break;
  }
  for (std::size_t g = 0; g < groups; ++g)
    if (!(step.value.loss[g] < now.loss[g])) step.length[g] = 0;
  step.point = copy(point);
  add(step.point, step.length, d);
  return step;
}

double Newton::minimise(double lambda, Index without, double tolerance, Point& point,
                        const std::function<void(const Point&)>& after_step) {
  without_ = without;
  n_ = 0;
  for (Index i = 0; i < cache_.rows(); ++i) n_ += weight_of(i);
  scores_ = scores_of(point);
  const auto groups = static_cast<std::size_t>(groups_);
  PerGroup at_work(groups, 1.0), first, inner_tolerance(groups);
  // What the preconditioner made too little of the squared decrement in the step before.
  PerGroup missed(groups, 1.0);
  std::vector<bool> stuck(groups, false);  // by rounding: no step goes down any more
  double left = 1;
  Value now = value(lambda, point, nullptr, {});
  for (int step = 0; step < kMostSteps; ++step) {
    report(progress_, "solving", passes_, 0, "passes");
    prepare(lambda, now.curvature, at_work);
    Point gradient = summed(nullptr, lambda, [&](Index row, std::span<double> out) {
      loss_gradient(loss_, label_[row], scores_.row(row), out);
    });
    for (Index k = 0; k < count_ * cache_.features(); ++k)
      gradient.weights.data()[k] += 2 * lambda * point.weights.data()[k];
    Point scaled = copy(gradient);
    precondition(scaled);
    PerGroup size = inner(gradient, scaled);
    for (std::size_t g = 0; g < groups; ++g) size[g] *= missed[g];
    if (step == 0) first = size;
    const double total = std::max(now.total(), 1e-300);
    left = 0.5 * std::accumulate(size.begin(), size.end(), 0.0) / total;
    if (left <= tolerance) break;
    // A group's share of the tolerance; one that had it rests, and its block stays as it is.
    for (std::size_t g = 0; g < groups; ++g) {
      const bool small = 0.5 * size[g] <= 0.5 * tolerance * total / static_cast<double>(groups);
      at_work[g] = small || stuck[g] ? 0 : 1;
      inner_tolerance[g] =
          at_work[g] > 0 ? std::clamp(std::sqrt(size[g] / first[g]), 0.02, 0.3) : 1;
    }
    const Point d = direction(gradient, lambda, inner_tolerance);
    const Matrix<double> step_scores = scores_of(d);
    const PerGroup slope = inner(gradient, d);
    Step found = line_search(lambda, point, d, step_scores, now, slope);
    for (std::size_t g = 0; g < groups; ++g) {
      if (at_work[g] > 0 && found.length[g] == 0) stuck[g] = true;
      if (at_work[g] > 0) missed[g] = std::max(1.0, -slope[g] / size[g] * missed[g]);
    }
    if (std::ranges::all_of(found.length, [](double l) { return l == 0; })) break;
    point = std::move(found.point);
    for (Index i = 0; i < scores_.rows(); ++i)
      for (Index k = 0; k < count_; ++k)
        scores_(i, k) += found.length[group_of(k)] * step_scores(i, k);
    now = value(lambda, point, nullptr, {});
    if (after_step) after_step(point);
  }
  return left;
}

double Newton::held_out_loss(Index fold) const {
  double sum = 0, weight = 0;
  for (Index i = 0; i < cache_.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (fold_[row] != fold) continue;
    sum += full_weight_of(i) * loss_value(loss_, label_[row], scores_.row(i));
    weight += full_weight_of(i);
  }
  return sum / weight;
}

LeftOutScores Newton::held_out_scores(Index fold) const {
  LeftOutScores scores;
  for (Index i = 0; i < cache_.rows() && !scores.enough(); ++i)
    if (const auto row = static_cast<std::size_t>(i); fold_[row] == fold)
      scores.add(scores_.row(i), label_[row], full_weight_of(i));
  return scores;
}

Index Newton::bytes(Index rows, Index features, Index scores) {
  return 8 * rows * (2 * scores + 2) + 8 * features * scores * 10 +
         CurvatureBlocks::bytes(features, scores);
}

}  // namespace kerf::detail
