// SPDX-License-Identifier: Apache-2.0
#include "kerf/linalg/block_cg.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

/// a b^T for matrices of few rows.
Matrix<double> inner(const Matrix<double>& a, const Matrix<double>& b) {
  Matrix<double> out(a.rows(), b.rows());
  blas::gemm(false, true, 1.0, a.view(), b.view(), 0.0, out.view());
  return out;
}

double norm(std::span<const double> x) {
  double sum = 0;
  for (const double value : x) sum += value * value;
  return std::sqrt(sum);
}

}  // namespace

BlockCg::BlockCg(MatrixView<const double> factor, double shift, MatrixView<const double> rhs)
    : factor_(factor), shift_(shift), rhs_(copy_of<double>(rhs)), x_(rhs.rows, rhs.cols) {
  KERF_REQUIRE(rhs.rows >= 1 && rhs.rows <= rhs.cols, usage,
               "{} right-hand sides for {} unknowns: iterative solvers need at least as many "
               "features as outputs",
               rhs.rows, rhs.cols);
  x_.fill(0);
  Matrix<double> residual = copy_of<double>(rhs);
  blas::triangular_solve_rows(factor_, false, residual.view());
  for (Index t = 0; t < rhs.rows; ++t) rhs_norm_.push_back(norm(residual.row(t)));
  start(std::move(residual));
}

void BlockCg::restart(Matrix<double> x, MatrixView<const double> gram_times_x) {
  x_ = std::move(x);
  Matrix<double> residual = rhs_.copy();
  for (Index t = 0; t < x_.rows(); ++t)
    for (Index j = 0; j < x_.cols(); ++j) residual(t, j) -= gram_times_x(t, j) + shift_ * x_(t, j);
  blas::triangular_solve_rows(factor_, false, residual.view());
  start(std::move(residual));
}

/// From the preconditioned residual.
void BlockCg::start(Matrix<double> residual) {
  q_ = residual.copy();
  blas::orthonormalise_rows(q_.view());
  c_ = inner(q_, residual);
  s_ = q_.copy();
  broken_ = false;
  aim();
}

void BlockCg::aim() {
  direction_ = s_.copy();
  blas::triangular_solve_rows(factor_, true, direction_.view());
}

double BlockCg::residual() const {
  double largest = 0;
  for (Index t = 0; t < c_.cols(); ++t) {
    double sum = 0;
    for (Index k = 0; k < c_.rows(); ++k) sum += c_(k, t) * c_(k, t);
    const double size = rhs_norm_[t];
    if (size > 0) largest = std::max(largest, std::sqrt(sum) / size);
  }
  return largest;
}

void BlockCg::advance(MatrixView<const double> gram_times_direction) {
  if (broken_) return;
  const Index count = x_.rows(), m = x_.cols();
  Matrix<double> product = copy_of<double>(gram_times_direction);
  for (Index t = 0; t < count; ++t)
    for (Index j = 0; j < m; ++j) product(t, j) += shift_ * direction_(t, j);
  Matrix<double> energy = inner(direction_, product);
  if (blas::cholesky(energy.view()) != 0) {
    broken_ = true;
    return;
  }
  blas::triangular_solve_rows(factor_, false, product.view());
  // x += C^T energy^-1 D,   W = Q - energy^-1 A S,   both with rows as vectors.
  Matrix<double> step = c_.copy();
  blas::cholesky_solve(energy.view(), step.view());
  blas::gemm(true, false, 1.0, step.view(), direction_.view(), 1.0, x_.view());
  blas::cholesky_solve(energy.view(), product.view());
  Matrix<double> w(count, m);
  for (Index k = 0; k < count * m; ++k) w.data()[k] = q_.data()[k] - product.data()[k];
  q_ = w.copy();
  blas::orthonormalise_rows(q_.view());
  const Matrix<double> turn = inner(q_, w);
  Matrix<double> next_s = q_.copy(), next_c(count, count);
  blas::gemm(false, false, 1.0, turn.view(), s_.view(), 1.0, next_s.view());
  blas::gemm(false, false, 1.0, turn.view(), c_.view(), 0.0, next_c.view());
  s_ = std::move(next_s);
  c_ = std::move(next_c);
  aim();
}

}  // namespace kerf::detail
