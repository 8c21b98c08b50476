// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/lambda/fold_path.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kerf/core/system/parallel.h"
#include "kerf/linalg/blas.h"
#include "kerf/linalg/transpose.h"

namespace kerf::detail {
namespace {

constexpr Index kFewLevels = 12;          // that a space must have room for
constexpr Index kMostLevels = 48;         // that it may have
constexpr double kRounding = 1e-13;       // of an objective, against the targets' squares
constexpr double kSingleNoise = 0x1p-21;  // of a factor in single precision, against |P|
constexpr double kSingleRange = 1e30;     // of numbers that it may hold

/// a b^T.
Matrix<double> inner(MatrixView<const double> a, MatrixView<const double> b) {
  Matrix<double> out(a.rows, b.rows);
  blas::product(false, true, 1.0, a, b, 0.0, out.view());
  return out;
}

/// The rows of `more` under those of `to`.
void append_rows(Matrix<double>& to, MatrixView<const double> more) {
  Matrix<double> all(to.rows() + more.rows, more.cols);
  copy_rows(to.view(), all.view());
  copy_rows(more, all.view().slice(to.rows(), all.rows()));
  to = std::move(all);
}

/// Takes the space of `basis` (orthonormal rows) out of `block`, twice, and makes it orthonormal.
void orthonormalise_against(const Matrix<double>& basis, MatrixView<double> block) {
  for (int round = 0; round < 2; ++round) {
    if (basis.rows() > 0) {
      const Matrix<double> parts = inner(block, basis.view());
      blas::product(false, false, -1.0, parts.view(), basis.view(), 1.0, block);
    }
    blas::orthonormalise_rows(block);
  }
}

/// The symmetric matrix with the last columns `more` around it.
void border(Matrix<double>& square, const Matrix<double>& more) {
  const Index before = square.rows(), size = more.rows();
  Matrix<double> all(size, size);
  for (Index i = 0; i < before; ++i) std::ranges::copy(square.row(i), all.row(i).begin());
  for (Index i = 0; i < size; ++i)
    for (Index k = before; k < size; ++k) all(k, i) = all(i, k) = more(i, k - before);
  square = std::move(all);
}

double dot(MatrixView<const double> a, Index column, MatrixView<const double> b, Index other) {
  double sum = 0;
  for (Index i = 0; i < a.rows; ++i) sum += a(i, column) * b(i, other);
  return sum;
}

/// Largest dimension of a space.
Index most_vectors(Index features, Index targets) {
  return std::min(kMostLevels * targets, features / 8);
}

}  // namespace

FoldPath::FoldPath(std::span<const NormalEquations> folds)
    : total_(folds.front().origin(), Precision::single_) {
  for (const auto& fold : folds) total_.merge(fold);
  weight_ = total_.weight();
  const Index m = total_.features(), targets = total_.targets();
  for (const auto& held : folds) {
    if (held.rows() == 0 || !(total_.weight() - held.weight() > 0)) continue;
    Fold fold{};
    fold.sums = &held;
    fold.weight = total_.weight() - held.weight();
    for (Index j = 0; j < m; ++j) {
      fold.held_sum.push_back(held.feature_sum(j));
      fold.sum.push_back(total_.feature_sum(j) - fold.held_sum.back());
    }
    fold.rhs.resize(targets, m);
    fold.cross.resize(targets, m);
    for (Index t = 0; t < targets; ++t) {
      fold.target.push_back(total_.target_sum(t) - held.target_sum(t));
      fold.square.push_back(total_.target_square(t) - held.target_square(t) -
                            fold.target.back() * fold.target.back() / fold.weight);
      for (Index j = 0; j < m; ++j) {
        fold.cross(t, j) = held.cross(j, t);
        fold.rhs(t, j) =
            total_.cross(j, t) - held.cross(j, t) - fold.sum[j] * fold.target.back() / fold.weight;
      }
    }
    folds_.push_back(std::move(fold));
  }
}

void FoldPath::clear() {
  factor_ = {};
  wide_factor_ = {};
  for (Fold& fold : folds_)
    for (Matrix<double>* of_space : {&fold.basis, &fold.newest, &fold.inside, &fold.held,
                                     &fold.inner_rhs, &fold.inner_cross, &fold.inner_sum})
      *of_space = {};
}

bool FoldPath::set_pole(double lambda) {
  const Index m = total_.features();
  clear();
  pole_ = lambda;
  wide_factor_.resize(m, m);
  parallel_for(m, 64, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const double scale = -total_.feature_sum(i) / weight_;
      for (Index j = i; j < m; ++j) wide_factor_(i, j) = scale * total_.feature_sum(j);
      wide_factor_(i, i) += weight_ * lambda;
    }
  });
  total_.add_gram_to(wide_factor_.view());
  if (factor_in_single(weight_ * lambda)) return true;
  factor_ = {};
  return blas::cholesky(wide_factor_.view()) == 0;
}

bool FoldPath::factor_in_single(double ridge) {
  const Index m = total_.features();
  double largest = 0;  // of the diagonal, hence of all
  for (Index i = 0; i < m; ++i) largest = std::max(largest, wide_factor_(i, i));
  if (!(largest < kSingleRange && ridge > 1 / kSingleRange)) return false;
  std::vector<double> squares(m, 0.0);
  factor_.resize(m, m);
  parallel_for(m, 64, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      for (Index j = i; j < m; ++j) {
        factor_(i, j) = static_cast<float>(wide_factor_(i, j));
        squares[i] += (i == j ? 1 : 2) * wide_factor_(i, j) * wide_factor_(i, j);
      }
  });
  double norm = 0;
  for (const double square : squares) norm += square;
  return ridge > kSingleNoise * std::sqrt(norm) && blas::cholesky(factor_.view()) == 0;
}

/// v P^-1 for each row v, up to a factor.
void FoldPath::solve_rows(MatrixView<double> rows) const {
  if (factor_.rows() == 0) {
    blas::triangular_solve_rows(wide_factor_.view(), false, rows);
    return blas::triangular_solve_rows(wide_factor_.view(), true, rows);
  }
  Matrix<float> single(rows.rows, rows.cols);
  for (Index i = 0; i < rows.rows; ++i) {
    double largest = 0;
    for (const double v : rows.row(i)) largest = std::max(largest, std::abs(v));
    for (Index j = 0; j < rows.cols; ++j)
      single(i, j) = largest > 0 ? static_cast<float>(rows(i, j) / largest) : 0.0f;
  }
  blas::triangular_solve_rows(factor_.view(), false, single.view());
  blas::triangular_solve_rows(factor_.view(), true, single.view());
  copy_rows(single.view(), rows);
}

void FoldPath::extend() {
  const Index m = total_.features(), targets = total_.targets();
  const auto count = static_cast<Index>(folds_.size());
  Matrix<double> blocks(count * targets, m);
  for (Index f = 0; f < count; ++f) {
    const Fold& fold = folds_[f];
    const Index size = fold.basis.rows();
    for (Index k = 0; k < targets; ++k)
      for (Index j = 0; j < m; ++j)
        blocks(f * targets + k, j) =
            size == 0 ? fold.rhs(k, j)
                      : fold.newest(k, j) + fold.weight * pole_ * fold.basis(size - targets + k, j);
  }
  solve_rows(blocks.view());
  for (Index f = 0; f < count; ++f) {
    const auto block = blocks.view().slice(f * targets, (f + 1) * targets);
    blas::orthonormalise_rows(block);
    orthonormalise_against(folds_[f].basis, block);
  }
  const Matrix<double> products =
      transposed(total_.gram_times(transposed(blocks.view()).view()).view());
  for (Index f = 0; f < count; ++f)
    append(folds_[f], blocks.view().slice(f * targets, (f + 1) * targets),
           products.view().slice(f * targets, (f + 1) * targets));
}

void FoldPath::append(Fold& fold, MatrixView<const double> block,
                      MatrixView<const double> product) {
  const Matrix<double> held = transposed(fold.sums->gram_times(transposed(block).view()).view());
  Matrix<double> sums(2, block.cols);
  std::ranges::copy(fold.sum, sums.row(0).begin());
  std::ranges::copy(fold.held_sum, sums.row(1).begin());
  const Matrix<double> along = inner(block, sums.view());
  fold.newest.resize(block.rows, block.cols);
  for (Index k = 0; k < block.rows; ++k)
    for (Index j = 0; j < block.cols; ++j)
      fold.newest(k, j) = product(k, j) - held(k, j) - sums(0, j) * along(k, 0) / fold.weight;
  append_rows(fold.basis, block);
  border(fold.inside, inner(fold.basis.view(), fold.newest.view()));
  border(fold.held, inner(fold.basis.view(), held.view()));
  append_rows(fold.inner_rhs, inner(block, fold.rhs.view()).view());
  append_rows(fold.inner_cross, inner(block, fold.cross.view()).view());
  append_rows(fold.inner_sum, along.view());
}

bool FoldPath::is_full() const {
  const Index most = most_vectors(total_.features(), total_.targets());
  return std::ranges::any_of(
      folds_, [&](const Fold& fold) { return fold.basis.rows() + total_.targets() > most; });
}

FoldPath::Level FoldPath::level() const {
  Level sums;
  sums.errors.assign(total_.targets(), 0.0);
  sums.objectives = sums.errors;
  double held = 0, training = 0;
  for (const Fold& fold : folds_) {
    add_errors(fold, sums);
    held += fold.sums->weight();
    training += fold.weight;
  }
  for (double& error : sums.errors) error /= held;
  for (double& objective : sums.objectives) objective /= training;
  return sums;
}

void FoldPath::add_errors(const Fold& fold, Level& sums) const {
  Matrix<double> factor, a;
  append_rows(factor, fold.inside.view());
  append_rows(a, fold.inner_rhs.view());
  for (Index k = 0; k < factor.rows(); ++k) factor(k, k) += fold.weight * pole_;
  if (blas::cholesky(factor.view()) != 0)
    return sums.errors.assign(sums.errors.size(), std::numeric_limits<double>::infinity());
  blas::cholesky_solve(factor.view(), a.view());
  Matrix<double> product(a.rows(), a.cols());  // G_f W
  blas::product(false, false, 1.0, fold.held.view(), a.view(), 0.0, product.view());
  const NormalEquations& held = *fold.sums;
  for (Index t = 0; t < total_.targets(); ++t) {
    const double linear = dot(a.view(), t, fold.inner_cross.view(), t);
    const double quadratic = dot(a.view(), t, product.view(), t);
    const double mean = dot(a.view(), t, fold.inner_sum.view(), 1);
    const double along = dot(a.view(), t, fold.inner_sum.view(), 0);
    const double b = (fold.target[t] - along) / fold.weight;
    const double error = held.target_square(t) - 2 * b * held.target_sum(t) +
                         b * b * held.weight() - 2 * linear + 2 * b * mean + quadratic;
    const auto k = static_cast<std::size_t>(t);
    sums.errors[k] += std::max(error, 0.0);
    sums.objectives[k] += std::max(fold.square[k] - dot(a.view(), t, fold.inner_rhs.view(), t),
                                   kRounding * fold.square[k]);
  }
}

bool FoldPath::pays(Index features, Index targets) {
  return features >= 2048 && most_vectors(features, targets) >= kFewLevels * targets;
}

Index FoldPath::bytes(Index features, Index targets, Index folds) {
  // G, P, R; a basis of each fold, and a copy while one grows.
  return NormalEquations::bytes(features, targets) + 12 * features * features +
         8 * features * ((folds + 1) * most_vectors(features, targets) + 3 * folds * targets) +
         NormalEquations::product_bytes(features, folds * targets);
}

}  // namespace kerf::detail
