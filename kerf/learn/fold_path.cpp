// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/fold_path.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/blas.h"
#include "kerf/core/parallel.h"

namespace kerf {
namespace {

constexpr Index kTypicalLevels = 12;
constexpr double kSingleNoise = 0x1p-21;  // of a factor in single precision, against |P|
constexpr double kSingleRange = 1e30;     // of numbers that it may hold

Matrix<double> transposed(MatrixView<const double> a) {
  Matrix<double> out(a.cols, a.rows);
  for (Index i = 0; i < a.rows; ++i)
    for (Index j = 0; j < a.cols; ++j) out(j, i) = a(i, j);
  return out;
}

/// a b^T.
Matrix<double> inner(MatrixView<const double> a, MatrixView<const double> b) {
  const blas::ThreadScope scope(threads());
  Matrix<double> out(a.rows, b.rows);
  blas::gemm(false, true, 1.0, a, b, 0.0, out.view());
  return out;
}

/// The rows of `more` under those of `to`.
void append_rows(Matrix<double>& to, MatrixView<const double> more) {
  Matrix<double> all(to.rows() + more.rows, more.cols);
  std::copy_n(to.data(), to.rows() * to.cols(), all.data());
  for (Index i = 0; i < more.rows; ++i)
    std::ranges::copy(more.row(i), all.row(to.rows() + i).begin());
  to = std::move(all);
}

/// Takes the space of `basis` (orthonormal rows) out of `block`, twice, and makes it orthonormal.
void orthonormalise_against(const Matrix<double>& basis, Matrix<double>& block) {
  const blas::ThreadScope scope(threads());
  for (int round = 0; round < 2; ++round) {
    if (basis.rows() > 0) {
      const Matrix<double> parts = inner(block.view(), basis.view());
      blas::gemm(false, false, -1.0, parts.view(), basis.view(), 1.0, block.view());
    }
    blas::orthonormalise_rows(block.view());
  }
}

std::vector<double> times(const Matrix<double>& rows, std::span<const double> v) {
  std::vector<double> out;
  for (Index i = 0; i < rows.rows(); ++i) {
    double sum = 0;
    for (Index j = 0; j < rows.cols(); ++j) sum += rows(i, j) * v[static_cast<std::size_t>(j)];
    out.push_back(sum);
  }
  return out;
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
    for (Index j = 0; j < m; ++j) fold.sum.push_back(total_.feature_sum(j) - held.feature_sum(j));
    fold.rhs.resize(targets, m);
    for (Index t = 0; t < targets; ++t) {
      fold.target.push_back(total_.target_sum(t) - held.target_sum(t));
      for (Index j = 0; j < m; ++j)
        fold.rhs(t, j) = total_.cross(j, t) - held.cross(j, t) -
                         fold.sum[static_cast<std::size_t>(j)] * fold.target.back() / fold.weight;
    }
    folds_.push_back(std::move(fold));
  }
}

bool FoldPath::set_pole(double lambda) {
  const Index m = total_.features();
  pole_ = lambda;
  for (Fold& fold : folds_)
    for (Matrix<double>* vectors : {&fold.basis, &fold.gram, &fold.held}) *vectors = {};
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
  std::vector<double> squares(static_cast<std::size_t>(m), 0.0);
  factor_.resize(m, m);
  parallel_for(m, 64, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      for (Index j = i; j < m; ++j) {
        factor_(i, j) = static_cast<float>(wide_factor_(i, j));
        squares[static_cast<std::size_t>(i)] +=
            (i == j ? 1 : 2) * wide_factor_(i, j) * wide_factor_(i, j);
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
  for (Index i = 0; i < rows.rows; ++i) std::ranges::copy(single.row(i), rows.row(i).begin());
}

void FoldPath::extend() {
  const Index m = total_.features(), targets = total_.targets();
  const auto count = static_cast<Index>(folds_.size());
  const bool is_new = dimension() == 0;
  Matrix<double> blocks(count * targets, m);
  for (Index f = 0; f < count; ++f) {
    const Fold& fold = folds_[static_cast<std::size_t>(f)];
    const auto to = blocks.view().slice(f * targets, (f + 1) * targets);
    std::copy_n(is_new ? fold.rhs.data() : fold.chain.data(), targets * m, to.data);
    if (is_new) continue;
    // A_f and the last vectors, which lie in the space.
    const blas::ThreadScope scope(threads());
    const Matrix<double> parts = inner(fold.chain.view(), fold.basis.view());
    blas::gemm(false, false, 1.0, parts.view(), fold.gram.view(), fold.weight * pole_, to);
  }
  solve_rows(blocks.view());
  for (Index f = 0; f < count; ++f) {
    Matrix<double> block(targets, m);
    std::copy_n(blocks.row(f * targets).data(), targets * m, block.data());
    Fold& fold = folds_[static_cast<std::size_t>(f)];
    blas::orthonormalise_rows(block.view());
    fold.chain.resize(targets, m);
    std::copy_n(block.data(), targets * m, fold.chain.data());
    orthonormalise_against(fold.basis, block);
    std::copy_n(block.data(), targets * m, blocks.row(f * targets).data());
  }
  const Matrix<double> products =
      transposed(total_.gram_times(transposed(blocks.view()).view()).view());
  for (Index f = 0; f < count; ++f)
    append(folds_[static_cast<std::size_t>(f)], blocks.view().slice(f * targets, (f + 1) * targets),
           products.view().slice(f * targets, (f + 1) * targets));
}

void FoldPath::append(Fold& fold, MatrixView<const double> block,
                      MatrixView<const double> product) {
  const Matrix<double> held = transposed(fold.sums->gram_times(transposed(block).view()).view());
  Matrix<double> gram(block.rows, block.cols);
  for (Index k = 0; k < block.rows; ++k) {
    double along = 0;
    for (Index j = 0; j < block.cols; ++j)
      along += fold.sum[static_cast<std::size_t>(j)] * block(k, j);
    for (Index j = 0; j < block.cols; ++j)
      gram(k, j) =
          product(k, j) - held(k, j) - fold.sum[static_cast<std::size_t>(j)] * along / fold.weight;
  }
  append_rows(fold.basis, block);
  append_rows(fold.gram, gram.view());
  append_rows(fold.held, held.view());
  project(fold);
}

void FoldPath::project(Fold& fold) const {
  const Index m = total_.features(), targets = total_.targets();
  fold.vectors = inner(fold.basis.view(), fold.gram.view());
  fold.values.resize(static_cast<std::size_t>(fold.basis.rows()));
  blas::symmetric_eigen(fold.vectors.view(), fold.values);
  for (double& value : fold.values) value = std::max(value, 0.0);
  // Everything below in the coordinates of the eigenvectors (rows of `vectors`).
  const auto turn = [&](const Matrix<double>& columns) {
    Matrix<double> out(fold.vectors.rows(), columns.cols());
    blas::gemm(false, false, 1.0, fold.vectors.view(), columns.view(), 0.0, out.view());
    return out;
  };
  fold.projected_rhs = turn(inner(fold.basis.view(), fold.rhs.view()));
  Matrix<double> cross(targets, m);
  for (Index t = 0; t < targets; ++t)
    for (Index j = 0; j < m; ++j) cross(t, j) = fold.sums->cross(j, t);
  fold.projected_cross = turn(inner(fold.basis.view(), cross.view()));
  fold.quadratic = turn(transposed(turn(inner(fold.basis.view(), fold.held.view())).view()));
  std::vector<double> held_sum;
  for (Index j = 0; j < m; ++j) held_sum.push_back(fold.sums->feature_sum(j));
  fold.projected_sum = times(fold.vectors, times(fold.basis, fold.sum));
  fold.projected_held_sum = times(fold.vectors, times(fold.basis, held_sum));
}

Index FoldPath::dimension() const {
  Index largest = 0;
  for (const Fold& fold : folds_) largest = std::max(largest, fold.basis.rows());
  return largest;
}

std::vector<double> FoldPath::errors() const {
  std::vector<double> total(static_cast<std::size_t>(total_.targets()), 0.0);
  double weight = 0;
  for (const Fold& fold : folds_) {
    const NormalEquations& held = *fold.sums;
    const auto size = fold.values.size();
    weight += held.weight();
    for (Index t = 0; t < total_.targets(); ++t) {
      std::vector<double> a(size);
      double along = 0, linear = 0, mean = 0, quadratic = 0;
      for (std::size_t k = 0; k < size; ++k) {
        const auto i = static_cast<Index>(k);
        a[k] = fold.projected_rhs(i, t) / (fold.values[k] + fold.weight * pole_);
        along += a[k] * fold.projected_sum[k];
        linear += a[k] * fold.projected_cross(i, t);
        mean += a[k] * fold.projected_held_sum[k];
      }
      for (std::size_t k = 0; k < size; ++k) {
        double sum = 0;
        for (std::size_t l = 0; l < size; ++l)
          sum += fold.quadratic(static_cast<Index>(k), static_cast<Index>(l)) * a[l];
        quadratic += sum * a[k];
      }
      const double b = (fold.target[static_cast<std::size_t>(t)] - along) / fold.weight;
      const double error = held.target_square(t) - 2 * b * held.target_sum(t) +
                           b * b * held.weight() - 2 * linear + 2 * b * mean + quadratic;
      total[static_cast<std::size_t>(t)] += std::max(error, 0.0);
    }
  }
  for (double& error : total) error /= weight;
  return total;
}

bool FoldPath::pays(Index features, Index targets) {
  return features >= 2048 && features >= 4 * kTypicalLevels * targets;
}

Index FoldPath::bytes(Index features, Index targets, Index folds) {
  // G, P, R; three bases of each fold and copies while one grows.
  return NormalEquations::bytes(features, targets) + 12 * features * features +
         8 * features * targets * (folds * (3 * kTypicalLevels + 2) + 2 * kTypicalLevels) +
         NormalEquations::product_bytes(features, folds * targets);
}

}  // namespace kerf
