// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/newton.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/blas.h"
#include "kerf/core/parallel.h"

namespace kerf {
namespace {

constexpr int kMostSteps = 60, kMostInner = 60;
constexpr double kArmijo = 1e-4;        // part of the promised decrease that a step must bring
constexpr double kCurvatureChange = 5;  // of the mean curvature, before the factor is made anew

double inner(const Newton::Point& a, const Newton::Point& b) {
  double sum = 0;
  for (Index k = 0; k < a.weights.rows() * a.weights.cols(); ++k)
    sum += a.weights.data()[k] * b.weights.data()[k];
  for (std::size_t k = 0; k < a.intercept.size(); ++k) sum += a.intercept[k] * b.intercept[k];
  return sum;
}

/// to += factor from.
void add(Newton::Point& to, double factor, const Newton::Point& from) {
  for (Index k = 0; k < to.weights.rows() * to.weights.cols(); ++k)
    to.weights.data()[k] += factor * from.weights.data()[k];
  for (std::size_t k = 0; k < to.intercept.size(); ++k)
    to.intercept[k] += factor * from.intercept[k];
}

Newton::Point copy(const Newton::Point& from) {
  Newton::Point to{Matrix<double>(from.weights.rows(), from.weights.cols()), from.intercept};
  std::copy_n(from.weights.data(), from.weights.rows() * from.weights.cols(), to.weights.data());
  return to;
}

}  // namespace

Newton::Newton(FeatureCache& cache, const SketchedGram& gram, Loss loss, Index scores,
               const Progress& progress)
    : cache_(cache), gram_(gram), loss_(loss), count_(scores), progress_(progress) {
  for (Index i = 0; i < cache.rows(); ++i) {
    const auto row = cache.targets().row(i);
    label_.push_back(std::ranges::max_element(row) - row.begin());
  }
  fold_ = cache.fold_of_rows();
}

Newton::Point Newton::zero() const {
  Point point{Matrix<double>(count_, cache_.features()),
              std::vector<double>(static_cast<std::size_t>(count_), 0.0)};
  point.weights.fill(0);
  return point;
}

/// Of a row in training; 0 for the fold held out.
double Newton::weight_of(Index row) const {
  const auto i = static_cast<std::size_t>(row);
  if (fold_[i] == without_) return 0;
  return cache_.weights().empty() ? 1.0 : cache_.weights()[i];
}

Matrix<double> Newton::scores_of(const Point& point) {
  ++passes_;
  Matrix<double> scores(cache_.rows(), count_);
  const auto keep = [&](const FeatureCache::Piece& piece, MatrixView<double> products) {
    for (Index i = 0; i < products.rows; ++i) {
      // Rows are kept as sqrt(w) (z - c).
      const double w = cache_.weights().empty()
                           ? 1.0
                           : cache_.weights()[static_cast<std::size_t>(piece.first + i)];
      const double factor = w > 0 ? 1 / std::sqrt(w) : 0.0;
      for (Index k = 0; k < count_; ++k)
        scores(piece.first + i, k) =
            products(i, k) * factor + point.intercept[static_cast<std::size_t>(k)];
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

/// F at the scores kept plus length times those of a step (`point` is that place, for |W|^2).
Newton::Value Newton::value(double lambda, const Point& point, const Matrix<double>* step,
                            double length) const {
  constexpr Index kRows = 1024;
  const Index pieces = (cache_.rows() + kRows - 1) / kRows;
  std::vector<Value> sums(static_cast<std::size_t>(pieces), Value{0, 0});
  parallel_for(pieces, 1, [&](Index piece, Index) {
    std::vector<double> scores(static_cast<std::size_t>(count_)), curvatures(scores.size());
    Value& sum = sums[static_cast<std::size_t>(piece)];
    for (Index i = piece * kRows; i < std::min((piece + 1) * kRows, cache_.rows()); ++i) {
      const double w = weight_of(i);
      if (w == 0) continue;
      for (Index k = 0; k < count_; ++k)
        scores[static_cast<std::size_t>(k)] = scores_(i, k) + (step ? length * (*step)(i, k) : 0.0);
      const Index label = label_[static_cast<std::size_t>(i)];
      sum.loss += w * loss_value(loss_, label, scores);
      if (step) continue;
      curvature_diagonal(loss_, label, scores, curvatures);
      for (const double h : curvatures) sum.curvature += w * h / static_cast<double>(count_);
    }
  });
  Value total{0, 0};
  for (const Value& sum : sums) {
    total.loss += sum.loss / n_;
    total.curvature += sum.curvature / n_;
  }
  for (Index k = 0; k < count_ * cache_.features(); ++k)
    total.loss += lambda * point.weights.data()[k] * point.weights.data()[k];
  return total;
}

void Newton::prepare(double lambda, double curvature) {
  if (CurvatureBlocks::worthwhile(cache_)) {
    Matrix<double> curvatures(scores_.rows(), count_);
    for (Index i = 0; i < scores_.rows(); ++i) {
      const auto row = curvatures.row(i);
      curvature_diagonal(loss_, label_[static_cast<std::size_t>(i)], scores_.row(i), row);
      for (double& h : row) h *= weight_of(i);
    }
    blocks_.emplace(cache_, curvatures, n_, lambda);
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
    std::vector<double> v(static_cast<std::size_t>(cache_.features() + 1));
    for (Index k = 0; k < count_; ++k) {
      std::ranges::copy(p.weights.row(k), v.begin());
      v.back() = p.intercept[static_cast<std::size_t>(k)];
      blocks_->solve(k, v);
      std::copy_n(v.begin(), cache_.features(), p.weights.row(k).begin());
      p.intercept[static_cast<std::size_t>(k)] = v.back();
    }
    return;
  }
  blas::triangular_solve_rows(factor_.view(), false, p.weights.view());
  blas::triangular_solve_rows(factor_.view(), true, p.weights.view());
  for (Index k = 0; k < count_ * cache_.features(); ++k) p.weights.data()[k] *= n_ / curvature_;
  for (double& b : p.intercept) b /= curvature_;
}

/// Conjugate gradients for H d = -g until the residual is `tolerance` of the gradient.
Newton::Point Newton::direction(const Point& gradient, double lambda, double tolerance) {
  const auto hessian_times = [&](const Point& v) {
    return summed(&v, lambda, [&](Index row, std::span<double> u) {
      double few[64];
      std::vector<double> many(u.size() > 64 ? u.size() : 0);
      const std::span<double> out(many.empty() ? few : many.data(), u.size());
      loss_curvature(loss_, label_[static_cast<std::size_t>(row)], scores_.row(row), u, out);
      std::ranges::copy(out, u.begin());
    });
  };
  Point d = zero(), residual = zero();
  add(residual, -1, gradient);
  Point z = copy(residual);
  precondition(z);
  Point p = copy(z);
  double rho = inner(residual, z);
  const double goal = tolerance * tolerance * rho;
  for (int step = 0; step < kMostInner && rho > goal; ++step) {
    const Point q = hessian_times(p);
    const double energy = inner(p, q);
    if (!(energy > 0)) break;
    add(d, rho / energy, p);
    add(residual, -rho / energy, q);
    z = copy(residual);
    precondition(z);
    const double next = inner(residual, z), beta = next / rho;
    rho = next;
    for (Index k = 0; k < count_ * cache_.features(); ++k)
      p.weights.data()[k] = z.weights.data()[k] + beta * p.weights.data()[k];
    for (std::size_t k = 0; k < p.intercept.size(); ++k)
      p.intercept[k] = z.intercept[k] + beta * p.intercept[k];
  }
  return d;
}

double Newton::minimise(double lambda, Index without, double tolerance, Point& point,
                        const std::function<void(const Point&)>& after_step) {
  without_ = without;
  n_ = 0;
  for (Index i = 0; i < cache_.rows(); ++i) n_ += weight_of(i);
  scores_ = scores_of(point);
  double left = 1;
  double first_decrement = 0;
  Value now = value(lambda, point, nullptr, 0);
  for (int step = 0; step < kMostSteps; ++step) {
    report(progress_, "solving", passes_, 0);
    prepare(lambda, now.curvature);
    Point gradient = summed(nullptr, lambda, [&](Index row, std::span<double> out) {
      loss_gradient(loss_, label_[static_cast<std::size_t>(row)], scores_.row(row), out);
    });
    for (Index k = 0; k < count_ * cache_.features(); ++k)
      gradient.weights.data()[k] += 2 * lambda * point.weights.data()[k];
    Point scaled = copy(gradient);
    precondition(scaled);
    const double size = inner(gradient, scaled);
    if (step == 0) first_decrement = size;
    left = 0.5 * size / std::max(now.loss, 1e-300);
    if (left <= tolerance) break;
    const Point d =
        direction(gradient, lambda, std::clamp(std::sqrt(size / first_decrement), 0.02, 0.3));
    const double slope = inner(gradient, d);
    const Matrix<double> step_scores = scores_of(d);
    double length = 1;
    Point next;
    Value then{};
    for (int halving = 0; halving < 30; ++halving, length /= 2) {
      next = copy(point);
      add(next, length, d);
      then = value(lambda, next, &step_scores, length);
      if (then.loss <= now.loss + kArmijo * length * slope) break;
    }
    if (!(then.loss < now.loss)) break;  // rounding: no step goes down any more
    point = std::move(next);
    for (Index k = 0; k < scores_.rows() * scores_.cols(); ++k)
      scores_.data()[k] += length * step_scores.data()[k];
    now = value(lambda, point, nullptr, 0);
    if (after_step) after_step(point);
  }
  return left;
}

double Newton::held_out_loss(Loss loss, Index fold, double factor) const {
  double sum = 0, weight = 0;
  std::vector<double> scores(static_cast<std::size_t>(count_));
  for (Index i = 0; i < cache_.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (fold_[row] != fold) continue;
    const double w = cache_.weights().empty() ? 1.0 : cache_.weights()[row];
    for (Index k = 0; k < count_; ++k) scores[static_cast<std::size_t>(k)] = factor * scores_(i, k);
    sum += w * loss_value(loss, label_[row], scores);
    weight += w;
  }
  return weight > 0 ? sum / weight : 0;
}

Index Newton::bytes(Index rows, Index features, Index scores) {
  return 8 * rows * (2 * scores + 2) + 8 * features * scores * 10;
}

}  // namespace kerf
