// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/ridge/kernel_walk.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "kerf/core/random/random.h"
#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/learn/ridge/exact_at_lambda.h"
#include "kerf/learn/ridge/lambda_beside.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kWorth = 2e-3;  // of the error, for another factor
constexpr Index kLongest = 4;    // lambdas passed over in a step
constexpr double kLoose = 0.05;  // of a solution: so much may the first correction be
constexpr double kDone = 1e-9;   // what refinement may leave
constexpr int kMostPasses = 10;  // over rows of K
constexpr Index kFewestSampled = 384, kMostSampled = 1024;
constexpr Index kSampledPart = 8;

/// `count` of the rows that count, ascending.
std::vector<Index> some_rows(const WeightedRows& rows, Index count, std::string_view label) {
  const rng::Key key = rng::Key{1}.child(label);
  std::vector<std::pair<double, Index>> order;
  for (Index i = 0; i < rows.count(); ++i)
    if (rows.root[i] > 0) order.emplace_back(rng::uniform(key, static_cast<std::uint64_t>(i)), i);
  std::ranges::sort(order);
  std::vector<Index> some;
  for (Index k = 0; k < std::min(count, std::ssize(order)); ++k) some.push_back(order[k].second);
  std::ranges::sort(some);
  return some;
}

/// The largest |a_t| / |b_t| of columns.
double relative_size(const Matrix<double>& a, const Matrix<double>& b) {
  double worst = 0;
  for (Index t = 0; t < a.cols(); ++t) {
    double top = 0, bottom = 0;
    for (Index i = 0; i < a.rows(); ++i) top += a(i, t) * a(i, t), bottom += b(i, t) * b(i, t);
    if (!std::isfinite(top) || !std::isfinite(bottom)) return kInfinite;
    if (top > 0) worst = std::max(worst, bottom > 0 ? std::sqrt(top / bottom) : kInfinite);
  }
  return worst;
}

void add(const Matrix<double>& a, Matrix<double>& to) {
  for (Index k = 0; k < a.rows() * a.cols(); ++k) to.data()[k] += a.data()[k];
}

class Walk {
 public:
  Walk(KernelMatrices matrices, const WeightedRows& rows, MatrixView<const double> targets,
       const ExactRidgeOptions& options, const Progress& progress)
      : matrices_(std::move(matrices)),
        factor_(std::move(matrices_.first)),
        rows_(rows),
        targets_(targets),
        progress_(progress),
        chosen_(some_rows(rows, kLeftOutRows, "left out")),
        lambdas_(options.lambdas) {
    if (lambdas_.empty())
      for (int step = options.first_step; step <= kLastLambdaStep; ++step)
        lambdas_.push_back(factor_->scale() / rows.weight * std::pow(10.0, step / 2.0));
    std::ranges::sort(lambdas_);
    lambdas_.erase(std::ranges::unique(lambdas_).begin(), lambdas_.end());
    exact_.resize(lambdas_.size());
    beside_.resize(lambdas_.size());
  }

  DualSolution run();

 private:
  double c_of(Index at) const { return rows_.weight * lambdas_[at]; }
  Index count() const { return std::ssize(lambdas_); }
  [[noreturn]] void nothing_found() const;

  Index start() const;
  bool beyond_single(Index at) const;
  bool evaluate(Index at);
  bool settle(double c);
  bool refine(double c);
  void residual(double c, Matrix<double>& out) const;
  void true_residual(double c, Matrix<double>& out) const;
  double error_of(const Matrix<double>& x, std::span<const double> leverages) const;
  void look_beside(Index at, const Matrix<double>& moments);
  std::optional<double> known(Index at) const;
  Index next_of(Index at) const;
  void give_up(Index& at);
  DualSolution result(Index at);

  KernelMatrices matrices_;
  std::unique_ptr<KernelFactor> factor_;
  const WeightedRows& rows_;
  MatrixView<const double> targets_;
  const Progress& progress_;
  std::vector<Index> chosen_;
  std::vector<double> lambdas_;
  std::vector<std::optional<double>> exact_, beside_;  // errors by lambda
  Matrix<double> x_;
  std::vector<double> leverages_;  // G of the chosen rows
  Index factors_ = 0;
  bool bounded_ = false;  // by single precision
};

void Walk::nothing_found() const {
  KERF_REQUIRE(count() > 1, numeric,
               "the kernel matrix is singular at this lambda: raise it, or leave it to be chosen");
  fail(ErrorKind::numeric, "no lambda between {:.2g} and {:.2g} gives a finite leave-one-out error",
       lambdas_.front(), lambdas_.back());
}

/// The best lambda of a sample, with c kept.
Index Walk::start() const {
  if (count() == 1) return 0;
  const Index most = std::clamp(rows_.count() / kSampledPart, kFewestSampled, kMostSampled);
  const auto sample = some_rows(rows_, most, "sample");
  if (sample.size() < 2) nothing_found();
  Matrix<double> gram = factor_->part(sample);
  Matrix<double> y(std::ssize(sample), targets_.cols);
  std::vector<double> weights;
  double weight = 0;
  for (Index k = 0; k < y.rows(); ++k) {
    const double root = rows_.root[sample[k]];
    for (Index t = 0; t < y.cols(); ++t) y(k, t) = targets_(sample[k], t);
    weights.push_back(root * root);
    weight += root * root;
  }
  ExactRidgeOptions options;
  options.intercept = !rows_.u.empty();
  options.eigen_rows = std::numeric_limits<Index>::max();
  for (const double lambda : lambdas_) options.lambdas.push_back(lambda * rows_.weight / weight);
  const auto choice =
      solve_exact_ridge(gram.view(), y.view(),
                        rows_.weighted ? WeightsView(weights) : WeightsView(), options, {})
          .choice;
  for (Index k = 0; k < count(); ++k)
    if (choice.path[k].lambda == choice.lambda) return k;
  return count() - 1;
}

/// No factor in single precision is to be expected: rounding alone moves eigenvalues so far.
bool Walk::beyond_single(Index at) const {
  const double moved = 0x1p-24 * std::sqrt(static_cast<double>(rows_.count())) * factor_->scale();
  return factor_->is_single() && c_of(at) < 4 * moved;
}

/// out := S (y - mean) - B x, of the matrix as stored.
void Walk::residual(double c, Matrix<double>& out) const {
  out.resize(x_.rows(), x_.cols());
  factor_->multiply(x_.view(), out.view());
  for (Index k = 0; k < x_.rows() * x_.cols(); ++k)
    out.data()[k] = rows_.y.data()[k] - out.data()[k] - c * x_.data()[k];
}

/// The same of the kernel itself; x and the residual have nothing along u.
void Walk::true_residual(double c, Matrix<double>& out) const {
  const Index n = x_.rows(), columns = x_.cols();
  Matrix<double> right = x_.copy(), block;
  for (Index i = 0; i < n; ++i)
    for (double& value : right.row(i)) value *= rows_.root[i];
  out.resize(n, columns);
  for (Index begin = 0; begin < n; begin += kKernelBlock) {
    report(progress_, "refining", begin, n);
    const Index end = std::min(begin + kKernelBlock, n);
    block.resize(end - begin, n);
    matrices_.kernel(begin, end, block.view());
    blas::product(false, false, 1.0, block.view(), right.view(), 0.0, out.view().slice(begin, end));
  }
  for (Index i = 0; i < n; ++i)
    for (Index t = 0; t < columns; ++t)
      out(i, t) = rows_.y(i, t) - rows_.root[i] * out(i, t) - c * x_(i, t);
  if (rows_.u.empty()) return;
  for (Index t = 0; t < columns; ++t) {
    double along = 0;
    for (Index i = 0; i < n; ++i) along += rows_.u[i] * out(i, t);
    for (Index i = 0; i < n; ++i) out(i, t) -= along * rows_.u[i];
  }
}

/// One or two corrections with the matrix as stored; false if the factor is too far from it.
bool Walk::settle(double c) {
  Matrix<double> step;
  for (int round = 0; round < 2; ++round) {
    residual(c, step);
    factor_->solve(step.view());
    const double size = relative_size(step, x_);
    if (!(size < kLoose)) return false;
    add(step, x_);
    if (size < 1e-3) break;
  }
  return true;
}

/// Until what is left is kDone; false if it does not come to that.
bool Walk::refine(double c) {
  if (!factor_->is_single()) return true;
  Matrix<double> step;
  double last = 1;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    true_residual(c, step);
    factor_->solve(step.view());
    const double size = relative_size(step, x_);
    if (!(size < 0.25 * last)) return size <= kDone;
    add(step, x_);
    if (size * size / last <= kDone) return true;
    last = size;
  }
  return false;
}

double Walk::error_of(const Matrix<double>& x, std::span<const double> leverages) const {
  double left_out = 0, part = 0, all = 0;
  for (std::size_t k = 0; k < chosen_.size(); ++k)
    for (const double value : x.row(chosen_[k])) {
      part += value * value;
      left_out += value / leverages[k] * (value / leverages[k]);
    }
  for (Index i = 0; i < x.rows(); ++i)
    for (const double value : x.row(i)) all += value * value;
  const double scale = part > 0 ? all / part : 1;
  const double error = scale * left_out / (rows_.weight * static_cast<double>(x.cols()));
  return std::isfinite(error) ? error : kInfinite;
}

/// Errors of the lambdas beside that of the factor, where they are near and not known.
void Walk::look_beside(Index at, const Matrix<double>& moments) {
  const double c = c_of(at);
  std::vector<Index> places;
  std::vector<double> differences;
  for (const Index place : {at - 1, at + 1})
    if (place >= 0 && place < count() && !known(place) &&
        lambdas_[std::max(at, place)] <= kBeside * lambdas_[std::min(at, place)]) {
      places.push_back(place);
      differences.push_back(c_of(place) - c);
    }
  if (places.empty()) return;
  const Matrix<double> z = solutions_beside(*factor_, x_, differences);
  const Index columns = x_.cols();
  for (std::size_t k = 0; k < places.size(); ++k) {
    const Matrix<double> own = copy_of<double>(
        z.view().columns(static_cast<Index>(k) * columns, (static_cast<Index>(k) + 1) * columns));
    std::vector<double> leverages;
    for (Index r = 0; r < moments.rows(); ++r)
      leverages.push_back(leverage_beside(std::span<const double, 4>(moments.row(r)),
                                          lambdas_[places[k]] / lambdas_[at]) /
                          c);
    beside_[places[k]] = error_of(own, leverages);
  }
}

/// The factor, the solution and the errors there; false if this precision does not allow it.
bool Walk::evaluate(Index at) {
  const double c = c_of(at);
  ++factors_;
  if (!factor_->factor(c, progress_)) return false;
  x_ = rows_.y.copy();
  factor_->solve(x_.view());
  if (factor_->is_single() && !settle(c)) return false;
  const bool looks = (at > 0 && !known(at - 1)) || (at + 1 < count() && !known(at + 1));
  const Index powers = looks ? 3 : 1;
  const Matrix<double> inverse = factor_->inverse_diagonals(chosen_, powers);
  Matrix<double> moments(inverse.rows(), 4);
  moments.fill(0);
  leverages_.clear();
  for (Index k = 0; k < inverse.rows(); ++k) {
    const double u = rows_.u.empty() ? 0 : rows_.u[chosen_[k]], own = u * u;
    moments(k, 0) = 1 - own;
    double along = own, scale = 1;  // without the part along u, which is no part of A
    for (Index j = 0; j < powers; ++j) {
      along /= c + factor_->shift();
      scale *= c;
      moments(k, j + 1) = scale * (inverse(k, j) - along);
    }
    leverages_.push_back(inverse(k, 0) - own / (c + factor_->shift()));
  }
  exact_[at] = error_of(x_, leverages_);
  if (looks && std::isfinite(*exact_[at])) look_beside(at, moments);
  return std::isfinite(*exact_[at]);
}

std::optional<double> Walk::known(Index at) const { return exact_[at] ? exact_[at] : beside_[at]; }

/// Where to go from a lambda that was tried; the same if nowhere.
Index Walk::next_of(Index at) const {
  const double here = *exact_[at];
  const auto error = [&](Index place) {
    return place < 0 || place >= count() ? std::optional<double>(kInfinite) : known(place);
  };
  const auto below = error(at - 1), above = error(at + 1);
  if (!above) return at + 1;
  if (!below) return at - 1;
  const auto is_better = [&](double other) { return other < here * (1 - kWorth); };
  if (!is_better(std::min(*below, *above))) {
    for (Index other = 0; other < count(); ++other)  // passed over on the way
      if (exact_[other] && is_better(*exact_[other])) return other;
    return at;
  }
  const Index direction = *below < *above ? -1 : 1;
  const double bend = *below - 2 * here + *above;
  const double least = std::isfinite(bend) && bend > 0 ? 0.5 * std::abs(*below - *above) / bend
                       : std::isfinite(bend)           ? 2.0
                                                       : 1.0;
  const Index steps = std::clamp<Index>(std::llround(std::min(least, 100.0)), 1, kLongest);
  const Index far = std::clamp<Index>(at + direction * steps, 0, count() - 1);
  return exact_[far] ? at + direction : far;
}

/// This lambda cannot be had: in double, or else a larger one.
void Walk::give_up(Index& at) {
  if (factor_->is_single()) {
    if (matrices_.in_double) {
      factor_.reset();
      factor_ = matrices_.in_double();
      return;
    }
    bounded_ = true;
  }
  for (Index k = 0; k <= at; ++k) exact_[k] = kInfinite;
  if (++at == count()) nothing_found();
}

DualSolution Walk::result(Index at) {
  DualSolution out;
  out.choice.lambda = lambdas_[at];
  out.choice.cv_error = error_of(x_, leverages_);
  exact_[at] = out.choice.cv_error;
  for (Index k = 0; k < count(); ++k)
    if (known(k) && std::isfinite(*known(k))) out.choice.path.push_back({lambdas_[k], *known(k)});
  out.left_out.resize(std::ssize(chosen_), targets_.cols);
  for (std::size_t k = 0; k < chosen_.size(); ++k)
    for (Index t = 0; t < targets_.cols; ++t) {
      const Index i = chosen_[k];
      out.left_out(static_cast<Index>(k), t) =
          targets_(i, t) - x_(i, t) / leverages_[k] / rows_.root[i];
    }
  out.model.intercept = rows_.means;
  for (Index t = 0; t < targets_.cols; ++t)
    out.model.intercept[t] += factor_->intercept_of(x_.view(), t);
  for (Index i = 0; i < x_.rows(); ++i)
    for (double& value : x_.row(i)) value *= rows_.root[i];
  out.model.weights = std::move(x_);
  if (std::ssize(chosen_) < targets_.rows) out.left_out_rows = std::move(chosen_);
  out.factors = factors_;
  out.precision = factor_->is_single() ? Precision::single_ : Precision::double_;
  out.bounded = bounded_;
  return out;
}

DualSolution Walk::run() {
  Index at = start();
  if (beyond_single(at) && matrices_.in_double) give_up(at);
  while (true) {
    if (!evaluate(at)) {
      give_up(at);
      continue;
    }
    if (const Index next = next_of(at); next != at) {
      at = next;
      continue;
    }
    if (refine(c_of(at))) return result(at);
    give_up(at);
  }
}

}  // namespace

DualSolution solve_by_factors(KernelMatrices matrices, const WeightedRows& rows,
                              MatrixView<const double> targets, const ExactRidgeOptions& options,
                              const Progress& progress) {
  return Walk(std::move(matrices), rows, targets, options, progress).run();
}

Index kernel_walk_bytes(Index rows, Index targets, Index cell) {
  // The matrix; rows left out or rows of K in double; solutions, those beside and their steps.
  return cell * rows * rows +
         8 * rows * (std::max(kKernelBlock, kLeftOutRows) + 16 * targets + 16) +
         40 * kMostSampled * kMostSampled;
}

}  // namespace kerf::detail
