// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/ridge/lambda_beside.h"

#include <algorithm>
#include <cmath>

namespace kerf::detail {
namespace {

constexpr int kIterations = 6;  // of conjugate gradients: a condition of at most kBeside

}  // namespace

Matrix<double> solutions_beside(const KernelFactor& factor, const Matrix<double>& x,
                                std::span<const double> differences) {
  const Index n = x.rows(), t = x.cols(), columns = t * std::ssize(differences);
  Matrix<double> z(n, columns), r(n, columns), p(n, columns), q(n, columns);
  z.fill(0);
  for (Index i = 0; i < n; ++i)
    for (Index k = 0; k < columns; ++k) r(i, k) = p(i, k) = x(i, k % t);
  const auto dots = [&](const Matrix<double>& a, const Matrix<double>& b) {
    std::vector<double> sums(columns, 0.0);
    for (Index i = 0; i < n; ++i)
      for (Index k = 0; k < columns; ++k) sums[k] += a(i, k) * b(i, k);
    return sums;
  };
  std::vector<double> squares = dots(r, r);
  for (int round = 0; round < kIterations; ++round) {  // of (I + d B^-1) z = x
    copy_rows(p.view(), q.view());
    factor.solve(q.view());
    for (Index i = 0; i < n; ++i)
      for (Index k = 0; k < columns; ++k) q(i, k) = p(i, k) + differences[k / t] * q(i, k);
    std::vector<double> lengths = dots(p, q);
    for (Index k = 0; k < columns; ++k) lengths[k] = lengths[k] > 0 ? squares[k] / lengths[k] : 0;
    for (Index i = 0; i < n; ++i)
      for (Index k = 0; k < columns; ++k) {
        z(i, k) += lengths[k] * p(i, k);
        r(i, k) -= lengths[k] * q(i, k);
      }
    const std::vector<double> now = dots(r, r);
    for (Index i = 0; i < n; ++i)
      for (Index k = 0; k < columns; ++k)
        p(i, k) = r(i, k) + (squares[k] > 0 ? now[k] / squares[k] : 0) * p(i, k);
    squares = now;
  }
  return z;
}

double leverage_beside(std::span<const double, 4> moments, double ratio) {
  const double mass = moments[0], d = ratio - 1;
  if (!(mass > 0)) return 0;
  const double a = moments[1] / mass, square = moments[2] / mass, cube = moments[3] / mass;
  const auto value = [&](double t) { return t / (1 + d * t); };
  // Gauss: nodes are the eigenvalues of ((a, b), (b, e)).
  const double variance = square - a * a;
  double gauss = value(a);
  if (variance > 1e-6 * a * a) {
    const double e = std::clamp(a + (cube - 3 * a * square + 2 * a * a * a) / variance, 0.0, 1.0);
    const double inverse = 1 / (1 + d * a - d * d * variance / (1 + d * e));
    if (d != 0) gauss = (1 - inverse) / d;
  }
  // Lobatto: nodes 0, z and 1.
  const double inner = a - square;
  double lobatto = value(1) * a;
  if (inner > 1e-6 * a) {
    const double z = std::clamp((square - cube) / inner, 1e-6, 1 - 1e-6);
    const double weight = inner / (z * (1 - z));
    lobatto = (a - weight * z) * value(1) + weight * value(z);
  }
  return mass * (0.6 * gauss + 0.4 * lobatto);
}

}  // namespace kerf::detail
